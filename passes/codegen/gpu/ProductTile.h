// How a product's result is divided over blocks and their threads: plain data, decided without IR.
#pragma once

#include <cstdint>

namespace tessera::codegen::gpu {

// What multiplies.
enum class Multiplier : uint8_t {
  F32,               // a thread, by fused multiply-adds
  F64,               // the same
  Cores,             // a warp, of f16 or bf16, by tensor cores
  ByteCores,         // the same of integers of 8 bits
  Warpgroups,        // four warps, likewise, from shared memory
  WarpgroupsInBlocks // the same, where a thread has each sum twice: of a block of k, and of all
};

// A block computes `rows` x `columns` of the result; `depth` of the contracted elements lie in shared
// memory at a time. The result goes to memory in `rowGroups` parts of the tile's rows.
struct ProductTile {
  int64_t rows, columns, depth;
  int64_t rowGroups;
  // Of threads: a group of rows has `together` of each thread, side by side, and so have its columns in
  // `columnGroups`, evenly apart. Of tensor cores a warp has warpRows x warpColumns of the tile.
  int64_t columnGroups = 1, together = 1;
  int64_t warpRows = 0, warpColumns = 0;
  int64_t bringers = 0; // threads that only bring slices, after the others

  int64_t columnThreads() const { return columns / (columnGroups * together); }
  int64_t rowThreads() const { return rows / (rowGroups * together); }
  int64_t columnWarps() const { return columns / warpColumns; }
  int64_t rowWarps() const { return rows / warpRows; }
  int64_t threads() const {
    return bringers + (warpRows ? rowWarps() * columnWarps() * 32 : rowThreads() * columnThreads());
  }
  int64_t groupRows() const { return rows / rowGroups; }
};

// Of a result of `m` x `n` elements, `batch` times.
ProductTile productTile(int64_t m, int64_t n, int64_t batch, Multiplier multiplier);
// Whether warpgroups are quicker at it than warps: they have large tiles only, which many a product does
// not fill, or too few of which there are.
bool suitsWarpgroups(int64_t m, int64_t n, int64_t batch);

} // namespace tessera::codegen::gpu
