// The host's cores and memory as devices.
#pragma once

#include "runtime/device/Device.h"
#include "runtime/device/cpu/BlockPool.h"

namespace tessera::runtime::device {

class CpuBackend final : public Backend {
public:
  std::string_view name() const override { return "cpu"; }
  std::shared_ptr<Memory> allocate(Space space, size_t bytes) override;
  std::shared_ptr<Memory> constant(const void *data, size_t bytes,
                                   std::shared_ptr<const void> owner) override;
  uint64_t mostMemory() const override;
  std::shared_ptr<Event> copyToHost(void *to, Address from, size_t bytes) override;
  std::shared_ptr<Event> copyFromHost(Address to, const void *from, size_t bytes) override;
  std::shared_ptr<Event> copy(Address to, Address from, size_t bytes) override;
  void *hostView(Address address) const override { return address.bits(); }
  std::unique_ptr<Queue> makeQueue(const Lane &lane) override;

private:
  class Block;

  BlockPool blocks_;
};

} // namespace tessera::runtime::device
