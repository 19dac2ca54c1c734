// What is computed again so that a program fits into its memory.
#include "lib/cost/Remat.h"
#include "test/unit/cost/Kernel.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>

using namespace tessera::cost;

// None of the tasks' results may be computed again.
static void keep(RematBlock &block, const std::vector<int> &tasks) {
  for (Maker &maker : block.makers)
    if (std::find(tasks.begin(), tasks.end(), maker.task) != tasks.end())
      maker.again = false;
}

static RematProgram programOf(std::vector<Task> tasks, std::vector<Storage> storages) {
  RematBlock block;
  block.makers = makersOf(tasks, storages.size());
  block.tasks = std::move(tasks);
  block.storages = std::move(storages);
  RematProgram program;
  program.blocks.push_back(std::move(block));
  return program;
}

// n layers forward, a loss, n layers backward that each read the layer's input.
static RematProgram layers(int n, int64_t bytes) {
  std::vector<Task> tasks;
  std::vector<Storage> storages;
  for (int i = 0; i < n; ++i) {
    storages.push_back({bytes});
    tasks.push_back(kernel(1, i ? std::vector<int>{i - 1} : std::vector<int>{}, {i}));
  }
  int gradient = n;
  storages.push_back({bytes});
  tasks.push_back(kernel(1, {n - 1}, {gradient}));
  for (int i = n - 2; i >= 0; --i) {
    storages.push_back({bytes});
    tasks.push_back(kernel(2, {gradient, i}, {gradient + 1}));
    ++gradient;
  }
  storages[gradient].kept = true;
  return programOf(std::move(tasks), std::move(storages));
}

// The peak and the seconds of a plan, counted without the search: the tasks that `expand` gives, and
// what is live between them.
static std::pair<int64_t, double> counted(const RematBlock &block,
                                          const std::vector<Recompute> &values) {
  std::vector<RematStep> steps = expand(block, values);
  struct Life {
    int begin = -1, end = -1;
    int64_t bytes = 0;
  };
  std::vector<Life> lives(block.storages.size());
  std::vector<int> made(steps.size(), -1);
  double seconds = 0;
  for (int i = 0; i < static_cast<int>(steps.size()); ++i) {
    const RematStep &step = steps[i];
    for (int read : step.readsIn(block)) {
      int life = read;
      for (auto [storage, by] : step.from)
        if (storage == read)
          life = made[by];
      EXPECT_GE(life, 0);
      EXPECT_GE(lives[life].begin, 0) << "storage " << read << " is read before it is written";
      lives[life].end = i;
    }
    if (step.copyOf >= 0) {
      made[i] = static_cast<int>(lives.size());
      lives.push_back({i, i, block.storages[step.copyOf].bytes});
      seconds += block.makers[step.copyOf].seconds;
      continue;
    }
    for (int write : block.tasks[step.task].writes) {
      bool dropped = std::any_of(values.begin(), values.end(), [&](const Recompute &value) {
        return value.storage == write && value.after == step.task;
      });
      if (!dropped)
        lives[write] = {i, i, block.storages[write].bytes};
    }
  }
  for (size_t s = 0; s < block.storages.size(); ++s)
    if (block.storages[s].kept)
      lives[s].end = static_cast<int>(steps.size());
  int64_t peak = 0;
  for (int i = 0; i < static_cast<int>(steps.size()); ++i) {
    int64_t live = 0;
    for (const Life &life : lives)
      live += life.begin >= 0 && life.begin <= i && i <= life.end ? life.bytes : 0;
    peak = std::max(peak, live);
  }
  return {peak, seconds};
}

TEST(Remat, NothingIsComputedAgainWithoutNeed) {
  RematPlan plan = planRemat(layers(6, 10), 1000);
  EXPECT_TRUE(plan.values.empty());
  EXPECT_EQ(plan.seconds, 0);
  EXPECT_EQ(plan.peakBytes, 70);
}

