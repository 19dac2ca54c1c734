// The workers that run devices: by default one pinned thread a core, shared by all sessions of the
// process that ask for the same number.
//
// A Task is run until it parks; whoever makes it ready pushes it again. A Job is a range of cells
// (a kernel's grid, the parts of a collective) that its worker opens and that idle workers take
// chunks of: whoever runs a cell, the result is the same. A worker without work polls for some
// microseconds, then sleeps on a futex.
#pragma once

#include "runtime/Status.h"
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <sys/types.h>
#include <thread>
#include <vector>

namespace tessera::runtime {

class Pool;
class Worker;

// Runs cells [begin, end); 0 or an error code. `worker` is the one that calls.
using JobFunction = int32_t (*)(void *context, Worker &worker, uint32_t begin, uint32_t end);

class Task {
public:
  virtual ~Task() = default;
  // Called on one worker at a time. Once it is parked where another may push it, it must not touch
  // itself.
  virtual void run(Worker &worker) = 0;

  Task *next = nullptr; // in whatever list holds it; null while it runs
  uint32_t home = 0;    // the worker whose queue it goes to
};

// Fires on a worker at a time of the steady clock. The caller keeps it until then.
struct Timer {
  int64_t deadline; // nanoseconds
  void (*fire)(Timer *);
  void *context;
};

class alignas(64) Worker {
public:
  Worker(Pool &pool, uint32_t index) : pool_(pool), index_(index) {}
  ~Worker();

  uint32_t index() const { return index_; }
  Pool &pool() const { return pool_; }

  // Scratch of at least `bytes` that lasts until the next call; null when there is no memory.
  void *scratch(size_t bytes) { return bytes <= scratchBytes_ ? scratch_ : growScratch(bytes); }

  // Runs all cells of [0, total), in chunks that idle workers take too; or some of them, where one
  // gives an error code, which it returns. `wakes`: sleeping workers are worth waking for it. Not
  // reentrant.
  int32_t runJob(JobFunction function, void *context, uint32_t total, uint32_t chunk, bool wakes);

private:
  friend class Pool;
  friend class Guest;

  // The worker that this thread is a guest as, and whose queue gets all that it makes ready.
  static thread_local Worker *guest;

  void main();
  bool sleepOnce();
  Task *pop();
  void push(Task *first, Task *last, uint32_t count);
  bool help();
  void *growScratch(size_t bytes);

  Pool &pool_;
  const uint32_t index_;
  void *scratch_ = nullptr;
  size_t scratchBytes_ = 0;
  std::thread thread_;

  // The queue: a list under a spin lock; `queued_` is read without it.
  alignas(64) std::atomic_flag lock_;
  std::atomic<uint32_t> queued_{0};
  Task *head_ = nullptr, *tail_ = nullptr;

  // The open job. `claim_` is (epoch, next cell): a helper reads the fields, then claims by
  // compare-exchange; success means that the epoch, and so the fields, are the ones it read.
  alignas(64) std::atomic<uint64_t> claim_{0};
  std::atomic<JobFunction> function_{nullptr};
  std::atomic<void *> context_{nullptr};
  std::atomic<uint32_t> total_{0}, chunk_{1};
  alignas(64) std::atomic<uint32_t> finished_{0};
  std::atomic<int32_t> error_{0};

  alignas(64) std::atomic<uint32_t> asleep_{0}; // the futex: 1 while the worker sleeps
};

class Pool {
public:
  static constexpr uint32_t kMostWorkers = 1024;

  // The process's pool of `workers` threads; 0 means TESSERA_WORKERS, or else one a core that the
  // process may use. Fails when there are too many, or no room for them.
  static Result<std::shared_ptr<Pool>> shared(uint32_t workers);
  static Result<uint32_t> defaultSize();
  ~Pool();

  // False in the child of a fork: threads stay with the parent, so nothing can run there.
  bool isHere() const;

  uint32_t size() const { return static_cast<uint32_t>(workers_.size()); }

  // Whether a worker has had nothing to do for some time, so that a core is free.
  bool hasSleeper() const { return sleepers_.load(std::memory_order_relaxed) != 0; }

  // Makes tasks ready: a list linked by `next`, null-terminated. What a guest makes ready is its own.
  void push(Task *chain);
  void add(Timer *timer);
  // Fires what is due. Workers do it between tasks; a task that keeps one busy without end calls it.
  void fireTimers();
  static int64_t now(); // steady clock, nanoseconds

private:
  friend class Worker;

  Pool(uint32_t workers, int64_t pollNanoseconds);
  Status start();
  bool wakeOne(uint32_t preferred);

  std::vector<std::unique_ptr<Worker>> workers_;
  std::atomic<bool> stop_{false};
  alignas(64) std::atomic<uint32_t> sleepers_{0};
  std::atomic<int64_t> nextDeadline_{INT64_MAX};
  std::mutex timerMutex_;
  std::vector<Timer *> timers_; // heap, earliest first
  int64_t pollNanoseconds_;
  pid_t process_; // that has the threads
};

} // namespace tessera::runtime
