// Memory for the temporaries of a step, on each device of this process: the device's own, the host's
// beside it, and a file.
#pragma once

#include "runtime/client/Executable.h"
#include <array>
#include <atomic>
#include <span>

namespace tessera::runtime {

// Shared by calls of which only one executes at a time: a second one fails to start. Thread-safe.
class Arena {
public:
  // Large enough for each of the executables; they are of one client.
  static Result<std::shared_ptr<Arena>>
  make(std::span<const std::shared_ptr<const Executable>> executables);

  // Whether it has what the executable needs.
  bool isEnoughFor(const Executable &executable) const;
  std::string describe() const; // "4096 bytes on 2 devices"
  // Null where no executable has bytes in the space.
  const std::shared_ptr<device::Memory> &memory(size_t device, device::Space space) const {
    return memory_[device][static_cast<size_t>(space)];
  }

  bool tryAcquire() { return !busy_.exchange(true, std::memory_order_acquire); }
  void release() { busy_.store(false, std::memory_order_release); }

private:
  Arena() = default;

  std::vector<std::array<std::shared_ptr<device::Memory>, 3>> memory_; // by device and space
  std::atomic<bool> busy_{false};
};

} // namespace tessera::runtime
