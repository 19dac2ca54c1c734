// When tasks run and what is live meanwhile.
#include "lib/cost/Timeline.h"
#include "test/unit/cost/Kernel.h"

#include <gtest/gtest.h>

using namespace tessera::cost;

static Task collective(double seconds, uint64_t links, std::vector<int> reads,
                       std::vector<int> writes) {
  Task task = kernel(seconds, std::move(reads), std::move(writes));
  task.links = links;
  return task;
}

TEST(Timeline, ACollectiveRunsBesideTheDevice) {
  std::vector<Storage> storages = {{100}, {50}, {10}, {1}};
  std::vector<Task> tasks = {kernel(8, {}, {0}), collective(6, 1, {0}, {1}), kernel(4, {}, {2}),
                             kernel(1, {1, 2}, {3})};
  std::vector<Step> steps = {
      {Step::Run, 0}, {Step::Start, 1}, {Step::Run, 2}, {Step::Wait, 1}, {Step::Run, 3}};
  Timeline line = simulate(tasks, storages, steps);
  EXPECT_EQ(line.seconds, 15);
  EXPECT_EQ(line.compute, 13);
  EXPECT_EQ(line.exposed, 2);
  EXPECT_EQ(line.peakBytes, 160); // the operand stays until the wait
  EXPECT_EQ(line.peakStep, 2u);
}

// Links carry 6 s of it; the device does 2 s itself, which nothing hides, and waits for the rest.
TEST(Timeline, WhatADeviceCarriesItselfIsNotHidden) {
  std::vector<Task> tasks = {collective(6, 1, {}, {}), kernel(3, {}, {})};
  tasks[0].own = 2;
  std::vector<Step> steps = {{Step::Start, 0}, {Step::Run, 1}, {Step::Wait, 0}};
  EXPECT_EQ(simulate(tasks, {}, steps).seconds, 6);
  tasks[0].seconds = 1; // as good as no links: the same as computing
  Timeline line = simulate(tasks, {}, steps);
  EXPECT_EQ(line.seconds, 5);
  EXPECT_EQ(line.compute, 5);
  EXPECT_EQ(line.exposed, 0);
}

// Two collectives meet on an axis that both cross, and pass each other where they cross none.
TEST(Timeline, LinksBelongToAxes) {
  std::vector<Task> shared = {collective(4, 3, {}, {}), collective(5, 1, {}, {})};
  std::vector<Task> apart = {collective(4, 2, {}, {}), collective(5, 1, {}, {})};
  std::vector<Step> steps = {{Step::Start, 0}, {Step::Start, 1}, {Step::Wait, 0}, {Step::Wait, 1}};
  EXPECT_EQ(simulate(shared, {}, steps).seconds, 9);
  EXPECT_EQ(simulate(apart, {}, steps).seconds, 5);
}

// A loop computes for 2 s, waits for a collective of 3 s, and computes for 4 s.
static Task loopWithACollective() {
  std::vector<Task> body = {kernel(2, {}, {}), collective(3, 1, {}, {}), kernel(4, {}, {})};
  std::vector<Step> steps = {{Step::Run, 0}, {Step::Start, 1}, {Step::Wait, 1}, {Step::Run, 2}};
  Task loop = kernel(9, {}, {});
  loop.within = linkUseOf(body, steps);
  return loop;
}

TEST(Timeline, CollectivesInsideOfALoopHoldLinks) {
  std::vector<Task> tasks = {loopWithACollective(), collective(7, 1, {}, {}),
                             collective(7, 2, {}, {})};
  EXPECT_EQ(tasks[0].within.links, 1u);
  EXPECT_EQ(tasks[0].within.from, 2);
  EXPECT_EQ(tasks[0].within.until, 4);
  // Its collective begins when the links are free: 5 s of the other one's 7 are waited for.
  Timeline line = simulate(tasks, {}, {{Step::Start, 1}, {Step::Run, 0}, {Step::Wait, 1}});
  EXPECT_EQ(line.seconds, 14);
  EXPECT_EQ(line.exposed, 5);
  // Behind it, or over other links, nothing of the loop's is.
  EXPECT_EQ(simulate(tasks, {}, {{Step::Run, 0}, {Step::Start, 1}, {Step::Wait, 1}}).seconds, 16);
  EXPECT_EQ(simulate(tasks, {}, {{Step::Start, 2}, {Step::Run, 0}, {Step::Wait, 2}}).seconds, 9);
}

TEST(Timeline, WhatHidesACollectiveInsideHidesItsDelay) {
  std::vector<Task> body = {collective(3, 1, {}, {}), kernel(8, {}, {}), kernel(1, {}, {})};
  LinkUse use =
      linkUseOf(body, {{Step::Start, 0}, {Step::Run, 1}, {Step::Wait, 0}, {Step::Run, 2}});
  EXPECT_EQ(use.from, 5); // 8 s hide 3
  EXPECT_EQ(use.until, 6);
  EXPECT_EQ(linkUseOf({kernel(8, {}, {})}, {{Step::Run, 0}}).links, 0u);
}

