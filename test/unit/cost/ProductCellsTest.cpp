// Cells of products whose scratch is bounded.
#include "lib/cost/CellBounds.h"

#include <gtest/gtest.h>

#include <random>

using namespace tessera::cost;

namespace {

Product productOf(int64_t m, int64_t n, int64_t k) {
  Product product;
  product.batch = 1;
  product.m = double(m), product.n = double(n), product.k = double(k);
  product.a = product.b = Product::Plain;
  return product;
}

// The last of the chunks of `size` holds a tile, if it is not the only one.
bool endsWithATile(int64_t size, int64_t chunk, int64_t tile) {
  return chunk >= size || size % chunk == 0 || size % chunk >= tile;
}

TEST(ProductCells, WhatFitsStays) {
  Product product = productOf(512, 512, 256);
  ContractionCells cells = contractionCells(product, 8, 32, 4, /*inBlocks=*/true), before = cells;
  CellBytes bytes{1024, 1024, 0};
  fitInto(cells, product, 8, 32, bytes, bytes.in(before));
  EXPECT_EQ(cells.mPanel, before.mPanel);
  EXPECT_EQ(cells.nChunk, before.nChunk);
  EXPECT_EQ(cells.nPanel, before.nPanel);
}

// Windows that lie in the padding but for a few have less than a term on the average.
TEST(ProductCells, LessThanATermIsOne) {
  Product product = productOf(5, 2, 1);
  product.k = 0.8;
  ContractionCells cells = contractionCells(product, 5, 2, 4, /*inBlocks=*/false);
  EXPECT_EQ(cells.mChunk, 5);
  EXPECT_EQ(cells.nChunk, 2);
}

// As the header's example: nothing is copied more often.
TEST(ProductCells, WithAllRowsInAPanelColumnsAreCopiedByFewer) {
  Product product = productOf(64, 128, 256);
  ContractionCells cells;
  cells.mChunk = cells.mPanel = 64, cells.nChunk = 128;
  fitInto(cells, product, 8, 32, {1024, 1024, 0}, 96 << 10);
  EXPECT_EQ(cells.mChunk, 64);
  EXPECT_EQ(cells.mPanel, 64);
  EXPECT_EQ(cells.nChunk, 128);
  EXPECT_EQ(cells.nPanel, 32);
}

// A gradient of weights: both operands are copied, and each about as often.
//   1536 x 384, k 128: strips of 32 columns would copy the left operand twelve times
TEST(ProductCells, WhatIsCopiedOnBothSidesGoesBySquares) {
  Product product = productOf(1536, 384, 128);
  ContractionCells cells = contractionCells(product, 8, 32, 4, /*inBlocks=*/false);
  EXPECT_EQ(cells.nChunk, 192);
  EXPECT_EQ(cells.mChunk, 256);
  // A left operand that is read where it lies goes past as few columns as before.
  product.a = Product::None;
  cells = contractionCells(product, 8, 32, 4, /*inBlocks=*/false);
  EXPECT_EQ(cells.nChunk, 32);
  EXPECT_EQ(cells.mChunk, 1536);
}

// 48 tiles of columns are twelve cells of 4, not nine of 5 and one of 3.
TEST(ProductCells, CellsAreAlike) {
  Product product = productOf(128, 1536, 384);
  product.a = Product::None;
  EXPECT_EQ(contractionCells(product, 8, 32, 4, /*inBlocks=*/false).nChunk, 128);
}

// By pairs cells are squares of like size; a's rows are copied one tile's at a time.
TEST(ProductCells, PairsGoBySquaresThatAreAlike) {
  // All columns in each cell: 96 of them would leave 32, for which a is copied again.
  ContractionCells cells = pairCells(productOf(4096, 128, 4096), 8, 32, true, true);
  EXPECT_EQ(cells.nChunk, 128);
  // All rows, for the same reason: b is copied once.
  EXPECT_EQ(pairCells(productOf(128, 4096, 4096), 8, 32, true, true).mChunk, 128);
  cells = pairCells(productOf(1000, 1000, 1000), 8, 32, false, true);
  EXPECT_EQ(cells.nChunk, 128);
  EXPECT_EQ(cells.mPanel, 8);
  EXPECT_NEAR(double(cells.mChunk), 128, 16);
  // A right operand of 32 MB is copied once.
  EXPECT_EQ(pairCells(productOf(768, 32000, 512), 8, 32, false, true).mChunk, 768);
  // Sums of two blocks are in one panel.
  EXPECT_EQ(pairCells(productOf(768, 32000, 512), 8, 32, true, false).kBlock, 0);
  // An even number of strips of rows: as many for each of two cores.
  cells = pairCells(productOf(16384, 64, 64), 8, 32, false, true);
  EXPECT_EQ(16384 % (2 * cells.mChunk), 0);
  // Rows that lie across are copied by more: a line has many of them. So are those that go past a block.
  EXPECT_GE(pairCells(productOf(1000, 1000, 1000), 8, 32, false, false).mPanel, 32);
  EXPECT_EQ(pairCells(productOf(1024, 1024, 1024), 8, 32, true, true).mPanel, 128);
}

// A gradient of a few terms, whose rows lie 4 KB apart: a cell goes along them, one tile's rows at a time.
TEST(ProductCells, FewTermsGoAlongRows) {
  auto cellsOf = [](int64_t m, int64_t n, int64_t k) {
    Product product = productOf(m, n, k);
    product.a = Product::None;
    return contractionCells(product, 8, 32, 4, /*inBlocks=*/false);
  };
  ContractionCells cells = cellsOf(512, 1024, 16);
  EXPECT_EQ(cells.nChunk, 1024);
  EXPECT_EQ(cells.mPanel, 8);
  EXPECT_LT(cells.mChunk, 512); // results take time as terms do: there is work for some cores
  // Tiles end where panels do.
  EXPECT_EQ(cellsOf(513, 1024, 16).mPanel, 24);
  // Rows that don't fall into the same places, or more terms: down the columns.
  cells = cellsOf(512, 1040, 16);
  EXPECT_EQ(cells.mPanel, cells.mChunk);
  cells = cellsOf(512, 1024, 17);
  EXPECT_EQ(cells.mPanel, cells.mChunk);
}

// A filter's gradient: cells are nearly square, and panels of their rows small; tiles end where these do.
TEST(ProductCells, RowsOfWindowsGoByFew) {
  auto cellsOf = [](int64_t positions, int64_t channels, int64_t n, int64_t columns) {
    Product product = productOf(positions * channels, n, 8192);
    ContractionCells cells = contractionCells(product, 8, columns, 4, /*inBlocks=*/true);
    makeTall(cells, product, channels, columns);
    return cells;
  };
  ContractionCells cells = cellsOf(9, 64, 64, 32);
  EXPECT_EQ(cells.kBlock, 128);
  EXPECT_EQ(cells.nChunk, 64);
  EXPECT_EQ(cells.mChunk, 96);
  EXPECT_EQ(cells.mPanel, 32);
  EXPECT_EQ(cellsOf(9, 64, 64, 16).mPanel, 48);     // of 6 rows, too
  EXPECT_EQ(cellsOf(9, 24, 64, 32).mPanel % 24, 0); // no whole vectors: whole positions
  EXPECT_LE(cellsOf(25, 256, 512, 32).mChunk, 512); // sums that wait stay near
  // Columns that are no whole tiles are all in one cell, or in whole tiles but for the last.
  EXPECT_EQ(cellsOf(9, 32, 48, 32).kBlock, 128);
  EXPECT_EQ(cellsOf(9, 32, 48, 32).nChunk, 48);
  EXPECT_EQ(cellsOf(9, 32, 48, 32).mPanel, 32);
  EXPECT_EQ(cellsOf(9, 32, 80, 32).nChunk, 80);
  for (int64_t channels : {16, 20, 24, 33, 48, 64, 80, 256, 500})
    for (int64_t n : {20, 32, 40, 48, 64, 80, 96, 112, 144, 256, 270}) {
      cells = cellsOf(9, channels, n, 32);
      EXPECT_TRUE(endsWithATile(9 * channels, cells.mChunk, 8)) << channels << ' ' << cells.mChunk;
      EXPECT_TRUE(endsWithATile(n, cells.nChunk, 32)) << n << ' ' << cells.nChunk;
      EXPECT_TRUE(cells.mChunk >= 9 * channels || cells.mChunk % cells.mPanel == 0);
    }
}

// Without panels of b a cell has fewer columns.
TEST(ProductCells, OrCellsAreNarrower) {
  Product product = productOf(64, 128, 256);
  ContractionCells cells;
  cells.mChunk = cells.mPanel = 64, cells.nChunk = 128;
  fitInto(cells, product, 8, 32, {0, 1024, 0, /*hasPanelsOfB=*/false}, 40 << 10);
  EXPECT_EQ(cells.nChunk, 32);
  EXPECT_EQ(cells.nPanel, INT64_MAX);
}

// Each panel begins at a line of the cache: 64 rows of 12 bytes and 33 columns of 12 are 1,216 bytes, not
// the 1,164 of their sum.
TEST(ProductCells, WholeLinesAreWithinTheBound) {
  Product product = productOf(64, 33, 3);
  ContractionCells cells;
  cells.mChunk = cells.mPanel = 64, cells.nChunk = 33;
  fitInto(cells, product, 8, 32, {12, 12, 0}, 1170);
  int64_t ofA = 12 * cells.mPanel, ofB = 12 * std::min(cells.nPanel, cells.nChunk);
  EXPECT_LE((ofA + 63) / 64 * 64 + (ofB + 63) / 64 * 64, 1170);
}

// Of any size, to any bound: tiles end where chunks and panels do, and chunks are whole panels.
TEST(ProductCells, TilesStayWhole) {
  std::mt19937 random(7);
  auto draw = [&](int64_t low, int64_t high) {
    return low + int64_t(random() % uint32_t(high - low + 1));
  };
  for (int i = 0; i < 2000; ++i) {
    int64_t m = draw(1, 600), n = draw(1, 600), k = draw(1, 1200);
    if (draw(0, 9) == 0)
      n = 512 * draw(1, 2), k = draw(1, 16);
    int64_t rows = std::min<int64_t>(m, draw(4, 8)), columns = std::min<int64_t>(n, 32);
    Product product = productOf(m, n, k);
    bool byPairs = draw(0, 1), inBlocks = !byPairs || draw(0, 1);
    ContractionCells cells = byPairs ? pairCells(product, rows, columns, inBlocks, draw(0, 1))
                                     : contractionCells(product, rows, columns, 4, inBlocks);
    int64_t panel = (cells.kBlock ? cells.kBlock : k) * 4;
    CellBytes bytes{draw(0, 1) * panel, panel, cells.kBlock ? int64_t(4) : 0};
    int64_t before = bytes.in(cells), most = draw(0, 1) * draw(1, before);
    fitInto(cells, product, rows, columns, bytes, most);
    EXPECT_LE(bytes.in(cells), before);
    EXPECT_TRUE(endsWithATile(m, cells.mChunk, rows)) << m << ' ' << cells.mChunk;
    EXPECT_TRUE(endsWithATile(m, cells.mPanel, rows)) << m << ' ' << cells.mPanel;
    EXPECT_TRUE(endsWithATile(n, cells.nChunk, columns)) << n << ' ' << cells.nChunk;
    if (cells.nPanel < cells.nChunk) {
      EXPECT_TRUE(endsWithATile(n, cells.nPanel, columns)) << n << ' ' << cells.nPanel;
      EXPECT_TRUE(cells.nChunk >= n || cells.nChunk % cells.nPanel == 0);
    }
    EXPECT_TRUE(cells.mChunk >= m || cells.mChunk % cells.mPanel == 0);
    if (most == 0) {
      ContractionCells again = cells;
      fitInto(again, product, rows, columns, bytes, 0);
      EXPECT_EQ(bytes.in(again), bytes.in(cells)); // nothing is left to lower
    }
  }
}

// Without vectors of 512 bits.
//   256 x 256 x 256: cells of 16 MFLOP would be three for two cores
TEST(ProductCells, SmallProductsHaveSomeCells) {
  CellBounds bounds = CellBounds::ofMatrices(32);
  Product product = productOf(256, 256, 256);
  product.a = Product::None;
  auto cellsOf = [&](const ContractionCells &cells) {
    return (256 + cells.nChunk - 1) / cells.nChunk * ((256 + cells.mChunk - 1) / cells.mChunk);
  };
  EXPECT_EQ(cellsOf(contractionCells(product, 6, 16, 4, /*inBlocks=*/false, bounds)), 8);
  EXPECT_EQ(cellsOf(contractionCells(product, 6, 16, 4, /*inBlocks=*/false)), 3);
  // Large ones, and many small ones, have enough as it is.
  for (Product of : {productOf(2048, 2048, 2048), productOf(16384, 64, 64)}) {
    ContractionCells narrow = contractionCells(of, 6, 16, 4, /*inBlocks=*/false, bounds);
    ContractionCells wide = contractionCells(of, 6, 16, 4, /*inBlocks=*/false);
    EXPECT_EQ(narrow.mChunk, wide.mChunk);
    EXPECT_EQ(narrow.nChunk, wide.nChunk);
  }
}

// 128 rows were cells of 108 and of 20, for which b was copied once more.
TEST(ProductCells, RowsOfLessThanTwoCellsAreOnes) {
  Product product = productOf(128, 4096, 4096);
  product.a = Product::None;
  CellBounds bounds = CellBounds::ofMatrices(32);
  ContractionCells cells = contractionCells(product, 6, 16, 4, /*inBlocks=*/true, bounds);
  EXPECT_EQ(cells.mChunk, 128);
  EXPECT_EQ(cells.kBlock, 256);
  cells = contractionCells(product, 6, 16, 4, /*inBlocks=*/true);
  EXPECT_LT(cells.mChunk, 128);
  EXPECT_EQ(cells.kBlock, 256);
}

// 2048 columns and rows, of which a cell has at most 512 x 512 sums: the last would have had 8 rows, and copied
// all of its columns of b for them. Few results with long sums have short blocks.
TEST(ProductCells, LargeCellsAreAlike) {
  CellBounds bounds = CellBounds::ofMatrices(32);
  ContractionCells cells =
      contractionCells(productOf(2048, 2048, 2048), 6, 16, 4, /*inBlocks=*/true, bounds);
  EXPECT_EQ(cells.nChunk, 512);
  EXPECT_EQ(cells.mChunk, 516);
  EXPECT_EQ(cells.mPanel, cells.mChunk);
  EXPECT_EQ(cells.kBlock, 256);
  cells = contractionCells(productOf(256, 256, 16384), 6, 16, 4, /*inBlocks=*/true, bounds);
  EXPECT_EQ(cells.kBlock, 128);
}

} // namespace
