#include "runtime/client/Buffer.h"

namespace tessera::runtime {

Result<std::unique_ptr<Buffer>> Buffer::fromHost(std::shared_ptr<Client> client, uint32_t device,
                                                 ElementType type, Dims dims, const void *data,
                                                 std::shared_ptr<device::Event> *copied) {
  auto bytes = static_cast<size_t>(elementCount(dims) * byteSize(type));
  if (Status s = client->checkDevice(device); !s.ok())
    return s;
  device::Backend &backend = client->backend(device);
  auto memory = backend.allocate(device::Space::Device, bytes);
  if (!memory)
    return Status(Code::ResourceExhausted,
                  "no memory for a buffer of " + std::to_string(bytes) + " bytes");
  auto ready = backend.copyFromHost(memory->address(), data, bytes);
  if (copied)
    *copied = ready;
  else if (const Status &status = ready->wait(); !status.ok())
    return status;
  // Whoever frees the buffer early does not take the memory from the copy.
  ready->then([memory] {});
  return std::make_unique<Buffer>(std::move(client), device, type, std::move(dims),
                                  std::move(memory), std::move(ready));
}

std::shared_ptr<device::Event> Buffer::toHost(void *data) const {
  auto done = std::make_shared<device::Event>();
  ready_->then([done, data, ready = ready_, memory = memory_] {
    if (!ready->status().ok())
      return done->signal(ready->status());
    auto copy = memory->backend().copyToHost(data, memory->address(), memory->bytes());
    copy->then([done, memory, raw = copy.get()] { done->signal(raw->status()); });
  });
  return done;
}

} // namespace tessera::runtime
