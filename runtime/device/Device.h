// What the runtime asks of a device: memory, copies from and to the host, queues of commands. A
// back end is one kind of device; one object of it serves all logical devices of a session or
// client, or, where each of these has a GPU of its own, one of them.
//
//   cpu     the host's cores and memory; commands are carried out as they come
//   cuda    a GPU, by NVIDIA's driver
//   shadow  computes like cpu, with memory of its own that the host can't touch and queues that run behind by random delays:
//           finds what assumes a CPU, on any machine
//
// cpu and shadow pass one suite of tests (DeviceTest); cuda is tested by programs (test/gpu). docs/runtime.md says how to add one.
#pragma once

#include "runtime/SharedMemory.h"
#include "runtime/device/Event.h"
#include "runtime/device/Memory.h"
#include "runtime/device/Queue.h"
#include "runtime/pool/Pool.h"
#include <memory>
#include <string_view>
#include <vector>

namespace tessera::runtime {
class LoadedProgram;
}

namespace tessera::runtime::device {

// Thread-safe.
class Backend : public std::enable_shared_from_this<Backend> {
public:
  virtual ~Backend() = default;

  virtual std::string_view name() const = 0;
  // Which of several it is, for messages: " on GPU 1"; "" for the only one.
  virtual std::string where() const { return ""; }

  // Why nothing can be computed on it any more.
  virtual Status health() const { return {}; }

  // Whether its queues can work on the other's memory.
  virtual bool reaches(const Backend &other) const { return name() == other.name(); }

  // Contents are unspecified, 64-byte aligned. Null when there is no memory.
  virtual std::shared_ptr<Memory> allocate(Space space, size_t bytes) = 0;
  // The same as `count` pieces of an array, one for each device; empty when there is no memory.
  virtual std::vector<std::shared_ptr<Memory>> allocateTiles(Space space, size_t bytes,
                                                             size_t count) {
    std::vector<std::shared_ptr<Memory>> tiles;
    while (tiles.size() < count)
      if (tiles.push_back(allocate(space, bytes)); !tiles.back())
        return {};
    return tiles;
  }
  // What the host has at `data` and nobody changes, such as a program's constants: the host's own
  // memory where the device can read that, or else a copy. `owner` keeps it. Sleeps until it is
  // there; null when there is no memory.
  virtual std::shared_ptr<Memory> constant(const void *data, size_t bytes,
                                           std::shared_ptr<const void> /*owner*/) {
    auto memory = allocate(Space::Device, bytes);
    if (memory && !copyFromHost(memory->address(), data, bytes)->wait().ok())
      return nullptr;
    return memory;
  }
  // In bytes, for all logical devices of this process together that it serves.
  virtual uint64_t mostMemory() const = 0;
  // Of which so much is taken, by whomever; 0: nobody knows.
  virtual uint64_t takenMemory() const { return 0; }

  // Copies. They begin at once: what writes the source is over, and the target is in no use. Until
  // the event both sides stay.
  virtual std::shared_ptr<Event> copyToHost(void *to, Address from, size_t bytes) = 0;
  virtual std::shared_ptr<Event> copyFromHost(Address to, const void *from, size_t bytes) = 0;
  virtual std::shared_ptr<Event> copy(Address to, Address from, size_t bytes) = 0;
  // The host's own view of what lies at an address, which spares a copy, or null where it has none.
  // As for copies.
  virtual void *hostView(Address address) const = 0;
  // Where other processes of the machine find what the host has a view of, if anywhere.
  virtual SharedSegment segment() const { return {}; }

  // Makes a program's kernels ready to be launched: what lanes get. Null where launches call the
  // functions of KernelEntry.
  virtual Result<std::shared_ptr<const KernelCode>> load(const LoadedProgram &) {
    return std::shared_ptr<const KernelCode>();
  }
  virtual std::unique_ptr<Queue> makeQueue(const Lane &lane) = 0;
};

} // namespace tessera::runtime::device
