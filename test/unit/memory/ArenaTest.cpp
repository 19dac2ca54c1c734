// Arena layouts: nothing that lives at the same time overlaps, and gaps are used.
#include "passes/memory/Arena.h"

#include <gtest/gtest.h>
#include <random>

using namespace tessera::memory;

TEST(Arena, ReusesWhatIsDead) {
  std::vector<Request> requests = {{64, {{0, 4}}}, {32, {{2, 6}}}, {64, {{5, 9}}}};
  Layout layout = layOut(requests);
  EXPECT_EQ(layout.offsets, (std::vector<int64_t>{0, 64, 0}));
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

TEST(Arena, NothingAliveOverlaps) {
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    std::vector<Request> requests;
    for (int i = 0; i < 60; ++i) {
      int64_t begin = random() % 100;
      Request request{static_cast<int64_t>(random() % 1000),
                      {{begin, begin + static_cast<int64_t>(random() % 20)}}};
      if (random() % 4 == 0) {
        int64_t next = request.live.back().end + 2 + random() % 10;
        request.live.push_back({next, next + static_cast<int64_t>(random() % 10)});
      }
      requests.push_back(request);
    }
    Layout layout = layOut(requests);
    EXPECT_GE(layout.bytes, leastBytes(requests));
    for (size_t a = 0; a < requests.size(); ++a) {
      EXPECT_EQ(layout.offsets[a] % 64, 0);
      EXPECT_LE(layout.offsets[a] + requests[a].bytes, layout.bytes);
      for (size_t b = 0; b < a; ++b) {
        bool apart = layout.offsets[a] + requests[a].bytes <= layout.offsets[b] ||
                     layout.offsets[b] + requests[b].bytes <= layout.offsets[a];
        EXPECT_TRUE(apart || !overlap(requests[a].live, requests[b].live));
      }
    }
  }
}
