// Orders that hold less at their peak.
#include "passes/order/LowerPeak.h"

#include <gtest/gtest.h>
#include <random>

using namespace tessera::order;
using tessera::cost::simulate;
using tessera::cost::Step;
using tessera::cost::Storage;
using tessera::cost::Task;

namespace {

// Tasks that each write one storage, of so many bytes, and read those of their operands.
struct Program {
  int add(int64_t bytes, llvm::SmallVector<int, 4> operands = {}, uint64_t links = 0) {
    Task task;
    task.seconds = 1;
    task.links = links;
    task.operands = task.reads = std::move(operands);
    task.writes.push_back(static_cast<int>(tasks.size()));
    tasks.push_back(std::move(task));
    storages.push_back({bytes});
    return static_cast<int>(tasks.size()) - 1;
  }
  std::vector<Step> inOrder() const {
    std::vector<Step> steps;
    for (int t = 0; t < static_cast<int>(tasks.size()); ++t) {
      steps.push_back({tasks[t].isCollective() ? Step::Start : Step::Run, t});
      if (tasks[t].isCollective())
        steps.push_back({Step::Wait, t});
    }
    return steps;
  }
  int64_t peak(const std::vector<Step> &steps) const {
    return simulate(tasks, storages, steps).peakBytes;
  }
  std::vector<Step> lowered(int64_t mostBytes = 0) const {
    return withLowerPeak(tasks, storages, inOrder(), mostBytes);
  }

  std::vector<Task> tasks;
  std::vector<Storage> storages;
};

// Each task once, behind its operands; collectives waited for before they are read.
void expectAnOrder(const Program &p, const std::vector<Step> &steps) {
  std::vector<int> begun(p.tasks.size()), done(p.tasks.size());
  for (const Step &step : steps) {
    if (step.kind != Step::Wait) {
      ++begun[step.task];
      for (int operand : p.tasks[step.task].operands)
        EXPECT_EQ(done[operand], 1);
    }
    if (step.kind != Step::Start) {
      ++done[step.task];
      EXPECT_EQ(begun[step.task], 1);
    }
  }
  EXPECT_EQ(begun, std::vector<int>(p.tasks.size(), 1));
  EXPECT_EQ(done, begun);
}

} // namespace

// A reader that stands behind the peak: with it, what it depends on.
TEST(LowerPeak, ReadersGoBeforeThePeak) {
  Program p;
  int large = p.add(100), start = p.add(1, {large});
  int peak = p.add(1000, {start});
  int after = p.add(1, {peak}), with = p.add(2);
  int reader = p.add(3, {large, with});
  p.add(1, {after, reader});
  EXPECT_EQ(p.peak(p.inOrder()), 1101);
  std::vector<Step> steps = p.lowered();
  expectAnOrder(p, steps);
  EXPECT_EQ(p.peak(steps), 1004);
}

// What begins a loop's sums, or is copied of an argument: made where it is read first.
TEST(LowerPeak, MakersGoBehindThePeak) {
  Program p;
  int zeros = p.add(100), start = p.add(1);
  int peak = p.add(1000, {start}), after = p.add(1, {peak});
  p.add(1, {zeros, after});
  std::vector<Step> steps = p.lowered();
  expectAnOrder(p, steps);
  EXPECT_EQ(p.peak(steps), 1001);
}

// Alone, what an array is made of would live at the peak instead: both go.
TEST(LowerPeak, WhatIsMadeForItGoesWithIt) {
  Program p;
  int first = p.add(100), second = p.add(100, {first}), start = p.add(1);
  int peak = p.add(1000, {start}), after = p.add(1, {peak});
  p.add(1, {second, after});
  std::vector<Step> steps = p.lowered();
  expectAnOrder(p, steps);
  EXPECT_EQ(p.peak(steps), 1001);
}

TEST(LowerPeak, CollectivesGoWhole) {
  Program p;
  int large = p.add(100), start = p.add(1, {large});
  int peak = p.add(1000, {start}), after = p.add(1, {peak});
  int sum = p.add(4, {large}, /*links=*/1);
  p.add(1, {after, sum});
  std::vector<Step> steps = p.lowered();
  expectAnOrder(p, steps);
  EXPECT_EQ(p.peak(steps), 1005);
}

// Of one that is under way, only the end is moved.
TEST(LowerPeak, WaitsGoBeforeThePeak) {
  Program p;
  int large = p.add(100), sum = p.add(10, {large}, 1), start = p.add(1);
  int peak = p.add(1000, {start}), after = p.add(1, {peak}), reader = p.add(2, {sum});
  p.add(1, {after, reader});
  std::vector<Step> steps = {{Step::Run, large},  {Step::Start, sum}, {Step::Run, start},
                             {Step::Run, peak},   {Step::Run, after}, {Step::Wait, sum},
                             {Step::Run, reader}, {Step::Run, 6}};
  ASSERT_EQ(p.peak(steps), 1111);
  std::vector<Step> lower = withLowerPeak(p.tasks, p.storages, steps, 0);
  expectAnOrder(p, lower);
  EXPECT_EQ(p.peak(lower), 1003);
}

// Behind a peak that stays, the next one is lowered.
TEST(LowerPeak, OtherPeaksAreLowered) {
  Program p;
  int whole = p.add(2000), zeros = p.add(100, {whole}), start = p.add(1);
  int peak = p.add(1000, {start}), after = p.add(0, {peak});
  p.add(1, {zeros, after});
  std::vector<Step> steps = p.lowered();
  expectAnOrder(p, steps);
  EXPECT_EQ(p.peak(steps), 2100);
  auto placeOf = [&](int task) { return llvm::find(steps, Step{Step::Run, task}) - steps.begin(); };
  EXPECT_LT(placeOf(peak), placeOf(whole));
}

// What fits stays as it is.
TEST(LowerPeak, WhatFitsStays) {
  Program p;
  int zeros = p.add(100), start = p.add(1);
  int peak = p.add(1000, {start});
  p.add(1, {zeros, peak});
  EXPECT_EQ(p.lowered(1101), p.inOrder());
}

// Never higher, and an order, whatever the program.
TEST(LowerPeak, NoProgramGetsWorse) {
  std::mt19937 random(7);
  int lowered = 0;
  for (int round = 0; round < 200; ++round) {
    Program p;
    int count = 4 + static_cast<int>(random() % 30);
    for (int t = 0; t < count; ++t) {
      llvm::SmallVector<int, 4> operands;
      for (int k = static_cast<int>(random() % 3); k > 0 && t > 0; --k)
        if (int operand = static_cast<int>(random() % t); !llvm::is_contained(operands, operand))
          operands.push_back(operand);
      p.add(static_cast<int64_t>(random() % 100), operands, random() % 4 == 0);
      p.tasks.back().inside = static_cast<int64_t>(random() % 50);
    }
    std::vector<Step> steps = p.lowered();
    expectAnOrder(p, steps);
    EXPECT_LE(p.peak(steps), p.peak(p.inOrder()));
    lowered += p.peak(steps) < p.peak(p.inOrder());
  }
  EXPECT_GT(lowered, 100);
}
