// One execution in flight: who is still running, and what went wrong.
#pragma once

#include "runtime/Status.h"
#include "runtime/pool/Pool.h"
#include <atomic>
#include <functional>
#include <mutex>

namespace tessera::runtime {

// A device (or a timer that will wake one) is active from when it is made ready until it has parked
// or ended. When nothing is active any more, all devices have ended, or one has failed, or those
// that are left wait for each other in vain: then the run fails with `describeStall`, and they end.
// After that the last to retire calls `over`, once, and nobody touches the run any more.
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
  // For whoever is no active device or timer: like hold, unless the run is over.
  bool tryHold();
  // The same as fail for such a caller.
  bool failFromOutside(Status status);
  bool failed() const { return failed_.load(std::memory_order_relaxed); }
  Status status();

  // Of the owner; set before the first run.
  std::function<void()> wakeAll;
  std::function<Status()> describeStall;
  std::function<void()> over;
  Pool &pool() const { return pool_; }

private:
  Pool &pool_;
  alignas(64) std::atomic<int32_t> active_{0};
  std::atomic<int32_t> ended_{0};
  int32_t devices_ = 0;
  alignas(64) std::atomic<bool> failed_{false};
  std::mutex mutex_;
  Status status_;
};

} // namespace tessera::runtime