TEST(Timeline, AResultTakesOverAnArrayThatNobodyReadsLater) {
  std::vector<Storage> storages = {{100}, {100}, {100}};
  std::vector<Task> tasks = {kernel(1, {}, {0}), kernel(1, {0}, {1}), kernel(1, {0}, {2})};
  tasks[1].inPlace = {{1, 0}};
  tasks[2].inPlace = {{2, 0}};
  std::vector<Step> steps = {{Step::Run, 0}, {Step::Run, 1}, {Step::Run, 2}};
  // Task 2 still reads what task 1 would overwrite; nobody reads 1, so it is gone by then.
  EXPECT_EQ(simulate(tasks, storages, steps).peakBytes, 200);
  storages[1].kept = true;
  storages[2].kept = true;
  EXPECT_EQ(simulate(tasks, storages, steps).peakBytes, 200);
  tasks[2].inPlace.clear();
  EXPECT_EQ(simulate(tasks, storages, steps).peakBytes, 300);
}

// 0 and 1 are temporaries; 2 is a result of 100 bytes, in which one of them lies until it is written.
TEST(Timeline, TemporariesLieInWhatIsGivenWhereTheyFit) {
  std::vector<Task> tasks = {kernel(1, {}, {0}), kernel(1, {0}, {1}), kernel(1, {1}, {2})};
  std::vector<Step> steps = {{Step::Run, 0}, {Step::Run, 1}, {Step::Run, 2}};
  auto peak = [&](int64_t first, int64_t second) {
    std::vector<Storage> storages = {
        {first}, {second}, {100, false, /*kept=*/true, /*given=*/true}};
    return simulate(tasks, storages, steps).peakBytes;
  };
  EXPECT_EQ(peak(100, 40), 100 + 40); // 40 bytes beside it, either before or when it is written
  EXPECT_EQ(peak(60, 40), 100 + 40);
  EXPECT_EQ(peak(101, 40), 100 + 101);
  EXPECT_EQ(peak(101, 1), 100 + 101);
  tasks[2].inPlace = {{2, 1}};
  EXPECT_EQ(peak(60, 40), 100 + 40) << "too small to be taken over";
  EXPECT_EQ(peak(60, 100), 100 + 60);
}

// Of two results of 100 bytes each has room for one array of 60, however much of both is free.
TEST(Timeline, WhatIsMoreThanHalfAsLargeTakesOneOfTheGiven) {
  std::vector<Storage> given = {{100, false, true, true}, {100, false, true, true}};
  SpaceInGiven space(given);
  space.add(60);
  space.add(60);
  EXPECT_EQ(space.bytes(), 200);
  space.add(60);
  EXPECT_EQ(space.bytes(), 260);
  space.remove(60);
  space.take(100); // one of the two is written now
  EXPECT_EQ(space.bytes(), 260);
}

TEST(Timeline, SmallArraysLieInWhatLargerOnesLeave) {
  std::vector<Storage> given = {{100, false, true, true}, {40, false, true, true}};
  SpaceInGiven space(given);
  space.add(60);
  space.add(40);
  space.add(40);
  EXPECT_EQ(space.bytes(), 140);
  space.add(40);
  EXPECT_EQ(space.bytes(), 180);
}

TEST(Timeline, ArraysInsideFindTheirPlaceOneByOne) {
  std::vector<Storage> storages = {{100, false, /*kept=*/true, /*given=*/true}};
  std::vector<Task> tasks = {kernel(1, {}, {}), kernel(1, {}, {0})};
  std::vector<Step> steps = {{Step::Run, 0}, {Step::Run, 1}};
  tasks[0].inside = 150;
  tasks[0].insideArrays = {120, 30};
  EXPECT_EQ(simulate(tasks, storages, steps).peakBytes, 100 + 120);
  tasks[0].insideArrays = {};
  EXPECT_EQ(simulate(tasks, storages, steps).peakBytes, 150);
}

TEST(Timeline, ArraysAtThePeak) {
  std::vector<Storage> storages = {{10}, {20}, {30}};
  std::vector<Task> tasks = {kernel(1, {}, {0}), kernel(1, {0}, {1}), kernel(1, {1}, {2})};
  std::vector<Step> steps = {{Step::Run, 0}, {Step::Run, 1}, {Step::Run, 2}};
  Timeline line = simulate(tasks, storages, steps);
  EXPECT_EQ(line.peakBytes, 50);
  EXPECT_EQ(arraysAtPeak(tasks, storages, steps, line), (std::vector<int64_t>{30, 20}));
}

TEST(Timeline, WhatIsThereBeforeAndWhatIsInsideCount) {
  std::vector<Storage> storages = {{100, /*before=*/true}, {7, false, /*kept=*/true}};
  std::vector<Task> tasks = {kernel(1, {0}, {}), kernel(1, {}, {1})};
  tasks[0].inside = 30;
  tasks[1].inside = 1000;
  std::vector<Step> steps = {{Step::Run, 0}, {Step::Run, 1}};
  EXPECT_EQ(simulate(tasks, storages, steps).peakBytes, 1007);
  std::swap(tasks[0].inside, tasks[1].inside);
  EXPECT_EQ(simulate(tasks, storages, steps).peakBytes, 1100);
}