TEST(Remat, TheCheaperOfTwoValuesIsComputedAgain) {
  // a: 4 s, b: 1 s, both of 8 bytes, live beside c of 10; both are read at the end.
  RematProgram program = programOf({kernel(4, {}, {0}), kernel(1, {}, {1}), kernel(1, {}, {2}),
                                    kernel(1, {2}, {3}), kernel(1, {0, 1, 3}, {4})},
                                   {{8}, {8}, {10}, {1}, {1}});
  RematPlan plan = planRemat(program, 20);
  ASSERT_EQ(plan.values.size(), 1u);
  EXPECT_EQ(plan.values[0], (Recompute{0, 1, 1}));
  EXPECT_EQ(plan.seconds, 1);
  EXPECT_EQ(plan.peakBytes, 19);
}

TEST(Remat, WhatACopyNeedsIsKeptOrComputedAgainToo) {
  // 1 is computed from 0, which nobody needs later: keeping 0 for it would free nothing.
  RematProgram program =
      programOf({kernel(1, {}, {0}), kernel(1, {0}, {1}), kernel(1, {1}, {2}), kernel(1, {}, {3}),
                 kernel(1, {2, 3}, {4}), kernel(1, {4, 1}, {5})},
                {{8}, {8}, {1}, {10}, {1}, {1}});
  RematPlan plan = planRemat(program, 17);
  EXPECT_EQ(plan.values.size(), 2u);
  EXPECT_EQ(plan.seconds, 2);
  EXPECT_LE(plan.peakBytes, 17);
}

TEST(Remat, WhatACopyNeedsIsKeptWhereThatIsCheaper) {
  // 1 has 16 bytes and takes a second from 0, which has 8 and takes four.
  RematProgram program =
      programOf({kernel(4, {}, {0}), kernel(1, {0}, {1}), kernel(1, {1}, {2}), kernel(1, {}, {3}),
                 kernel(1, {2, 3}, {4}), kernel(1, {4, 1}, {5})},
                {{8}, {16}, {1}, {20}, {1}, {1}});
  RematPlan plan = planRemat(program, 30);
  EXPECT_EQ(plan.values, (std::vector<Recompute>{{0, 1, 2}}));
  EXPECT_EQ(plan.seconds, 1);
  EXPECT_EQ(planRemat(program, 25).seconds, 5); // with less room both are
}

TEST(Remat, ATaskThatMayNotRunAgainIsKept) {
  RematProgram program = layers(6, 10);
  for (Maker &maker : program.blocks[0].makers)
    maker.again = false;
  RematPlan plan = planRemat(program, 40);
  EXPECT_TRUE(plan.values.empty());
  EXPECT_EQ(plan.peakBytes, 70);
}

TEST(Remat, LayersFitIntoLessWithAtMostOneMoreForwardPass) {
  RematProgram program = layers(16, 10);
  RematPlan half = planRemat(program, 100);
  EXPECT_LE(half.peakBytes, 100);
  EXPECT_LE(half.seconds, 9);
  RematPlan less = planRemat(program, 80);
  EXPECT_LE(less.peakBytes, 80);
  EXPECT_LE(less.seconds, 16);
}

TEST(Remat, OfATaskOnlyWhatLeadsToAValueIsComputedAgain) {
  // Task 1 makes 1 from 0 in a long time, and 2 from 1 at once; 2 is read at the end again.
  RematProgram program =
      programOf({kernel(1, {}, {0}), kernel(9, {0}, {1, 2}), kernel(1, {2}, {3}),
                 kernel(1, {3}, {4}), kernel(1, {4}, {5}), kernel(1, {1, 2, 5}, {6})},
                {{1}, {8}, {8}, {1}, {9}, {1}, {1}});
  EXPECT_EQ(planRemat(program, 20).seconds, 9);
  Maker &maker = program.blocks[0].makers[2];
  maker.reads = {1}, maker.seconds = 0.5;
  RematPlan plan = planRemat(program, 20);
  ASSERT_EQ(plan.values.size(), 1u);
  EXPECT_EQ(plan.values[0], (Recompute{0, 2, 2}));
  EXPECT_EQ(plan.seconds, 0.5);
}

