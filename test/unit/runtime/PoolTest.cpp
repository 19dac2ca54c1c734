// Tasks of the pool and lists of them.
#include "runtime/pool/Run.h"
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

} // namespace
} // namespace tessera::runtime
