// What cells of products by vector registers are sized by.
#pragma once

#include "lib/cost/ProductCells.h"

namespace tessera::cost {

// As they are here: of windows.
struct CellBounds {
  int64_t block =
      256; // of k that is copied at a time: whole blocks of sums (Reduction::chainBlock)
  int64_t largeBlock = 256; // the same of cells with many sums
  double leastFlops = 16e6; // of a cell
  double someCells =
      0; // a product has so many, where each has a quarter of that at least; 0: no matter
  double manyCells = 48;          // of a large product in blocks whose operands are both copied
  int64_t sumBytes = 256 << 10;   // of the sums of a cell in blocks, and its columns
  int64_t panelBytes = 128 << 10; // of rows of a that are copied at a time
  int64_t mostColumns = 256;
  bool evenly = false;    // whether a large product's cells are alike
  bool joinsRows = false; // whether rows that are fewer than two cells' are one's

  // Of matrices, by the target's vectors: processors with vectors of 512 bits have 1 MiB and more of
  // second-level cache a core, others mostly 256 or 512 KiB.
  static CellBounds ofMatrices(int64_t vectorBytes);
};

// As without bounds, which are those of windows then.
ContractionCells contractionCells(const Product &product, int64_t rows, int64_t columns,
                                  int64_t bytes, bool inBlocks, const CellBounds &bounds);
// With a tile of common size of vectors of 32 bytes. `isMatrix`: not of windows, whose cells are those of
// 512 bits.
ContractionCells shortCells(const Product &product, bool inBlocks, bool isMatrix);

} // namespace tessera::cost
