// Orders of kernels and collectives.
#include "passes/order/Schedule.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>

using namespace tessera::order;

static Task kernel(double seconds, std::vector<int> operands) {
  return {seconds, false, {operands.begin(), operands.end()}};
}
static Task collective(double seconds, std::vector<int> operands) {
  return {seconds, true, {operands.begin(), operands.end()}};
}

TEST(Schedule, WorkFillsTheGap) {
  std::vector<Task> tasks = {kernel(1, {}), collective(10, {0}), kernel(1, {1}), kernel(1, {}),
                             kernel(1, {})};
  std::vector<Step> want = {{Step::Run, 0}, {Step::Start, 1}, {Step::Run, 3},
                            {Step::Run, 4}, {Step::Wait, 1},  {Step::Run, 2}};
  EXPECT_EQ(schedule(tasks), want);
}

TEST(Schedule, TheBaseOrderStaysWithoutCollectives) {
  std::vector<Task> tasks = {kernel(1, {}), kernel(9, {}), kernel(1, {0}), kernel(1, {1})};
  std::vector<Step> steps = schedule(tasks);
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(steps[i], (Step{Step::Run, i}));
}

TEST(Schedule, WindowBoundsHowFarWorkMoves) {
  std::vector<Task> tasks = {collective(100, {}), kernel(1, {0})};
  for (int i = 0; i < 100; ++i)
    tasks.push_back(kernel(1, {}));
  std::vector<Step> steps = schedule(tasks, 10);
  auto at = std::find(steps.begin(), steps.end(), Step{Step::Run, 1}) - steps.begin();
  EXPECT_LE(at, 12);
}

TEST(Schedule, EveryOperandIsThere) {
  std::mt19937 random(5);
  for (int round = 0; round < 100; ++round) {
    std::vector<Task> tasks;
    for (int n = 0; n < 60; ++n) {
      std::vector<int> operands;
      for (int i = 0; n && i < 2; ++i)
        operands.push_back(random() % n);
      tasks.push_back(random() % 4 ? kernel(random() % 5, operands)
                                   : collective(random() % 20, operands));
    }
    std::vector<int> started(tasks.size(), 0), there(tasks.size(), 0);
    for (Step step : schedule(tasks)) {
      if (step.kind == Step::Wait) {
        EXPECT_EQ(started[step.task], 1);
        there[step.task]++;
        continue;
      }
      for (int operand : tasks[step.task].operands)
        EXPECT_EQ(there[operand], 1);
      started[step.task]++;
      if (step.kind == Step::Run)
        there[step.task]++;
      EXPECT_EQ(step.kind == Step::Start, tasks[step.task].collective);
    }
    for (size_t i = 0; i < tasks.size(); ++i) {
      EXPECT_EQ(started[i], 1);
      EXPECT_EQ(there[i], 1);
    }
  }
}
