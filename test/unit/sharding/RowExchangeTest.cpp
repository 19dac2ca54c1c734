// Which rows move for halos, retiling and rolls: each shard gets what it wants, from who has it.
#include "lib/sharding/RowExchange.h"

#include <gtest/gtest.h>

using namespace tessera::sharding;

// Carries the plan out on row numbers: what shard i finds in its window at the place of each wanted
// row.
static void expectRows(const HeldRows &held, const WantedRows &wanted) {
  RowExchange plan = planExchange(held, wanted);
  for (int64_t i = 0; i < held.shards; ++i)
    for (int64_t r = 0; r < wanted.length; ++r) {
      int64_t row = i * wanted.step + wanted.offset + r;
      if (row < 0 || row >= held.size)
        continue;
      int64_t at = plan.start + i * plan.drift + r; // relative to my tile
      EXPECT_GE(at, plan.begin);
      EXPECT_LT(at, plan.end);
      int found = 0;
      for (const RowPiece &piece : plan.pieces) {
        int64_t from = piece.distance * held.tile;
        if (at < from + piece.begin || at >= from + piece.end)
          continue;
        ++found;
        EXPECT_EQ((i + piece.distance) * held.tile + held.origin + at - from, row);
      }
      EXPECT_EQ(found, 1) << "shard " << i << " row " << row;
    }
}

TEST(RowExchange, HaloOfOneRow) {
  RowExchange plan = planExchange({8, 4, 2}, {2, -1, 4});
  EXPECT_EQ(plan.pieces, (std::vector<RowPiece>{{-1, 1, 2}, {0, 0, 2}, {1, 0, 1}}));
  EXPECT_EQ(plan.rowsSent(), 2);
  EXPECT_EQ(plan.begin, -1);
  EXPECT_EQ(plan.end, 3);
}

TEST(RowExchange, NothingMovesWhenEachHasItsRows) {
  EXPECT_EQ(planExchange({10, 4, 3}, {3, 0, 3}).rowsSent(), 0);
}

TEST(RowExchange, EveryCase) {
  for (int64_t size : {1, 4, 7, 10, 13})
    for (int64_t shards : {1, 2, 3, 4, 8})
      for (int64_t tile : {(size + shards - 1) / shards, (size + shards - 1) / shards + 2})
        for (int64_t origin : {int64_t(0), size - shards * tile})
          for (int64_t step : {tile - 1, tile, tile + 1, 2 * tile, -tile})
            for (int64_t offset : {-3, 0, 2})
              for (int64_t length : {int64_t(1), tile, tile + 3})
                expectRows({size, shards, tile, origin}, {step, offset, length});
}
