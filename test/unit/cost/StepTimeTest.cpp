// How long a step takes.
#include "lib/cost/StepTime.h"

#include "gtest/gtest.h"

namespace tessera::cost {
namespace {

Work compute(double seconds, ComputeKind what = ComputeKind::Elementwise) {
  Work work;
  work.kind = Work::Compute;
  work.seconds = seconds;
  work.what = what;
  return work;
}
Work start(int64_t site, double seconds, uint64_t links = 1) {
  Work work;
  work.kind = Work::Start;
  work.seconds = seconds;
  work.links = links;
  work.site = site;
  return work;
}
Work wait(int64_t site) {
  Work work;
  work.kind = Work::Wait;
  work.site = site;
  return work;
}
Work holding(Work::Kind kind, std::vector<uint32_t> blocks, int64_t trips = 1) {
  Work work;
  work.kind = kind;
  work.blocks = std::move(blocks);
  work.trips = trips;
  return work;
}

TEST(StepTime, CollectivesRunBesideTheDevice) {
  Prediction step =
      predict({{start(0, 6), compute(4, ComputeKind::Products), wait(0), compute(1)}}, 100);
  EXPECT_EQ(step.time.seconds, 7);
  EXPECT_EQ(step.time.compute, 5);
  EXPECT_EQ(step.time.byKind[size_t(ComputeKind::Products)], 4);
  EXPECT_EQ(step.time.communication, 6);
  EXPECT_EQ(step.time.exposed, 2);
  ASSERT_EQ(step.events.size(), 4u); // the wait for 2 s
  EXPECT_EQ(step.events[2].work, 2u);
  EXPECT_EQ(step.events[2].begin, 4);
  EXPECT_EQ(step.events[2].end, 6);
}

TEST(StepTime, WhatADeviceCarriesItselfIsExposed) {
  std::vector<Work> works = {start(0, 6), compute(1), wait(0)};
  works[0].own = 2;
  StepTime time = predict({works}).time;
  EXPECT_EQ(time.seconds, 6);
  EXPECT_EQ(time.exposed, 5);
  works[0].seconds = 0;
  time = predict({works}).time;
  EXPECT_EQ(time.seconds, 3);
  EXPECT_EQ(time.communication, 2);
  EXPECT_EQ(time.exposed, 2);
}

TEST(StepTime, AnAllReduceOverBothAxesHoldsTheLinksOfBoth) {
  std::vector<Work> both = {start(0, 9, 3), start(1, 23, 1), wait(0), wait(1)};
  EXPECT_EQ(predict({both}).time.seconds, 32);
  both[1].links = 4;
  EXPECT_EQ(predict({both}).time.seconds, 23);
}

TEST(StepTime, OverheadComesWithEachInstruction) {
  Work kernel = compute(1);
  kernel.overhead = 0.25;
  Work loop = holding(Work::Loop, {0}, 4);
  loop.overhead = 0.5;
  StepTime time = predict({{kernel}, {loop}}).time;
  EXPECT_EQ(time.seconds, 5.5);
  EXPECT_EQ(time.overhead, 1.5);
}

// What is awaited in the next trip hides behind it; the last trip's is waited for behind the loop.
TEST(StepTime, TripsReachIntoEachOther) {
  std::vector<Work> body = {wait(0), start(0, 3), compute(4)};
  StepTime hidden = predict({body, {start(0, 3), holding(Work::Loop, {0}, 100), wait(0)}}).time;
  EXPECT_EQ(hidden.seconds, 403);
  EXPECT_EQ(hidden.exposed, 3); // the first
  EXPECT_EQ(hidden.communication, 303);
  body = {wait(0), start(0, 7), compute(4)};
  StepTime bound = predict({body, {start(0, 7), holding(Work::Loop, {0}, 100), wait(0)}}).time;
  EXPECT_EQ(bound.seconds, 101 * 7);
  EXPECT_EQ(bound.compute, 400);
}

TEST(StepTime, LoopsInLoopsAreMultiplied) {
  Prediction step = predict({{compute(2)},
                             {holding(Work::Loop, {0}, 5), start(0, 1), wait(0)},
                             {holding(Work::Loop, {1}, 3), holding(Work::Loop, {0}, 0)}});
  EXPECT_EQ(step.time.compute, 30);
  EXPECT_EQ(step.time.seconds, 33);
  EXPECT_EQ(step.times, (std::vector<double>{15, 3, 1}));
}

TEST(StepTime, OfABranchTheLongestBlockCounts) {
  Prediction step = predict({{compute(2)},
                             {compute(1), start(0, 5), wait(0)},
                             {},
                             {holding(Work::Branch, {0, 1, 2}), compute(1)}});
  EXPECT_EQ(step.time.seconds, 7);
  EXPECT_EQ(step.time.exposed, 5);
  EXPECT_EQ(step.times, (std::vector<double>{0, 1, 0, 1}));
}

TEST(StepTime, FunctionsCountForEachCall) {
  Prediction step = predict({{compute(2)},
                             {holding(Work::Call, {0}), holding(Work::Call, {0})},
                             {holding(Work::Call, {1}), holding(Work::Call, {0})}});
  EXPECT_EQ(step.time.seconds, 6);
  EXPECT_EQ(step.times, (std::vector<double>{3, 1, 1}));
}

TEST(StepTime, TripsAreShownAsLongAsThereIsRoom) {
  Prediction step = predict({{compute(2)}, {holding(Work::Loop, {0}, 1000)}}, 10);
  EXPECT_EQ(step.time.seconds, 2000);
  ASSERT_EQ(step.events.size(), 10u);
  EXPECT_EQ(step.events[9].end, 20);
}

// Branches in branches, and loops in loops: each block is looked at a few times, not twice a level.
TEST(StepTime, TakesTimeInTheNumberOfBlocks) {
  Blocks blocks = {{compute(1)}};
  for (uint32_t depth = 0; depth < 60; ++depth)
    blocks.push_back({holding(Work::Branch, {depth, depth}), start(depth, 1), wait(depth)});
  EXPECT_EQ(predict(blocks).time.seconds, 61);
  blocks = {{compute(1)}};
  for (uint32_t depth = 0; depth < 30; ++depth)
    blocks.push_back({start(depth, 1, 2), holding(Work::Loop, {depth}, 2), wait(depth)});
  EXPECT_GE(predict(blocks).time.seconds, double(int64_t{1} << 30));
}

} // namespace
} // namespace tessera::cost
