// What one device holds: dense elements of a type, made from and read to the host.
#pragma once

#include "runtime/array/ElementType.h"
#include "runtime/array/Layout.h"
#include "runtime/client/Client.h"
#include <memory>
#include <vector>

namespace tessera::runtime {

// One thread at a time. Several buffers may hold the same memory (share): it is counted, and a step
// that takes over what another one holds works on a copy.
class Buffer {
public:
  using Dims = std::vector<int64_t>;

  // Copies `data`, which must stay as it is until `*copied`, where that is asked for; otherwise
  // until the function returns.
  static Result<std::unique_ptr<Buffer>> fromHost(std::shared_ptr<Client> client, uint32_t device,
                                                  ElementType type, Dims dims, const void *data,
                                                  std::shared_ptr<device::Event> *copied);
  // Of `memory`, which has its contents once `ready` has happened.
  Buffer(std::shared_ptr<Client> client, uint32_t device, ElementType type, Dims dims,
         std::shared_ptr<device::Memory> memory, std::shared_ptr<device::Event> ready)
      : client_(std::move(client)), device_(device), type_(type), dims_(std::move(dims)),
        memory_(std::move(memory)), ready_(std::move(ready)) {}

  const std::shared_ptr<Client> &client() const { return client_; }
  uint32_t device() const { return device_; } // among those of this process
  ElementType type() const { return type_; }
  const Dims &dims() const { return dims_; }
  size_t bytes() const { return static_cast<size_t>(elementCount(dims_) * byteSize(type_)); }
  const std::shared_ptr<device::Event> &ready() const { return ready_; }

  // False once a step has taken it over.
  bool isValid() const { return memory_ != nullptr; }
  const std::shared_ptr<device::Memory> &memory() const { return memory_; }
  std::shared_ptr<device::Memory> take() { return std::move(memory_); }
  // Another one of the same contents.
  std::unique_ptr<Buffer> share() const { return std::make_unique<Buffer>(*this); }

  // Writes bytes() to `data` once it is ready: both stay until the event, which fails when what
  // should have made the contents did.
  std::shared_ptr<device::Event> toHost(void *data) const;

private:
  std::shared_ptr<Client> client_;
  uint32_t device_;
  ElementType type_;
  Dims dims_;
  std::shared_ptr<device::Memory> memory_;
  std::shared_ptr<device::Event> ready_;
};

} // namespace tessera::runtime
