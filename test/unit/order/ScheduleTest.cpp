// Orders of kernels and collectives.
#include "passes/order/Schedule.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>
#include <sched.h>

using namespace tessera::order;
using tessera::cost::LiveMemory;
using tessera::cost::simulate;
using tessera::cost::Step;
using tessera::cost::Storage;
using tessera::cost::Task;

// Tasks that each write one storage and read those of their operands.
class Program {
public:
  int kernel(double seconds, std::vector<int> operands, int64_t bytes = 0) {
    Task task;
    task.seconds = seconds;
    task.operands.append(operands.begin(), operands.end());
    task.reads = task.operands;
    task.writes.push_back(tasks.size());
    tasks.push_back(std::move(task));
    storages.push_back({bytes});
    return tasks.size() - 1;
  }
  int collective(double seconds, std::vector<int> operands, int64_t bytes = 0) {
    int task = kernel(seconds, std::move(operands), bytes);
    tasks[task].links = 1;
    return task;
  }
  Order order(const Rule &rule = {}) const { return schedule(tasks, storages, rule); }

  std::vector<Task> tasks;
  std::vector<Storage> storages;
};

static int64_t placeOf(const Order &order, Step step) {
  return std::find(order.steps.begin(), order.steps.end(), step) - order.steps.begin();
}

TEST(Schedule, WorkFillsTheGap) {
  Program p;
  p.kernel(1, {});
  p.collective(10, {0});
  p.kernel(1, {1});
  p.kernel(1, {});
  p.kernel(1, {});
  std::vector<Step> want = {{Step::Run, 0}, {Step::Start, 1}, {Step::Run, 3},
                            {Step::Run, 4}, {Step::Wait, 1},  {Step::Run, 2}};
  EXPECT_EQ(p.order().steps, want);
  std::vector<Step> without = {{Step::Run, 0}, {Step::Start, 1}, {Step::Wait, 1},
                               {Step::Run, 2}, {Step::Run, 3},   {Step::Run, 4}};
  EXPECT_EQ(p.order({.overlap = Overlap::Off}).steps, without);
}

TEST(Schedule, TheBaseOrderStaysWithoutAReason) {
  Program p;
  p.kernel(1, {});
  p.kernel(9, {});
  p.kernel(1, {0});
  p.kernel(1, {1});
  std::vector<Step> steps = p.order().steps;
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(steps[i], (Step{Step::Run, i}));
}

// What a loop waits for inside does not queue behind what is needed after it.
TEST(Schedule, ALoopHasTheLinksBeforeWhatIsNeededLater) {
  Program p;
  p.collective(6, {}); // for the last kernel
  p.kernel(4, {});     // a loop of collectives
  p.tasks[1].within = {.links = 1, .from = 1, .until = 0};
  p.kernel(6, {1});
  p.kernel(1, {0, 2});
  std::vector<Step> want = {
      {Step::Run, 1}, {Step::Start, 0}, {Step::Run, 2}, {Step::Wait, 0}, {Step::Run, 3}};
  Order order = p.order();
  EXPECT_EQ(order.steps, want);
  EXPECT_EQ(order.timeline.exposed, 0);
}

// Large values are made one after the other where each is read at once.
TEST(Schedule, WithoutCollectivesMemoryCounts) {
  Program p;
  for (int i = 0; i < 4; ++i)
    p.kernel(1, {}, 100);
  for (int i = 0; i < 4; ++i)
    p.kernel(1, {i}, 1);
  p.kernel(1, {4, 5, 6, 7}, 1);
  Order order = p.order();
  EXPECT_EQ(order.timeline.peakBytes, 104);
}

TEST(Schedule, WindowBoundsHowFarWorkMoves) {
  Program p;
  p.collective(100, {});
  p.kernel(1, {0});
  for (int i = 0; i < 100; ++i)
    p.kernel(1, {});
  EXPECT_LE(placeOf(p.order({.window = 10}), {Step::Run, 1}), 12);
}

// Four gathers could all start at once; their results would be live together.
TEST(Schedule, MemoryIsNotPaidForLittleTime) {
  Program p;
  for (int i = 0; i < 4; ++i) {
    int weight = p.collective(1, {}, 1000);
    p.kernel(100, i ? std::vector<int>{weight, 2 * i - 1} : std::vector<int>{weight}, 10);
  }
  // Each percent of memory has to save a percent of the time: one gather ahead hides 3 of 404 s.
  EXPECT_LE(p.order().timeline.peakBytes, 1020);
  Order fastest = p.order({.overlap = Overlap::On});
  EXPECT_EQ(fastest.timeline.seconds, 401);
  EXPECT_GE(fastest.timeline.peakBytes, 2000);
}

