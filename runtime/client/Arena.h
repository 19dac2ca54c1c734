// Memory for the temporaries of a step, on each device of this process.
#pragma once

#include "runtime/client/Executable.h"
#include <atomic>
#include <span>

namespace tessera::runtime {

// Shared by calls of which only one executes at a time: a second one fails to start. Thread-safe.
class Arena {
public:
  // Large enough for each of the executables; they are of one client.
  static Result<std::shared_ptr<Arena>>
  make(std::span<const std::shared_ptr<const Executable>> executables);

  size_t devices() const { return memory_.size(); }
  uint64_t bytes() const { return bytes_; } // on each device
  const std::shared_ptr<device::Memory> &memory(size_t device) const { return memory_[device]; }

  bool tryAcquire() { return !busy_.exchange(true, std::memory_order_acquire); }
  void release() { busy_.store(false, std::memory_order_release); }

private:
  Arena() = default;

  uint64_t bytes_ = 0;
  std::vector<std::shared_ptr<device::Memory>> memory_;
  std::atomic<bool> busy_{false};
};

} // namespace tessera::runtime
