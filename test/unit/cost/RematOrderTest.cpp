// A program's tasks in another order than its own.
#include "lib/cost/RematOrder.h"
#include "test/unit/cost/Kernel.h"

#include <gtest/gtest.h>

using namespace tessera::cost;

namespace {

std::vector<Task> reading(const std::vector<std::vector<int>> &operands) {
  std::vector<Task> tasks(operands.size());
  for (size_t t = 0; t < tasks.size(); ++t)
    tasks[t].operands.append(operands[t].begin(), operands[t].end());
  return tasks;
}

// Two arrays of 8 from one of 1, each read into one of 1.
RematProgram twoArrays() {
  RematBlock block;
  block.tasks = {kernel(1, {}, {0}), kernel(1, {0}, {1}), kernel(1, {0}, {2}), kernel(1, {1}, {3}),
                 kernel(1, {2}, {4})};
  block.storages = {{1}, {8}, {8}, {1, false, true}, {1, false, true}};
  block.makers = makersOf(block.tasks, block.storages.size());
  block.joins.resize(block.tasks.size());
  block.joins[3].push_back(1);
  const std::vector<std::vector<int>> operands{{}, {0}, {0}, {1}, {2}};
  for (size_t t = 0; t < operands.size(); ++t)
    block.tasks[t].operands.append(operands[t].begin(), operands[t].end());
  RematProgram program;
  program.blocks.push_back(block);
  return program;
}

} // namespace

// Each by its place, but behind its operands; what has none before the first that needs it.
TEST(RematOrder, TasksGoToTheirPlaces) {
  EXPECT_EQ(orderByPlaces(reading({{}, {0}, {}, {2, 4}, {}}), {3, 7, 1, 4, -1}),
            (std::vector<int>{2, 0, 4, 3, 1}));
}

TEST(RematOrder, OperandsAreBeforeWhatPlacesSay) {
  EXPECT_EQ(orderByPlaces(reading({{}, {0}, {1}}), {5, 4, 1}), (std::vector<int>{0, 1, 2}));
}

TEST(RematOrder, WhatNobodyNeedsGoesToTheEnd) {
  EXPECT_EQ(orderByPlaces(reading({{}, {}, {}}), {-1, 2, 1}), (std::vector<int>{2, 1, 0}));
}

// 17 are live in the program's order, 10 in the other.
TEST(RematOrder, ThePeakIsThatOfTheOrder) {
  RematProgram program = twoArrays();
  EXPECT_EQ(peakOf(program), 17);
  reorder(program, 0, {0, 1, 3, 2, 4});
  EXPECT_EQ(peakOf(program), 10);
}

// All that names a task names it by its new place.
TEST(RematOrder, WhatNamesTasksFollows) {
  RematProgram program = twoArrays();
  RematBlock body;
  body.parent = 0, body.loop = 3;
  program.blocks.push_back(body);
  Stack stack;
  stack.block = 0, stack.reader = 2;
  program.stacks.push_back(stack);
  reorder(program, 0, {0, 1, 3, 2, 4});
  const RematBlock &block = program.blocks[0];
  EXPECT_EQ(block.makers[2].task, 3);
  EXPECT_EQ(block.makers[3].task, 2);
  EXPECT_EQ(block.tasks[4].operands[0], 3);
  EXPECT_EQ(block.joins[2].size(), 1u);
  EXPECT_EQ(program.blocks[1].loop, 2);
  EXPECT_EQ(program.stacks[0].reader, 3);
}