TEST(Schedule, ABoundOnMemoryHolds) {
  Program p;
  for (int i = 0; i < 4; ++i) {
    int weight = p.collective(80, {}, 1000);
    p.kernel(100, i ? std::vector<int>{weight, 2 * i - 1} : std::vector<int>{weight}, 10);
  }
  Order free = p.order({.overlap = Overlap::On}),
        bounded = p.order({.overlap = Overlap::On, .mostBytes = 1100});
  EXPECT_EQ(free.timeline.seconds, 480);
  EXPECT_LE(bounded.timeline.peakBytes, 1100);
  EXPECT_GT(bounded.timeline.seconds, 480);
}

TEST(Schedule, EveryOperandIsThere) {
  std::mt19937 random(5);
  for (int round = 0; round < 100; ++round) {
    Program p;
    for (int n = 0; n < 60; ++n) {
      std::vector<int> operands;
      for (int i = 0; n && i < 2; ++i)
        operands.push_back(random() % n);
      std::sort(operands.begin(), operands.end());
      operands.erase(std::unique(operands.begin(), operands.end()), operands.end());
      random() % 4 ? p.kernel(random() % 5, operands, random() % 100)
                   : p.collective(random() % 20, operands, random() % 100);
    }
    for (Overlap overlap : {Overlap::Auto, Overlap::On, Overlap::Off}) {
      std::vector<int> started(p.tasks.size(), 0), there(p.tasks.size(), 0);
      Order order = p.order({.overlap = overlap});
      for (Step step : order.steps) {
        if (step.kind == Step::Wait) {
          EXPECT_EQ(started[step.task], 1);
          there[step.task]++;
          continue;
        }
        for (int operand : p.tasks[step.task].operands)
          EXPECT_EQ(there[operand], 1);
        started[step.task]++;
        if (step.kind == Step::Run)
          there[step.task]++;
        EXPECT_EQ(step.kind == Step::Start, p.tasks[step.task].isCollective());
      }
      for (size_t i = 0; i < p.tasks.size(); ++i) {
        EXPECT_EQ(started[i], 1);
        EXPECT_EQ(there[i], 1);
      }
    }
    // Overlap pays, by the rule: never slower, and what memory it takes is paid for.
    auto off = p.order({.overlap = Overlap::Off}).timeline, fine = p.order().timeline;
    EXPECT_LE(fine.seconds, off.seconds);
    double more =
        double(fine.peakBytes - off.peakBytes) / double(std::max<int64_t>(1, off.peakBytes));
    EXPECT_LE(fine.seconds * (1 + std::max(0.0, more)), off.seconds * (1 + 1e-12));
  }
}

// Orders of many tasks are made on two threads, of which none may see who is first.
TEST(Schedule, OfManyTasksIsTheSameOnOneCore) {
  std::mt19937 random(6);
  Program p;
  for (int n = 0; n < 2400; ++n) {
    std::vector<int> operands;
    for (int i = 0; n && i < 2; ++i)
      operands.push_back(std::max(0, n - 1 - int(random() % 40)));
    std::sort(operands.begin(), operands.end());
    operands.erase(std::unique(operands.begin(), operands.end()), operands.end());
    random() % 4 ? p.kernel(random() % 5, operands, random() % 100)
                 : p.collective(random() % 20, operands, random() % 100);
  }
  Order order = p.order();
  EXPECT_LT(order.timeline.seconds, p.order({.overlap = Overlap::Off}).timeline.seconds);
  cpu_set_t cores, first;
  ASSERT_EQ(sched_getaffinity(0, sizeof cores, &cores), 0);
  CPU_ZERO(&first);
  for (int core = 0; CPU_COUNT(&first) == 0; ++core)
    if (CPU_ISSET(core, &cores))
      CPU_SET(core, &first);
  ASSERT_EQ(sched_setaffinity(0, sizeof first, &first), 0);
  Order alone = p.order();
  EXPECT_EQ(sched_setaffinity(0, sizeof cores, &cores), 0);
  EXPECT_EQ(order.steps, alone.steps);
  EXPECT_EQ(order.timeline.seconds, alone.timeline.seconds);
}
