// Which collectives travel together.
#include "passes/order/JoinCollectives.h"

#include <gtest/gtest.h>

using namespace tessera;
using namespace tessera::order;
using tessera::cost::Step;
using tessera::cost::Task;

// Two gathers of 10 bytes and a kernel of so many seconds between their starts; 3 reads both.
struct Program {
  explicit Program(double between) : tasks(4) {
    tasks[0].links = tasks[2].links = 1;
    tasks[0].seconds = tasks[2].seconds = time(0, 10).links;
    tasks[1].seconds = between;
    tasks[3].operands = {0, 2};
    for (int i = 0; i < 4; ++i)
      tasks[i].writes.push_back(i);
  }
  static cost::CollectiveTime time(int, double bytes) { return {5 + bytes, bytes / 4}; }

  std::vector<Task> tasks;
  std::vector<Step> steps = {{Step::Start, 0}, {Step::Run, 1},  {Step::Start, 2},
                             {Step::Wait, 0},  {Step::Wait, 2}, {Step::Run, 3}};
  Messages messages{{0, -1, 0, -1}, {10, 0, 10, 0}, time};
};

TEST(JoinCollectives, WhatSavesALatencyIsJoined) {
  Program p(4);
  auto buckets = bucketsOf(p.tasks, p.steps, p.messages, 4);
  EXPECT_EQ(buckets, (std::vector<std::vector<int>>{{0, 2}}));
  JoinedTasks made = join(p.tasks, p.steps, buckets, p.messages);
  EXPECT_EQ(made.members, (std::vector<std::vector<int>>{{1}, {0, 2}, {3}}));
  EXPECT_EQ(made.tasks[1].seconds, 25);
  EXPECT_EQ(made.tasks[1].own, 5);
  EXPECT_EQ(made.tasks[1].writes, (llvm::SmallVector<int, 2>{0, 2}));
  EXPECT_EQ(made.tasks[2].operands, (llvm::SmallVector<int, 4>{1}));
}

TEST(JoinCollectives, MoreOverlapThanLatencyIsNotLost) {
  Program p(6);
  EXPECT_TRUE(bucketsOf(p.tasks, p.steps, p.messages, 4).empty());
}

TEST(JoinCollectives, AWaitEndsABucket) {
  Program p(0);
  std::swap(p.steps[2], p.steps[3]);
  EXPECT_TRUE(bucketsOf(p.tasks, p.steps, p.messages, 4).empty());
}

TEST(JoinCollectives, OtherKindsAndLargeMessagesStayAlone) {
  Program other(0);
  other.messages.kinds[2] = 1;
  EXPECT_TRUE(bucketsOf(other.tasks, other.steps, other.messages, 4).empty());
  Program large(0);
  EXPECT_TRUE(bucketsOf(large.tasks, large.steps, large.messages, 2).empty());
}
