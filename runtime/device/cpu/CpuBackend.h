// The host's cores and memory as devices.
#pragma once

#include "runtime/device/Device.h"
#include "runtime/device/cpu/BlockPool.h"

namespace tessera::runtime::device {

class CpuBackend final : public Backend {
public:
  // `shared`: of which it has its large blocks, or null.
  explicit CpuBackend(std::shared_ptr<SharedMemory> shared = nullptr)
      : blocks_(std::move(shared)) {}

  std::string_view name() const override { return "cpu"; }
  std::shared_ptr<Memory> allocate(Space space, size_t bytes) override;
  std::shared_ptr<Memory> constant(const void *data, size_t bytes,
                                   std::shared_ptr<const void> owner) override;
  uint64_t mostMemory() const override;
  std::shared_ptr<Event> copyToHost(void *to, Address from, size_t bytes) override;
  std::shared_ptr<Event> copyFromHost(Address to, const void *from, size_t bytes) override;
  std::shared_ptr<Event> copy(Address to, Address from, size_t bytes) override;
  void *hostView(Address address) const override { return address.bits(); }
  SharedSegment segment() const override {
    return blocks_.shared() ? blocks_.shared()->segment() : SharedSegment();
  }
  std::unique_ptr<Queue> makeQueue(const Lane &lane) override;

private:
  class Block;

  BlockPool blocks_;
};

} // namespace tessera::runtime::device
