// Counted loops in which shards travel from device to device around the ring of a group, while each
// device computes with the one that it has.
#pragma once

#include "dialects/comm/CommOps.h"
#include "passes/communicate/RowOps.h"

namespace tessera::communicate {

// Rows of a tile, from `offset` on, that travel together: to the next device or to the one before.
struct Lane {
  int64_t direction; // 1 or -1
  int64_t offset, rows;
};

// A dimension in as many tiles as the group has devices.
struct Ring {
  comm::AxesAttr axes;
  int64_t tile;
  llvm::SmallVector<Lane, 2> lanes;

  // Half of each tile goes each way with `bothWays`.
  Ring(comm::AxesAttr axes, int64_t tile, bool bothWays);
  int64_t shards() const { return axes.getGroupSize(); }
};

// Each device sees the rows of all shards: `take` gives what has been taken together with `rows`,
// which begin at row `start` of the whole. The last is taken behind the loop.
//
//   at = my rank
//   repeat shards - 1 times: next = shift(rows); taken = take(rows, at, taken); rows = next; at -= 1
//   taken = take(rows, at, taken)
using Take = llvm::function_ref<llvm::SmallVector<mlir::Value>(
    RowOps &, mlir::Value rows, mlir::Value start, mlir::ValueRange taken)>;
llvm::SmallVector<mlir::Value> gatherAround(RowOps &ops, const Ring &ring, mlir::Value shard,
                                            int64_t dim, mlir::ValueRange taken, Take take);

// Each device gets its tile of the sum over devices: `part` is a device's own term, of the rows from
// `start` on. Sums travel; adding is apart from the term, which is computed while they do.
//
//   at = my rank - 1; term = part(at); sum = 0
//   repeat shards - 1 times: sum = shift(sum + term); at -= 1; term = part(at)
//   sum + term
using Part = llvm::function_ref<mlir::Value(RowOps &, mlir::Value start, int64_t rows)>;
mlir::Value scatterAround(RowOps &ops, const Ring &ring, int64_t dim, Part part);

// The same result bit by bit as of the collective on the whole: `part` is a device's own term of
// some rows of `along`, another dimension than the scattered one, and each part's collective runs
// while the next part is computed.
//
//   term = part(0)
//   repeat chunks - 1 times: done = reduce_scatter(term); term = part(next); put(done)
//   put(reduce_scatter(term))
//
// Two chunks are no loop: what else the block computes can then run beside either collective.
mlir::Value scatterInChunks(RowOps &ops, comm::ReduceScatterOp scatter, int64_t along,
                            int64_t chunks, Part part);

} // namespace tessera::communicate
