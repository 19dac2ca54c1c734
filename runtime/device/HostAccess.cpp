#include "runtime/device/HostAccess.h"
#include "runtime/HostMemory.h"

namespace tessera::runtime::device {

static Status noMemory(size_t bytes) {
  return {Code::ResourceExhausted,
          "no memory for a copy of " + std::to_string(bytes) + " bytes on the host"};
}

Result<std::shared_ptr<const void>> readable(const std::shared_ptr<Memory> &memory) {
  Backend &backend = memory->backend();
  if (const void *view = backend.hostView(memory->address()))
    return std::shared_ptr<const void>(memory, view);
  std::shared_ptr<void> copy(allocateAligned(memory->bytes()), freeAligned);
  if (!copy)
    return noMemory(memory->bytes());
  auto event = backend.copyToHost(copy.get(), memory->address(), memory->bytes());
  if (!event->wait().ok())
    return event->status();
  return std::shared_ptr<const void>(std::move(copy));
}

Status writeWhole(const std::shared_ptr<Memory> &memory, const std::function<void(void *)> &fill) {
  Backend &backend = memory->backend();
  if (void *view = backend.hostView(memory->address())) {
    fill(view);
    return {};
  }
  std::unique_ptr<void, void (*)(void *)> copy(allocateAligned(memory->bytes()), freeAligned);
  if (!copy)
    return noMemory(memory->bytes());
  fill(copy.get());
  auto event = backend.copyFromHost(memory->address(), copy.get(), memory->bytes());
  return event->wait();
}

} // namespace tessera::runtime::device
