#include "runtime/device/cpu/CpuBackend.h"
#include "runtime/HostMemory.h"
#include "runtime/device/cpu/CpuQueue.h"
#include <cstring>

namespace tessera::runtime::device {

namespace {

class MappedFile final : public Memory {
public:
  MappedFile(std::shared_ptr<Backend> backend, void *data, size_t bytes)
      : Memory(std::move(backend), Address(data), bytes, Space::File) {}
  ~MappedFile() override { unmapFile(address().bits(), bytes()); }
};

class Borrowed final : public Memory {
public:
  Borrowed(std::shared_ptr<Backend> backend, const void *data, size_t bytes,
           std::shared_ptr<const void> owner)
      : Memory(std::move(backend), Address(const_cast<void *>(data)), bytes, Space::Device),
        owner_(std::move(owner)) {}

private:
  std::shared_ptr<const void> owner_;
};

} // namespace

class CpuBackend::Block final : public Memory {
public:
  Block(std::shared_ptr<CpuBackend> backend, void *data, size_t bytes, Space space)
      : Memory(backend, Address(data), bytes, space) {}
  ~Block() override {
    static_cast<CpuBackend &>(backend()).blocks_.giveBack(address().bits(), bytes());
  }
};

std::shared_ptr<Memory> CpuBackend::allocate(Space space, size_t bytes) {
  if (space == Space::File) {
    void *data = mapFile(bytes);
    return data ? std::make_shared<MappedFile>(shared_from_this(), data, bytes) : nullptr;
  }
  void *data = blocks_.take(bytes);
  if (!data)
    return nullptr;
  return std::make_shared<Block>(std::static_pointer_cast<CpuBackend>(shared_from_this()), data,
                                 bytes, space);
}

std::shared_ptr<Memory> CpuBackend::constant(const void *data, size_t bytes,
                                             std::shared_ptr<const void> owner) {
  return std::make_shared<Borrowed>(shared_from_this(), data, bytes, std::move(owner));
}

uint64_t CpuBackend::mostMemory() const { return runtime::mostMemory(); }

std::shared_ptr<Event> CpuBackend::copyToHost(void *to, Address from, size_t bytes) {
  std::memcpy(to, from.bits(), bytes);
  return Event::past();
}

std::shared_ptr<Event> CpuBackend::copyFromHost(Address to, const void *from, size_t bytes) {
  std::memcpy(to.bits(), from, bytes);
  return Event::past();
}

std::shared_ptr<Event> CpuBackend::copy(Address to, Address from, size_t bytes) {
  std::memmove(to.bits(), from.bits(), bytes);
  return Event::past();
}

std::unique_ptr<Queue> CpuBackend::makeQueue(const Lane &lane) {
  return std::make_unique<CpuQueue>(lane);
}

} // namespace tessera::runtime::device
