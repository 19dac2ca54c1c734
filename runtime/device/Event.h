// Something that will have happened, once: a copy, a step.
#pragma once

#include "runtime/Status.h"
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace tessera::runtime::device {

// Thread-safe.
class Event {
public:
  // One that has happened already.
  static const std::shared_ptr<Event> &past();

  bool ready() const { return ready_.load(std::memory_order_acquire) != 0; }
  // How it ended; ready only.
  const Status &status() const { return status_; }
  // Sleeps until it is ready. Not on a worker, which may be the one that would make it so.
  const Status &wait();
  // The same until `deadline` (of Pool::now) at most: whether it is ready.
  bool waitUntil(int64_t deadline);
  // Runs `action` when it is ready: now, or on the thread that signals it, where it must be short
  // (pushing a task).
  void then(std::function<void()> action);

  // Once, by whoever makes it.
  void signal(Status status = {});

private:
  std::atomic<uint32_t> ready_{0};
  Status status_;
  std::mutex mutex_; // of actions_
  std::vector<std::function<void()>> actions_;
};

} // namespace tessera::runtime::device
