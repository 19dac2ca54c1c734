// Memory for the temporaries of a step, on each device of this process: the device's own, the host's
// beside it, and a file.
#pragma once

#include "runtime/client/Executable.h"
#include <array>
#include <mutex>
#include <span>

namespace tessera::runtime {

// Shared by calls of which only one executes at a time: a second one fails to start, or waits.
// Thread-safe.
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

  // The arena is in use until `done`: false where it is in use already.
  bool tryAcquire(const std::shared_ptr<device::Event> &done);
  // The same for whoever waits for the event that it gets, of those who were first.
  std::shared_ptr<device::Event> enqueue(const std::shared_ptr<device::Event> &done);
  // Nothing runs on it any more, though `done` has not been signalled yet.
  void release(const std::shared_ptr<device::Event> &done);

private:
  Arena() = default;

  std::vector<std::array<std::shared_ptr<device::Memory>, 3>> memory_; // by device and space
  std::mutex mutex_;                                                   // of last_
  std::shared_ptr<device::Event> last_ = device::Event::past();
};

} // namespace tessera::runtime