TEST(Remat, WhatThePeakMakesForOthersIsMadeByThem) {
  // The peak makes 1 and 2 from 0; 1 is read only by a kernel that can make it itself.
  RematProgram program = programOf(
      {kernel(1, {}, {0}), kernel(2, {0}, {1, 2}), kernel(1, {2}, {3}), kernel(1, {0, 1, 3}, {4})},
      {{8}, {8}, {8}, {1}, {1}});
  RematBlock &block = program.blocks[0];
  block.joins.resize(4);
  block.joins[3] = {0, 1};
  block.makers[1].isElementwise = true;
  EXPECT_EQ(planRemat(program, 20).peakBytes, 24);
  RematPlan plan = planRemat(program, 20, {.makesLater = true});
  ASSERT_EQ(plan.values.size(), 1u);
  EXPECT_EQ(plan.values[0], (Recompute{0, 1, 1}));
  EXPECT_EQ(plan.peakBytes, 17);
  // As an array it would be there with all else that its reader needs, and 3 is no larger than that.
  block.joins.clear();
  EXPECT_EQ(planRemat(program, 17, {.makesLater = true}).peakBytes, 18);
  block.makers[1].again = false;
  EXPECT_EQ(planRemat(program, 20, {.makesLater = true}).peakBytes, 24);
}

TEST(Remat, BelowAPeakThatStaysTheNextOnesAreLowered) {
  // 0 is all that lives at the highest peak; behind it, 2 waits while 4 is there.
  RematProgram program =
      programOf({kernel(1, {}, {0}), kernel(1, {0}, {1}), kernel(1, {1}, {2}), kernel(1, {2}, {3}),
                 kernel(1, {3}, {4}), kernel(1, {4}, {5}), kernel(1, {1, 2, 5}, {6})},
                {{100}, {1}, {8}, {1}, {40}, {1}, {1}});
  const RematBlock &block = program.blocks[0];
  EXPECT_TRUE(planRemat(program, 45).values.empty());
  RematPlan plan = planRemat(program, 45, {.goesBelowPeaks = true});
  ASSERT_EQ(plan.values.size(), 1u);
  EXPECT_EQ(plan.values[0], (Recompute{0, 2, 3}));
  EXPECT_EQ(plan.peakBytes, 42);
  EXPECT_EQ(counted(block, plan.values).first, 101);
}

TEST(Remat, WhatIsElementwiseHasNoArrayInAKernelThatReadsItSo) {
  // At the peak, 3 is made from 0, from 1, which follows from 0 element by element, and from 2.
  RematProgram program = programOf(
      {kernel(1, {}, {0}), kernel(1, {0}, {1}), kernel(1, {1}, {2}), kernel(1, {0, 1, 2}, {3})},
      {{8}, {8}, {8}, {8}});
  RematBlock &block = program.blocks[0];
  block.tasks.back().inPlace = {{3, 2}};
  EXPECT_EQ(planRemat(program, 20).peakBytes, 24);
  block.makers[1].isElementwise = true;
  block.joins.resize(4);
  EXPECT_EQ(planRemat(program, 20).peakBytes, 24);
  block.joins[3] = {1, 2};
  // While 2 is made, 0 and 1 are there, then 0 and 2: 3 takes over the array of 2.
  RematPlan plan = planRemat(program, 24);
  EXPECT_TRUE(plan.values.empty());
  block.tasks[2].inPlace = {{2, 1}};
  EXPECT_EQ(planRemat(program, 20).peakBytes, 16);
  std::vector<RematStep> steps = expand(block, {{0, 1, 2}});
  ASSERT_EQ(steps.size(), 5u);
  EXPECT_TRUE(steps[3].isWithin);
  EXPECT_EQ(steps[3].copyOf, 1);
}

