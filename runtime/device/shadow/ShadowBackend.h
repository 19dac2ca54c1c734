// A device that computes like the cpu and behaves like one that is not: memory of its own that the
// host cannot touch, full of NaNs when it is new; copies and queues that come late at random.
#pragma once

#include "runtime/device/Device.h"
#include "runtime/device/cpu/BlockPool.h"
#include "runtime/device/shadow/Delays.h"
#include <atomic>
#include <mutex>

namespace tessera::runtime::device {

class ShadowBackend final : public Backend {
public:
  ShadowBackend(std::shared_ptr<Pool> pool, Delays delays, uint64_t memory)
      : pool_(std::move(pool)), delays_(delays), memory_(memory), dice_(delays.seed) {}

  // TESSERA_SHADOW_MEMORY: how many bytes there are; all that the host has without.
  static Result<uint64_t> memoryFromEnvironment();

  std::string_view name() const override { return "shadow"; }
  std::shared_ptr<Memory> allocate(Space space, size_t bytes) override;
  uint64_t mostMemory() const override;
  std::shared_ptr<Event> copyToHost(void *to, Address from, size_t bytes) override;
  std::shared_ptr<Event> copyFromHost(Address to, const void *from, size_t bytes) override;
  std::shared_ptr<Event> copy(Address to, Address from, size_t bytes) override;
  void *hostView(Address) const override { return nullptr; }
  std::unique_ptr<Queue> makeQueue(const Lane &lane) override;

private:
  class Block;
  std::shared_ptr<Event> move(void *to, const void *from, size_t bytes);

  const std::shared_ptr<Pool> pool_;
  const Delays delays_;
  const uint64_t memory_;
  std::atomic<uint64_t> used_{0};
  std::mutex mutex_; // of dice_
  Dice dice_;
  BlockPool blocks_;
};

} // namespace tessera::runtime::device
