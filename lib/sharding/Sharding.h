// How one tensor lies on a mesh: by axes (what annotations say) and by tiles (what devices hold).
#pragma once

#include "lib/mesh/Mesh.h"
#include <optional>

namespace tessera::sharding {

enum class ReductionKind { Sum, Product, Max, Min, And, Or };

struct DimSharding {
  AxisRefs axes; // major to minor
  bool closed = true;
  std::optional<int64_t> priority;
};

// One tensor's annotation: what `#sdy.sharding` says, with axes as numbers.
struct TensorSharding {
  llvm::SmallVector<DimSharding, 4> dims;
  AxisRefs replicated; // never to be used by a dimension
  AxisRefs unreduced;  // the value is the sum over these axes of what the devices hold

  static TensorSharding replicatedOver(size_t rank) {
    return {llvm::SmallVector<DimSharding, 4>(rank), {}, {}};
  }
};

// A dimension as devices hold it: device i along `axes` holds rows [i * tile, min(n, (i + 1) * tile)).
// Canonical: tile = ceil(n / shardCount(axes)).
//   n = 10, 4 shards, tile 3:  [0 1 2] [3 4 5] [6 7 8] [9 . .]
//   n = 4,  3 shards, tile 2:  [0 1]   [2 3]   [. .]
struct DimLayout {
  AxisRefs axes;
  int64_t tile;
  bool operator==(const DimLayout &) const = default;
};

struct LocalLayout {
  llvm::SmallVector<DimLayout, 4> dims;
  AxisRefs partial; // to be reduced over these axes
  ReductionKind reduction = ReductionKind::Sum;
  bool operator==(const LocalLayout &) const = default;
};

// The canonical layout of a tensor of `shape` under `sharding`.
LocalLayout canonicalLayout(llvm::ArrayRef<int64_t> shape, const TensorSharding &sharding);

// The shape each device holds: the tiles.
llvm::SmallVector<int64_t> localShape(const LocalLayout &layout);

} // namespace tessera::sharding
