// How a nest's points are divided over a GPU.
#include "passes/codegen/gpu/BlockOrder.h"
#include "passes/codegen/gpu/Division.h"
#include "passes/codegen/gpu/Processors.h"
#include "passes/codegen/gpu/ProductTile.h"
#include "passes/codegen/gpu/RowTeams.h"
#include "passes/codegen/gpu/TurnedTile.h"

#include <gtest/gtest.h>

#include <set>

namespace tessera::codegen::gpu {
namespace {

TEST(GpuDivisionTest, AThreadHasAsManyElementsAsOneAccessMoves) {
  EXPECT_EQ(elementsOfThread(4096, 4), 4);
  EXPECT_EQ(elementsOfThread(4096, 2), 8);
  EXPECT_EQ(elementsOfThread(4096, 8), 2);
  EXPECT_EQ(elementsOfThread(4096, 1), 16);
  // No rest is left: fewer, or one.
  EXPECT_EQ(elementsOfThread(4098, 4), 2);
  EXPECT_EQ(elementsOfThread(37, 4), 1);
  EXPECT_EQ(elementsOfThread(12, 1), 4);
}

// Four elements a thread would leave 116 of the processors without a block.
TEST(GpuDivisionTest, SmallArraysHaveFewerElementsAThread) {
  EXPECT_EQ(elementsThatFill(16384, 4, 256), 1);
  EXPECT_EQ(elementsThatFill(132 * 256, 4, 256), 1);
  EXPECT_EQ(elementsThatFill(65536, 4, 256), 2); // 128 blocks; of one element each 256
  EXPECT_EQ(elementsThatFill(1 << 20, 4, 256), 4);
  EXPECT_EQ(elementsThatFill(1 << 20, 1, 256), 1);
}

TEST(GpuDivisionTest, TheLastBlockMayHaveARest) {
  EXPECT_EQ(blocksFor(256, {}), 1);
  EXPECT_EQ(blocksFor(257, {}), 2);
  EXPECT_EQ(blocksFor(1, {}), 1);
  EXPECT_EQ(blocksFor(100, {0, 32}), 4);
}

// Arrays of lines of f32, of which a point has four, and vectors that all lines read.
std::vector<BlockAccess> linesWithVectors(int64_t columns, int arrays, int vectors) {
  std::vector<BlockAccess> accesses;
  for (int array = 0; array < arrays; ++array)
    accesses.push_back({array, 0, 16, {4 * columns, 16}});
  for (int vector = 0; vector < vectors; ++vector)
    accesses.push_back({arrays + vector, 0, 16, {0, 16}});
  return accesses;
}

TEST(GpuDivisionTest, BlocksHaveLinesThatReadTheSame) {
  // All of 16 lines, of 64 columns each: vectors are read once.
  std::vector<BlockAccess> some = linesWithVectors(512, 3, 6);
  BlockOrder order = blockOrder({16, 128}, some, 256);
  EXPECT_EQ(order, (BlockOrder{{1, 8, 16}, {0, 16, 1}, {1, 16, 1}}));
  EXPECT_EQ(sectorsOf({16, 128}, order, some, 256), (3 * 16 + 6) * 512 * 4 / 32);
  EXPECT_EQ(sectorsOf({16, 128}, lineByLine({16, 128}), some, 256),
            (3 * 16 + 6 * 8) * 512 * 4 / 32);
  // Of many lines as many as a block has points for, and blocks side by side have all of them.
  EXPECT_EQ(blockOrder({4096, 1024}, linesWithVectors(4096, 2, 1), 256),
            (BlockOrder{{0, 256, 16}, {1, 64, 16}, {0, 16, 1}, {1, 16, 1}}));
  // Lines of few points follow each other: so many images, channels and places.
  std::vector<BlockAccess> images{{0, 0, 16, {8192, 64, 16}},
                                  {1, 0, 16, {8192, 64, 16}},
                                  {2, 0, 4, {0, 4, 0}},
                                  {3, 0, 4, {0, 4, 0}}};
  EXPECT_EQ(blockOrder({16, 128, 4}, images, 256),
            (BlockOrder{{1, 8, 16}, {0, 16, 1}, {1, 16, 1}, {2, 4, 1}}));
  // There is nothing to share, or no line that could be cut.
  EXPECT_EQ(blockOrder({64, 64}, linesWithVectors(256, 3, 0), 256), lineByLine({64, 64}));
  EXPECT_EQ(blockOrder({4096, 8}, linesWithVectors(32, 2, 1), 256), lineByLine({4096, 8}));
  EXPECT_EQ(blockOrder({4096}, {{0, 0, 4, {4}}}, 256), lineByLine({4096}));
}

TEST(GpuDivisionTest, BlocksHaveLinesThatWindowsSlideOver) {
  std::vector<BlockAccess> accesses{{9, 0, 16, {512, 16}}};
  for (int64_t line = 0; line < 4; ++line)
    accesses.push_back({0, 512 * line, 16, {512, 16}});
  BlockOrder order = blockOrder({64, 32}, accesses, 256);
  EXPECT_EQ(order, (BlockOrder{{1, 4, 8}, {0, 64, 1}, {1, 8, 1}}));
  EXPECT_EQ(sectorsOf({64, 32}, lineByLine({64, 32}), accesses, 256), 8 * 16 * (8 + 11));
  EXPECT_EQ(sectorsOf({64, 32}, order, accesses, 256), 8 * 4 * (32 + 35));
}

TEST(GpuDivisionTest, BlocksHavePiecesThatReadTheSame) {
  // y[0, j] and y[1, j] of x[0, j] and x[1, j]: both of some j together.
  int64_t half = int64_t(64) * 256, items = half / 4;
  auto ofPiece = [&](int64_t piece, int array, int64_t offset) {
    return BlockAccess{.array = array,
                       .offset = offset,
                       .bytes = 16,
                       .strides = {0, 16},
                       .within = {{piece, piece + 1}, {0, items}}};
  };
  std::vector<BlockAccess> accesses{{9, 0, 16, {4 * half, 16}}}, apart = accesses;
  for (int piece = 0; piece < 2; ++piece) {
    for (int64_t offset : {int64_t(0), 4 * half})
      accesses.push_back(ofPiece(piece, 0, offset));
    apart.push_back(ofPiece(piece, piece, 0));
  }
  BlockOrder order = blockOrder({2, items}, accesses, 256);
  EXPECT_EQ(order, (BlockOrder{{1, items / 128, 128}, {0, 2, 1}, {1, 128, 1}}));
  EXPECT_EQ(sectorsOf({2, items}, order, accesses, 256), 4 * half * 4 / 32);
  // Nothing is read by both.
  EXPECT_EQ(blockOrder({2, items}, apart, 256), lineByLine({2, items}));
  EXPECT_EQ(sectorsOf({2, items}, lineByLine({2, items}), apart, 256), 4 * half * 4 / 32);
  EXPECT_EQ(sectorsOf({2, items}, order, apart, 256), 4 * half * 4 / 32);
}

// A mask of 128 x 128 bytes that a batch shares, beside which of 128 positions see each other; a point has 16 of a line.
std::vector<BlockAccess> masks(int64_t batch) {
  return {{0, 0, 16, {0, 128, 16}},
          {1, 0, 4, {512, 4, 0}},
          {1, 0, 64, {512, 0, 64}},
          {2, 0, 16, {batch > 1 ? 128 * 128 : 0, 128, 16}}};
}

TEST(GpuDivisionTest, BlocksHaveLinesOfTwoLoops) {
  EXPECT_EQ(blockOrder({4, 128, 8}, masks(4), 512),
            (BlockOrder{{2, 2, 4}, {1, 128, 1}, {0, 4, 1}, {2, 4, 1}}));
}

TEST(GpuDivisionTest, BlocksAreLargerWhereTheyWouldReadTheSame) {
  // Windows of 3 x 3 that are two apart, of images of 7 x 24 with 32 channels.
  std::vector<BlockAccess> windows{{0, 0, 4, {21504, 6144, 256, 4}, {{3, 3072}, {3, 128}}},
                                   {1, 0, 4, {4608, 1536, 128, 4}}};
  EXPECT_EQ(blockShape({2, 3, 12, 32}, windows, 256, 512).threads, 512);
  // Nothing is shared, or not between blocks; and one block that has all points.
  EXPECT_EQ(blockShape({16, 128}, linesWithVectors(512, 3, 0), 256, 512).threads, 256);
  EXPECT_EQ(blockShape({16, 128}, linesWithVectors(512, 3, 6), 256, 512).threads, 256);
  EXPECT_EQ(blockShape({2, 64, 1}, masks(2), 256, 512).threads, 256);
}

TEST(GpuDivisionTest, ABlockHasAllPiecesOfShortRows) {
  EXPECT_EQ(rowsWithPieces(1024, {1, 1}, 256), 256);
  EXPECT_EQ(rowsWithPieces(1024, {30, 2}, 256), 8);
  EXPECT_EQ(rowsWithPieces(4096, {100, 20, 20}, 256), 2);
  EXPECT_EQ(rowsWithPieces(4096, {1000, 24}, 256), 1);
  // Longer ones are apart, and those of which a GPU has too few.
  EXPECT_EQ(rowsWithPieces(4096, {2000, 100}, 256), 0);
  EXPECT_EQ(rowsWithPieces(100, {300, 10}, 256), 0);
  EXPECT_EQ(rowsWithPieces(1, {1, 1}, 256), 0);
}

TEST(GpuDivisionTest, TilesLeaveNoProcessorIdle) {
  EXPECT_EQ(productTile(4096, 4096, 1, Multiplier::F32).rows, 128);
  EXPECT_EQ(productTile(4096, 4096, 1, Multiplier::Cores).rows, 128);
  // A tile of 128 x 128 for each of a batch.
  EXPECT_EQ(productTile(128, 128, 130, Multiplier::Cores).rows, 128);
  // 64 blocks by the largest tiles, 256 by the next.
  EXPECT_EQ(productTile(1024, 1024, 1, Multiplier::F32).rows, 64);
  EXPECT_EQ(productTile(64, 64, 1, Multiplier::F32).rows, 32);
  EXPECT_EQ(productTile(4096, 4096, 1, Multiplier::F64).rows, 64);
}

// Two sums by two a thread where a processor has one tile; four by four where it has several.
TEST(GpuDivisionTest, AProcessorsOnlyTileIsManyThreads) {
  EXPECT_EQ(productTile(64, 64, 1, Multiplier::F32).threads(), 256);
  EXPECT_EQ(productTile(32, 32, 132, Multiplier::F32).threads(), 256);
  EXPECT_EQ(productTile(32, 32, 133, Multiplier::F32).threads(), 64);
  EXPECT_EQ(productTile(1024, 1024, 1, Multiplier::F32).threads(), 128);
}

TEST(GpuDivisionTest, ThreadsCoverATileOnce) {
  for (Multiplier multiplier : {Multiplier::F32, Multiplier::F64, Multiplier::Cores})
    for (int64_t size : {64, 512, 1024, 4096}) {
      ProductTile tile = productTile(size, size, 1, multiplier);
      int64_t sums = multiplier == Multiplier::Cores
                         ? tile.warpRows * tile.warpColumns / 32
                         : tile.rowGroups * tile.columnGroups * tile.together * tile.together;
      EXPECT_EQ(tile.threads() * sums, tile.rows * tile.columns);
    }
}

RowTeams teamsOf(int64_t elements, int64_t bytes) {
  RowSizes row{.elements = elements,
               .bytes = bytes,
               .valueBytes = 16,
               .sumBytes = 128,
               .sumBytesOfSixteen = 128};
  return rowTeams(row, /*areTogether=*/true, 256, kMostSharedBytes).value_or(RowTeams{});
}

TEST(GpuDivisionTest, TeamsOfThreadsHaveARowEach) {
  EXPECT_EQ(teamsOf(7, 64).rows, 256);
  EXPECT_EQ(teamsOf(7, 64).threads, 1);
  EXPECT_EQ(teamsOf(64, 256).rows, 16);
  EXPECT_EQ(teamsOf(64, 256).threads, 16);
  EXPECT_EQ(teamsOf(1024, 4096).threads, 32); // of 32 elements each
  EXPECT_EQ(teamsOf(1024, 8192).threads, 64); // so that their rows find room
  EXPECT_EQ(teamsOf(9216, 36864).rows, 1);
  EXPECT_EQ(teamsOf(20000, 80000).rows, 0); // which no block has room for
}

TEST(GpuDivisionTest, SixteenThreadsMayHaveSumsInRegisters) {
  RowSizes row{.elements = 256, .bytes = 1024, .sumBytes = 320};
  EXPECT_EQ(rowTeams(row, true, 256, kMostSharedBytes)->sumPitch, 0);
  row.elements = 1024; // a row for 32 threads
  EXPECT_GE(rowTeams(row, true, 256, kMostSharedBytes)->sumPitch, 320);
}

TEST(GpuDivisionTest, RowsSideBySideBeginInOtherBanks) {
  for (int64_t bytes : {64, 128, 192, 1024}) {
    EXPECT_EQ(teamsOf(7, bytes).pitch % 8, 4);
    EXPECT_EQ(teamsOf(100, bytes).pitch % 128, 64);
    EXPECT_GE(teamsOf(100, bytes).pitch, bytes);
  }
  RowSizes wide{.elements = 7, .bytes = 64, .widest = 8};
  EXPECT_EQ(rowTeams(wide, true, 256, kMostSharedBytes)->pitch % 16, 8);
}

TEST(GpuDivisionTest, SumsInOtherOrdersAreAThreadsOwn) {
  RowSizes row{.elements = 100, .bytes = 448};
  EXPECT_FALSE(rowTeams(row, /*areTogether=*/false, 256, kMostSharedBytes));
  row.elements = 20;
  EXPECT_TRUE(rowTeams(row, /*areTogether=*/false, 256, kMostSharedBytes));
}

TEST(GpuDivisionTest, LongRowsComeInWindows) {
  constexpr int64_t room = 90000;
  for (int64_t elements : {30000, 40001, 57000, 64000}) {
    std::optional<RowWindows> windows = rowWindows(elements, 4, 256, room);
    ASSERT_TRUE(windows);
    EXPECT_EQ(windows->elements % 1024, 0); // whole parts of sums
    EXPECT_LE(windows->elements * 4, room);
    EXPECT_GE(windows->count * windows->elements, elements);
    EXPECT_LE((windows->count - 1) * windows->elements * 4, 176 * 4 * 256); // in registers
  }
  EXPECT_EQ(rowWindows(30000, 4, 256, room)->count, 2);
  EXPECT_EQ(rowWindows(64000, 4, 256, room)->count, 3);
  EXPECT_EQ(rowWindows(64000, 2, 256, room)->count, 2);
  EXPECT_FALSE(rowWindows(100000, 4, 256, room));
}

TEST(GpuDivisionTest, BlocksThatAreTurnedAreLargerWhereLinesBeginWithinSectors) {
  TurnedPlane plane{.along = 1001, .across = 1001, .beginSectors = true};
  EXPECT_EQ(turnedTile(plane).along, 32);
  plane.beginSectors = false;
  EXPECT_EQ(turnedTile(plane).along, 96);
  EXPECT_EQ(turnedTile(plane).across, 96);
  plane.alongBytes = 2;
  EXPECT_EQ(turnedTile(plane).along, 176);
  plane.across = 40; // no more than there is
  EXPECT_EQ(turnedTile(plane).across, 64);
  EXPECT_EQ(turnedTile(plane).flat, TurnedTile::None);
}

// The places of a warp's elements in a column, in words.
TEST(GpuDivisionTest, ColumnsOfNarrowLinesLieInAllBanks) {
  for (int64_t along : {2, 3, 4, 7, 8, 16, 24, 31}) {
    TurnedTile tile =
        turnedTile({.along = along, .across = 1000, .alongBytes = 4, .beginSectors = false});
    EXPECT_EQ(tile.flat, TurnedTile::Along);
    auto bankOf = [&](int64_t line, int64_t at) {
      return (line * tile.pitch(4) + at + tile.gaps(4).before(line)) % 32;
    };
    for (int64_t first : {0, 5, 31}) {
      std::set<int64_t> banks;
      for (int64_t line = first; line < first + 32; ++line)
        banks.insert(bankOf(line, 0));
      EXPECT_EQ(banks.size(), 32u) << along;
    }
    for (int64_t first : {0, 32, 320}) { // side by side, over the ends of lines
      std::set<int64_t> banks;
      for (int64_t point = first; point < first + 32; ++point)
        banks.insert(bankOf(point / along, point % along));
      EXPECT_EQ(banks.size(), 32u) << along;
    }
  }
}

TEST(GpuDivisionTest, WarpgroupsGetWhatFillsTheirTiles) {
  EXPECT_TRUE(suitsWarpgroups(4096, 4096, 1));
  EXPECT_TRUE(suitsWarpgroups(128, 128, 130));
  EXPECT_TRUE(suitsWarpgroups(1024, 1024, 1));
  // A few rows; fewer tiles than processors.
  EXPECT_FALSE(suitsWarpgroups(16, 65536, 1));
  EXPECT_FALSE(suitsWarpgroups(256, 256, 1));
  EXPECT_EQ(productTile(8192, 8192, 1, Multiplier::Warpgroups).columns, 256);
  EXPECT_EQ(productTile(1024, 1024, 1, Multiplier::Warpgroups).columns, 128);
  // A thread has 128 sums, and twice as many if there are blocks of k.
  EXPECT_EQ(productTile(8192, 8192, 1, Multiplier::WarpgroupsInBlocks).columns, 128);
  EXPECT_EQ(productTile(8192, 8192, 1, Multiplier::Warpgroups).threads(), 288);
}

} // namespace
} // namespace tessera::codegen::gpu
