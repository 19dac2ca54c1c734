// Where the trips of a loop may begin.
#include "passes/order/LoopCuts.h"

#include <gtest/gtest.h>
#include <numeric>
#include <random>

using namespace tessera::order;
using tessera::cost::Task;

static Task task(double seconds, std::vector<int> operands, bool isCollective = false) {
  Task made;
  made.seconds = seconds;
  made.links = isCollective;
  made.operands.append(operands.begin(), operands.end());
  return made;
}

static LoopBody bodyOf(const std::vector<Task> &tasks, std::vector<int> &order,
                       std::vector<int> ahead, std::vector<int> condition) {
  order.resize(tasks.size());
  std::iota(order.begin(), order.end(), 0);
  LoopBody body{tasks, order, llvm::BitVector(tasks.size()), llvm::BitVector(tasks.size())};
  for (int i : ahead)
    body.ahead.set(i);
  for (int i : condition)
    body.condition.set(i);
  return body;
}

static std::vector<int> membersOf(const llvm::BitVector &cut) {
  return {cut.set_bits_begin(), cut.set_bits_end()};
}

// 0: counts; 1: gathers for 2; 3: reduces what 2 leaves; nothing else could hide either.
TEST(LoopCuts, GathersGoAheadAndReductionsStayBehind) {
  std::vector<Task> tasks = {task(0, {}), task(4, {0}, true), task(10, {1}), task(4, {2}, true)};
  std::vector<int> order;
  std::vector<llvm::BitVector> cuts = cutsOf(bodyOf(tasks, order, {0, 1}, {0}));
  ASSERT_FALSE(cuts.empty());
  EXPECT_EQ(membersOf(cuts.front()), (std::vector<int>{0, 1}));
  EXPECT_EQ(membersOf(cuts.back()), (std::vector<int>{0, 1, 2}));
}

// 1: a loop of collectives; 3: gathers for 4, and would be there in time, were it not for the loop's links.
TEST(LoopCuts, AGatherThatALoopHoldsUpGoesAhead) {
  std::vector<Task> tasks = {task(0, {}), task(4, {}), task(2, {1}), task(4, {}, true),
                             task(10, {2, 3})};
  std::vector<int> order;
  EXPECT_EQ(membersOf(cutsOf(bodyOf(tasks, order, {0, 3}, {0})).front()),
            (std::vector<int>{0, 1, 3}));
  tasks[1].within = {.links = 1, .from = 0, .until = 0};
  EXPECT_EQ(membersOf(cutsOf(bodyOf(tasks, order, {0, 3}, {0})).front()), (std::vector<int>{0, 3}));
}

// A gather of what the trip before makes cannot go ahead.
TEST(LoopCuts, NothingOfThisTripGoesAhead) {
  std::vector<Task> tasks = {task(0, {}), task(4, {}, true), task(10, {1})};
  std::vector<int> order;
  for (const llvm::BitVector &cut : cutsOf(bodyOf(tasks, order, {0}, {0})))
    EXPECT_NE(membersOf(cut), (std::vector<int>{0, 1}));
}

// Whatever the body is: a task is early only with its operands and with all that the condition needs.
TEST(LoopCuts, EarlyTasksHaveTheirOperands) {
  std::mt19937 random(7);
  size_t found = 0;
  for (int round = 0; round < 200; ++round) {
    std::vector<Task> tasks;
    std::vector<int> ahead;
    llvm::BitVector isAhead(40);
    for (int n = 0; n < 40; ++n) {
      std::vector<int> operands;
      for (int i = 0; n && i < 2; ++i)
        operands.push_back(random() % n);
      bool is = std::all_of(operands.begin(), operands.end(), [&](int i) { return isAhead[i]; }) &&
                random() % 2;
      if (is)
        isAhead.set(n), ahead.push_back(n);
      tasks.push_back(task(random() % 5, operands, random() % 3 == 0));
    }
    std::vector<int> order;
    LoopBody body = bodyOf(tasks, order, ahead, {static_cast<int>(random() % 5)});
    for (const llvm::BitVector &cut : cutsOf(body)) {
      ++found;
      EXPECT_FALSE(cut.none() || cut.all());
      for (int early : cut.set_bits())
        for (int operand : tasks[early].operands)
          EXPECT_TRUE(cut.test(operand));
      for (int needed : body.condition.set_bits())
        EXPECT_TRUE(cut.test(needed));
    }
  }
  EXPECT_GT(found, 200u);
}
