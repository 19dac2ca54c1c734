// Arena layouts: nothing that lives at the same time overlaps, and gaps are used.
#include "passes/memory/Arena.h"

#include <gtest/gtest.h>
#include <random>

using namespace tessera::memory;

TEST(Arena, ReusesWhatIsDead) {
  std::vector<Request> requests = {{64, {{0, 4}}}, {32, {{2, 6}}}, {64, {{5, 9}}}};
  Layout layout = layOut(requests);
  EXPECT_EQ(layout.spots, (std::vector<Spot>{{-1, 0}, {-1, 64}, {-1, 0}}));
  EXPECT_EQ(layout.bytes, 128);
}

TEST(Arena, FillsTheSmallestGap) {
  // Between A and C 128 bytes are free when D comes, after C 64: D takes the smaller hole.
  std::vector<Request> requests = {
      {640, {{0, 9}}}, {192, {{0, 3}}}, {128, {{0, 9}}}, {64, {{5, 9}}}};
  Layout layout = layOut(requests);
  EXPECT_EQ(layout.bytes, 640 + 192 + 128);
}

TEST(Arena, SegmentsLeaveRoomBetween) {
  std::vector<Request> requests = {{64, {{0, 1}, {8, 9}}}, {64, {{3, 6}}}};
  EXPECT_EQ(layOut(requests).bytes, 64);
}

// Largest first, the 64 bytes lie on top of all else: 576.
TEST(Arena, AnotherOrderIsTriedWhereTheLargestFirstLeavesHoles) {
  std::vector<Request> requests = {
      {256, {{1, 4}}}, {192, {{6, 10}}}, {192, {{5, 6}}}, {192, {{4, 5}}}, {64, {{6, 10}}}};
  EXPECT_EQ(leastBytes(requests), 448);
  EXPECT_EQ(layOut(requests).bytes, 448);
}

// An output of 100 bytes that is written at 6 and later: A and B lie in it until then, C doesn't.
TEST(Arena, UsesWhatTheCallerGivesUntilItIsTaken) {
  std::vector<Request> requests = {{64, {{0, 4}}}, {36, {{2, 5}}}, {64, {{5, 9}}}};
  std::vector<Pool> pools = {{100, {{6, 9}}}};
  EXPECT_EQ(leastBytes(requests, pools), 64);
  Layout layout = layOut(requests, pools);
  EXPECT_EQ(layout.spots, (std::vector<Spot>{{0, 0}, {0, 64}, {-1, 0}}));
  EXPECT_EQ(layout.bytes, 64);
}

TEST(Arena, NothingAliveOverlaps) {
  std::mt19937 random(7);
  auto live = [&] {
    int64_t begin = random() % 100;
    Segments segments = {{begin, begin + static_cast<int64_t>(random() % 20)}};
    if (random() % 4 == 0) {
      int64_t next = segments.back().end + 2 + random() % 10;
      segments.push_back({next, next + static_cast<int64_t>(random() % 10)});
    }
    return segments;
  };
  int64_t all = 0, least = 0;
  for (int round = 0; round < 50; ++round) {
    std::vector<Request> requests;
    std::vector<Pool> pools;
    for (int i = 0; i < 60; ++i)
      requests.push_back({static_cast<int64_t>(random() % 1000), live()});
    for (int i = 0; i < round % 8; ++i)
      pools.push_back({static_cast<int64_t>(random() % 2000), live()});
    Layout layout = layOut(requests, pools);
    EXPECT_GE(layout.bytes, leastBytes(requests, pools));
    all += layout.bytes;
    least += leastBytes(requests, pools);
    for (size_t a = 0; a < requests.size(); ++a) {
      auto [pool, offset] = layout.spots[a];
      EXPECT_EQ(offset % 64, 0);
      EXPECT_LE(offset + requests[a].bytes, pool < 0 ? layout.bytes : pools[pool].bytes);
      EXPECT_TRUE(pool < 0 || !overlap(requests[a].live, pools[pool].taken));
      for (size_t b = 0; b < a; ++b) {
        bool apart = pool != layout.spots[b].pool ||
                     offset + requests[a].bytes <= layout.spots[b].offset ||
                     layout.spots[b].offset + requests[b].bytes <= offset;
        EXPECT_TRUE(apart || !overlap(requests[a].live, requests[b].live));
      }
    }
  }
  EXPECT_LT(double(all), 1.12 * double(least)) << "1.16 from the best order alone";
}
