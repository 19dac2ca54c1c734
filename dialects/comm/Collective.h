// What a collective moves, whatever its form: plain op or comm.start.
#pragma once

#include "dialects/comm/CommOps.h"
#include "lib/sharding/Sharding.h"
#include <optional>

namespace tessera::links {
enum class Pattern;
}

namespace tessera::comm {

// Figures of one execution on one device. `bytes` is what it receives or reduces: the size of the
// results, for a reduce-scatter of the operands. `wireBytes` is what it sends in a ring of g ranks:
//   all-reduce                               2 (g-1)/g x bytes
//   all-gather, all-to-all, reduce-scatter   (g-1)/g of the full size
//   permute, shift, broadcast                bytes
struct CollectiveFacts {
  CollectiveKind kind;
  AxesAttr axes;
  int64_t groupSize;
  int64_t bytes;
  int64_t wireBytes;
};

// Nothing for ops that move no data (slice, axis_index, wait) and for other dialects.
std::optional<CollectiveFacts> collectiveFacts(mlir::Operation *op);

// The same kinds as other enumerations have them.
ReductionKind toReductionKind(sharding::ReductionKind kind);
links::Pattern pricedAs(CollectiveKind kind); // a shift is priced as a permute

// Bytes of a dense static tensor as it lies in memory: i1 takes a byte.
int64_t tensorBytes(mlir::Type type);

} // namespace tessera::comm
