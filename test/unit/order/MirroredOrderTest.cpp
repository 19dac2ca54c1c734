// Orders made from their end.
#include "passes/order/MirroredOrder.h"

#include <gtest/gtest.h>

using namespace tessera::order;
using tessera::cost::Step;
using tessera::cost::Storage;
using tessera::cost::Task;

TEST(MirroredOrder, UsersBecomeOperands) {
  std::vector<Task> tasks(3);
  tasks[2].operands = {0, 1};
  std::vector<Step> steps = {{Step::Run, 0}, {Step::Run, 1}, {Step::Run, 2}};
  Mirror mirror = mirrorOf(tasks, steps);
  EXPECT_EQ(mirror.original, (std::vector<int>{2, 1, 0}));
  EXPECT_TRUE(mirror.tasks[0].operands.empty());
  EXPECT_EQ(mirror.tasks[1].operands, (llvm::SmallVector<int, 4>{0}));
  EXPECT_EQ(mirror.tasks[2].operands, (llvm::SmallVector<int, 4>{0}));
  EXPECT_EQ(forward(mirror, {{Step::Run, 0}, {Step::Start, 1}, {Step::Wait, 1}, {Step::Run, 2}}),
            (std::vector<Step>{{Step::Run, 0}, {Step::Start, 1}, {Step::Wait, 1}, {Step::Run, 2}}));
}

// 0, 1: kernels of 10 bytes that the next one reads; 2: a gather of 15 bytes, read by 3.
static void program(std::vector<Task> &tasks, std::vector<Storage> &storages, int64_t gathered) {
  tasks.assign(4, {});
  storages = {{10}, {10}, {gathered}, {5}};
  for (int i = 0; i < 4; ++i)
    tasks[i].writes.push_back(i);
  tasks[1].operands = tasks[1].reads = {0};
  tasks[2].links = 1;
  tasks[3].operands = tasks[3].reads = {1, 2};
}

TEST(MirroredOrder, StartsGoWhereThereIsRoom) {
  std::vector<Task> tasks;
  std::vector<Storage> storages;
  const std::vector<Step> late = {
      {Step::Run, 0}, {Step::Run, 1}, {Step::Start, 2}, {Step::Wait, 2}, {Step::Run, 3}};
  // 0 alone is live first, then 0 and 1, in the end all but 0: 25 bytes.
  program(tasks, storages, 10);
  std::vector<Step> steps = late;
  startEarlier(tasks, storages, steps);
  EXPECT_EQ(steps, late) << "30 bytes would be live beside 1";
  program(tasks, storages, 5);
  steps = late;
  startEarlier(tasks, storages, steps);
  EXPECT_EQ(steps, late) << "25 bytes would be live beside 1, and 20 are";
  storages[3].bytes = 20;
  startEarlier(tasks, storages, steps);
  EXPECT_EQ(steps.front(), (Step{Step::Start, 2}));
}