TEST(Remat, WhatSomeoneReadsAsAnArrayHasOne) {
  // 1 follows from 0 element by element; task 3 reads it so, task 4 doesn't.
  RematProgram program = programOf({kernel(1, {}, {0}), kernel(1, {0}, {1}), kernel(1, {1}, {2}),
                                    kernel(1, {0, 1, 2}, {3}), kernel(1, {1, 3}, {4})},
                                   {{8}, {8}, {8}, {8}, {8}});
  RematBlock &block = program.blocks[0];
  block.makers[1].isElementwise = true;
  block.joins = {{}, {}, {}, {1}, {3}};
  std::vector<RematStep> steps = expand(block, {{0, 1, 2}});
  ASSERT_EQ(steps.size(), 7u);
  EXPECT_TRUE(steps[3].isWithin);
  EXPECT_EQ(steps[5].copyOf, 1);
  EXPECT_FALSE(steps[5].isWithin);
  EXPECT_EQ(steps[5].trigger, 4);
}

TEST(Remat, WhatALoopReadsAtThePeakInsideOfItIsKept) {
  // A value across a loop, read behind it, and one that the loop reads.
  RematProgram program = programOf(
      {kernel(1, {}, {0}), kernel(1, {}, {1}), kernel(0, {1}, {2}), kernel(1, {0, 2}, {3})},
      {{8}, {8}, {1}, {1}});
  keep(program.blocks[0], {2});
  RematBlock body;
  body.parent = 0, body.loop = 2, body.times = 5, body.carried = {2};
  body.storages = {{1, true}, {20}, {1, false, true}};
  body.tasks = {kernel(1, {0}, {1}), kernel(1, {1}, {2})};
  body.makers = makersOf(body.tasks, body.storages.size());
  program.blocks.push_back(body);
  RematPlan plan = planRemat(program, 30);
  ASSERT_EQ(plan.values.size(), 1u);
  EXPECT_EQ(plan.values[0].storage, 0);
  EXPECT_EQ(plan.seconds, 1);
  EXPECT_LE(plan.peakBytes, 30);
}

// A loop fills two stacks, a later one reads them; a slot of the second is computed from one of the
// first.
static RematProgram stacks(bool again) {
  RematProgram program =
      programOf({kernel(0, {}, {0, 1, 2}), kernel(0, {0, 1, 2}, {3})}, {{1}, {40}, {40}, {1}});
  keep(program.blocks[0], {0, 1});
  RematBlock body;
  body.parent = 0, body.loop = 0, body.times = 10, body.carried = {0, 1, 2};
  body.storages = {{1, true}, {40, true}, {40, true}, {40, false, true}, {40, false, true}};
  body.tasks = {kernel(1, {0, 1}, {3}), kernel(1, {0, 2}, {4})};
  body.tasks[0].inPlace.push_back({3, 1});
  body.tasks[1].inPlace.push_back({4, 2});
  body.makers = makersOf(body.tasks, body.storages.size());
  keep(body, {0, 1});
  program.blocks.push_back(body);
  RematBlock reader;
  reader.parent = 0, reader.loop = 1, reader.times = 10, reader.carried = {3};
  reader.storages = {{1, true}, {1, false, true}};
  reader.tasks = {kernel(1, {0}, {1})};
  reader.makers = makersOf(reader.tasks, reader.storages.size());
  program.blocks.push_back(reader);
  program.nodes.resize(2);
  program.nodes[0].again = false, program.nodes[0].stack = 0;
  program.nodes[1].again = again, program.nodes[1].stack = 1, program.nodes[1].seconds = 0.5;
  program.nodes[1].operands.push_back(0);
  for (int s : {0, 1}) {
    Stack stack;
    stack.block = 0, stack.storage = s + 1;
    stack.filled = 1, stack.inside = {s + 1, s + 3};
    stack.reader = 1, stack.slot = 4;
    stack.node = s, stack.times = 10;
    program.stacks.push_back(stack);
  }
  return program;
}

TEST(Remat, AStackIsDroppedWhereItsSlotsFollowFromOthers) {
  RematPlan plan = planRemat(stacks(true), 50);
  EXPECT_EQ(plan.stacks, std::vector<int>{1});
  EXPECT_DOUBLE_EQ(plan.seconds, 5); // in each of ten trips
  EXPECT_LE(plan.peakBytes, 50);
  EXPECT_TRUE(planRemat(stacks(false), 50).stacks.empty());
}

