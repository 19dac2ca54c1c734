// One execution in flight: who is still running, and what went wrong.
#pragma once

#include "runtime/Status.h"
#include "runtime/pool/Pool.h"
#include <atomic>
#include <functional>
#include <mutex>

namespace tessera::runtime {

// A device (or a timer that will wake one) is active from when it is made ready until it has parked
// or ended. When nothing is active any more, the run is over: all devices ended, or one failed, or
// those that are left wait for each other in vain. The last to retire tells the caller, so nothing
// that a run uses goes away under a worker.
class Run {
public:
  explicit Run(Pool &pool) : pool_(pool) {}

  void begin(int32_t devices);
  // Makes parked tasks ready: a list linked by `next`.
  void wake(Task *chain);
  // An activity of its own, such as a timer.
  void hold() { active_.fetch_add(1, std::memory_order_relaxed); }
  void retire();
  void deviceEnded() { ended_.fetch_add(1, std::memory_order_relaxed); }

  // The first failure counts: whether this is it. `wakeAll` of begin's owner wakes whoever is
  // parked, so that all devices end.
  bool fail(Status status);
  // The same for a caller that is no active device or timer: keeps the run from ending while it
  // wakes devices.
  bool failFromOutside(Status status);
  bool failed() const { return failed_.load(std::memory_order_relaxed); }
  Status status();

  enum class End {
    Done,    // every device ended, or the run failed
    Stalled, // devices wait in vain
    TooLate, // something is still active
  };
  // Sleeps until nothing is active, or until `deadline` (of Pool::now).
  End wait(int64_t deadline = INT64_MAX);

  std::function<void()> wakeAll;
  Pool &pool() const { return pool_; }

private:
  Pool &pool_;
  alignas(64) std::atomic<int32_t> active_{0};
  std::atomic<int32_t> ended_{0};
  int32_t devices_ = 0;
  alignas(64) std::atomic<bool> failed_{false};
  std::atomic<uint32_t> over_{0};
  std::mutex mutex_;
  Status status_;
};

} // namespace tessera::runtime
