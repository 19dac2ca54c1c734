// How much scratch kernels may have beside arrays.
#include "passes/memory/ScratchRoom.h"

#include <gtest/gtest.h>

using namespace tessera::memory;

namespace {

constexpr int64_t K = 1024;

TEST(ScratchRoom, WhatFitsIsNotBounded) {
  std::vector<Request> arrays{{5 * K, {{1, 9}}}};
  EXPECT_EQ(scratchRoom(arrays, {{0, 4, 4 * K}, {1, 20, 9 * K}}, 2, 9 * K),
            (std::vector<int64_t>{0, 0}));
}

// A kernel is one code for all its dispatches: the least room counts.
TEST(ScratchRoom, TheFullestTimeCounts) {
  std::vector<Request> arrays{{5 * K, {{1, 9}}}, {2 * K, {{21, 30}}}};
  EXPECT_EQ(scratchRoom(arrays, {{0, 4, 8 * K}, {0, 24, 8 * K}}, 1, 9 * K),
            (std::vector<int64_t>{4 * K}));
}

// An array is there from the first to the last time of a segment, and not between segments.
TEST(ScratchRoom, SegmentsHaveBothTheirEnds) {
  std::vector<Request> arrays{{5 * K, {{5, 10}, {25, 30}}}};
  for (auto [time, room] : {std::pair<int64_t, int64_t>{0, 0},
                            {4, 4 * K},
                            {8, 4 * K},
                            {12, 0},
                            {20, 0},
                            {24, 4 * K},
                            {28, 4 * K},
                            {32, 0}})
    EXPECT_EQ(scratchRoom(arrays, {{0, time, 8 * K}}, 1, 9 * K), (std::vector<int64_t>{room}))
        << time;
}

TEST(ScratchRoom, WithoutRoomAsLittleAsThereCanBe) {
  std::vector<Request> arrays{{8 * K + 100, {{1, 9}}}};
  EXPECT_EQ(scratchRoom(arrays, {{0, 4, K}}, 1, 8 * K), (std::vector<int64_t>{1}));
  EXPECT_EQ(scratchRoom(arrays, {{0, 4, K}}, 1, 9 * K),
            (std::vector<int64_t>{1}));                                         // less than a page
  EXPECT_EQ(scratchRoom(arrays, {{0, 4, 0}}, 1, 1), (std::vector<int64_t>{0})); // needs none
}

} // namespace