// Programs of a few tasks, with all choices tried.
static RematProgram randomProgram(std::mt19937 &random) {
  auto number = [&](int from, int to) {
    return std::uniform_int_distribution<int>(from, to)(random);
  };
  int n = number(6, 8);
  std::vector<Task> tasks;
  std::vector<Storage> storages;
  for (int i = 0; i < n; ++i) {
    std::vector<int> reads;
    for (int k = i ? number(1, 2) : 0; k > 0; --k)
      if (int read = number(0, i - 1); std::find(reads.begin(), reads.end(), read) == reads.end())
        reads.push_back(read);
    tasks.push_back(kernel(number(1, 9), reads, {i}));
    storages.push_back({number(1, 12)});
  }
  for (int s = 0; s < n; ++s) // what nobody reads is a result
    storages[s].kept = std::none_of(tasks.begin(), tasks.end(), [&](const Task &task) {
      return llvm::is_contained(task.reads, s);
    });
  return programOf(std::move(tasks), std::move(storages));
}

static std::vector<Recompute> gapsOf(const RematBlock &block) {
  std::vector<Recompute> gaps;
  for (int s = 0; s < static_cast<int>(block.storages.size()); ++s) {
    int last = s; // storage s is written by task s
    for (int t = s + 1; t < static_cast<int>(block.tasks.size()); ++t)
      if (llvm::is_contained(block.tasks[t].reads, s)) {
        if (!block.storages[s].kept)
          gaps.push_back({0, s, last});
        last = t;
      }
    if (!block.storages[s].kept) // for copies only
      gaps.push_back({0, s, last});
  }
  return gaps;
}

TEST(Remat, RandomProgramsBesideAllChoices) {
  constexpr unsigned seed = 17;
  std::mt19937 random(seed);
  int feasible = 0, found = 0;
  double ours = 0, best = 0;
  for (int run = 0; run < 600; ++run) {
    SCOPED_TRACE("seed " + std::to_string(seed) + ", program " + std::to_string(run));
    RematProgram program = randomProgram(random);
    const RematBlock &block = program.blocks[0];
    std::vector<Recompute> gaps = gapsOf(block);
    if (gaps.size() > 14)
      continue;
    auto [whole, none] = counted(block, {});
    int64_t bound = whole * 8 / 10;
    double least = -1;
    for (unsigned set = 0; set < 1u << gaps.size(); ++set) {
      std::vector<Recompute> values;
      bool isOnce = true;
      for (size_t i = 0; i < gaps.size(); ++i)
        if (set >> i & 1) {
          isOnce &= values.empty() || values.back().storage != gaps[i].storage;
          values.push_back(gaps[i]);
        }
      if (!isOnce)
        continue;
      auto [peak, seconds] = counted(block, values);
      if (peak <= bound && (least < 0 || seconds < least))
        least = seconds;
    }
    RematPlan plan = planRemat(program, bound);
    EXPECT_EQ(counted(block, plan.values), std::pair(plan.peakBytes, plan.seconds));
    RematPlan wide = planRemat(program, bound, {.makesLater = true, .goesBelowPeaks = true});
    EXPECT_LE(counted(block, wide.values).first, whole);
    EXPECT_EQ(counted(block, wide.values).second, wide.seconds);
    if (least < 0)
      continue;
    ++feasible;
    if (plan.peakBytes <= bound) {
      ++found;
      ours += plan.seconds, best += least;
      EXPECT_GE(plan.seconds, least - 1e-9);
    }
  }
  EXPECT_GE(feasible, 30);
  EXPECT_GE(found, feasible * 8 / 10) << found << " of " << feasible;
  EXPECT_LE(ours, 1.25 * best);
}

TEST(Remat, LongProgramsToo) { // seconds where each round is linear, and hours where one is not
  RematProgram program = layers(10000, 10);
  RematPlan plan = planRemat(program, 75000);
  EXPECT_LE(plan.peakBytes, 75000);
  EXPECT_LE(plan.seconds, 5001);
}
