// Tasks of the pool and lists of them, and which steps are none for it.
#include "runtime/pool/Run.h"

#include "lib/steps/ShortStep.h"
#include "runtime/client/ShortSteps.h"

#include <atomic>
#include <gtest/gtest.h>
#include <memory>
#include <thread>
#include <vector>

namespace tessera::runtime {
namespace {

// Wakes itself as long as it has trips left.
struct Turns final : Task {
  explicit Turns(Run &run) : owner(run) {}
  void run(Worker &) override {
    ++runs;
    if (--left > 0)
      owner.wake(this);
    else
      owner.deviceEnded();
    owner.retire();
  }
  Run &owner;
  int left = 3;
  std::atomic<int> runs{0};
};

// A task that came out of a queue still knew the next one in it, and woke that too.
TEST(PoolTest, ATaskThatWakesItselfWakesNobodyElse) {
  auto pool = *Pool::shared(1);
  for (int round = 0; round < 20; ++round) {
    std::atomic<uint32_t> over{0};
    runtime::Run run(*pool);
    run.over = [&] { over = 1; };
    std::vector<std::unique_ptr<Turns>> tasks;
    Task *chain = nullptr;
    for (int i = 0; i < 8; ++i) {
      tasks.push_back(std::make_unique<Turns>(run));
      tasks.back()->next = chain;
      chain = tasks.back().get();
    }
    run.begin(8);
    run.wake(chain);
    while (!over)
      std::this_thread::yield();
    for (const auto &task : tasks)
      EXPECT_EQ(task->runs, 3);
  }
}

// Holds the pool itself, as a copy that is under way holds its device's memory.
struct LastOwner final : Task {
  void run(Worker &) override {
    pool.reset();
    done = true;
  }
  std::shared_ptr<Pool> pool;
  std::atomic<bool> done{false};
};

// The worker tried to join itself, which ended the process.
TEST(PoolTest, AWorkerMayBeTheLastOwner) {
  for (uint32_t workers = 1; workers <= 3; ++workers)
    for (int round = 0; round < 10; ++round) {
      LastOwner task;
      task.pool = *Pool::shared(workers);
      task.home = round % workers;
      std::weak_ptr<Pool> watched = task.pool;
      watched.lock()->push(&task);
      while (!task.done)
        std::this_thread::yield();
      EXPECT_TRUE(watched.expired());
    }
}

// What one device does is over in the time that several take for an eighth of its bytes.
TEST(ShortStep, OneDeviceMayHaveMoreBytes) {
  auto isShort = [](double devices, double bytes) {
    return steps::isShort({.devices = devices, .instructions = 10, .bytes = bytes});
  };
  EXPECT_TRUE(isShort(2, 128 << 10));
  EXPECT_FALSE(isShort(2, 129 << 10));
  EXPECT_TRUE(isShort(1, 1 << 20));
  EXPECT_FALSE(isShort(1, 1025 << 10));
  EXPECT_FALSE(steps::isShort({.hasLoops = true}));
}

// After one that took long the next is for workers; of one device sooner.
TEST(ShortStep, LongOnesAreLeftToWorkers) {
  ShortSteps one(1), two(2);
  one.took(30'000);
  two.took(30'000);
  EXPECT_FALSE(one.isNext());
  EXPECT_TRUE(one.isNext());
  EXPECT_TRUE(two.isNext());
  two.took(51'000);
  EXPECT_FALSE(two.isNext());
}

} // namespace
} // namespace tessera::runtime
