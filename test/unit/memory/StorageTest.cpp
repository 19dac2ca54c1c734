// Sharing of arrays, and moves that happen at once.
#include "passes/memory/Storage.h"

#include <gtest/gtest.h>
#include <map>
#include <random>

using namespace tessera::memory;

TEST(Storage, InPlaceWhereTheOperandDies) {
  Storages s;
  int a = s.add(32), b = s.add(32), c = s.add(32);
  s.live(a, 1, 4 * 5 + 2);     // last read at 5
  s.live(b, 4 * 5 + 1, 4 * 9); // written at 5
  s.live(c, 4 * 7 + 1, 4 * 9);
  EXPECT_TRUE(s.share(a, b, 5));
  EXPECT_EQ(s.find(a), s.find(b));
  EXPECT_FALSE(s.share(b, c, 7)) << "b is still needed when c is";
}

TEST(Storage, NotWhereItIsReadLater) {
  Storages s;
  int a = s.add(32), b = s.add(32);
  s.live(a, 1, 4 * 6 + 2);
  s.live(b, 4 * 5 + 1, 4 * 9);
  EXPECT_FALSE(s.share(a, b, 5));
}

TEST(Storage, OtherSizesAndConstantsAreNotShared) {
  Storages s;
  int a = s.add(32), b = s.add(64), c = s.add(32, {Place::Constant, 0}, false);
  s.live(a, 1, 2);
  s.live(b, 5, 6);
  s.live(c, 0, 2);
  EXPECT_FALSE(s.share(a, b, 0));
  EXPECT_FALSE(s.share(c, a, 0));
}

TEST(Storage, ArraysInOtherMemoriesAreNotShared) {
  Storages s;
  int a = s.add(32), b = s.add(32, {}, true, Memory::Host), c = s.add(32, {}, true, Memory::Host);
  s.live(a, 1, 2);
  s.live(b, 5, 6);
  s.live(c, 9, 10);
  EXPECT_FALSE(s.share(a, b, 0));
  EXPECT_TRUE(s.share(b, c, 0));
  EXPECT_EQ(s.memoryOf(c), Memory::Host);
}

TEST(Storage, WhatALoopCarriesIsUpdatedInPlace) {
  // Slot: written on entry (op 1) and when the body ends (op 5); read at 3 by what makes its next
  // state.
  Storages s;
  int slot = s.add(32), next = s.add(32);
  s.live(slot, 4 * 1 + 1, 4 * 3 + 2);
  s.live(slot, 4 * 5 + 1, 4 * 6 + 2);
  s.live(next, 4 * 3 + 1, 4 * 5 + 2);
  EXPECT_FALSE(s.share(slot, next, 3));
  EXPECT_TRUE(s.share(slot, next, 3, /*back=*/5));
}

TEST(Storage, BranchesLeaveWhatTheyYieldInOneArray) {
  // One branch (ends at 3) yields the slot as it is, another one (ends at 6) what it made of it at 5;
  // the loop's body ends at 8.
  Storages s;
  int slot = s.add(32), result = s.add(32);
  s.live(slot, 4 * 1 + 1, 4 * 3 + 2);
  s.live(slot, 4 * 5, 4 * 6 + 2);
  s.live(slot, 4 * 8 + 1, 4 * 9 + 2);
  s.live(result, 4 * 3 + 1, 4 * 3 + 2);
  s.live(result, 4 * 6 + 1, 4 * 8 + 2);
  EXPECT_FALSE(s.share(slot, result, 3, /*back=*/8));
  EXPECT_FALSE(s.share(slot, result, {3, 6}));
  EXPECT_TRUE(s.share(slot, result, {3, 6}, /*back=*/8));
}

TEST(Storage, MovesAtOnce) {
  int temporaries = 100;
  auto temporary = [&](int) { return temporaries++; };
  EXPECT_EQ(sequenced({{0, 1}, {1, 2}}, temporary), (std::vector<Move>{{1, 2}, {0, 1}}));
  EXPECT_EQ(sequenced({{0, 1}, {1, 0}}, temporary).size(), 3u);
  EXPECT_TRUE(sequenced({{3, 3}}, temporary).empty());
}

TEST(Storage, MovesKeepEveryValue) {
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    int size = 1 + random() % 8, next = 100;
    std::vector<Move> moves;
    for (int to = 0; to < size; ++to)
      moves.push_back({static_cast<int>(random() % (size + 2)), to});
    std::map<int, int> memory, want;
    for (int i = 0; i < size + 2; ++i)
      memory[i] = i;
    for (const Move &move : moves)
      want[move.to] = memory[move.from];
    for (const Move &move : sequenced(moves, [&](int) { return next++; }))
      memory[move.to] = memory[move.from];
    for (auto [array, value] : want)
      EXPECT_EQ(memory[array], value);
  }
}
