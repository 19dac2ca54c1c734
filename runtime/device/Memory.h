// Memory of a device, which only its back end can reach.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace tessera::runtime::device {

// A place in a device's memory: 64 bits that are opaque to everybody but the back end that gave
// them. On a GPU, and on `shadow`, the host faults where they point. One may add to an address
// within its memory.
class Address {
public:
  constexpr Address() = default; // nowhere
  explicit operator bool() const { return bits_ != nullptr; }
  bool operator==(const Address &) const = default;
  Address operator+(uint64_t bytes) const {
    return Address(reinterpret_cast<void *>(number() + bytes));
  }

  // For back ends. A table of addresses is a table of pointers to those that compute on the host's
  // cores.
  explicit Address(void *bits) : bits_(bits) {}
  void *bits() const { return bits_; }
  uint64_t number() const { return reinterpret_cast<uintptr_t>(bits_); }

private:
  void *bits_ = nullptr;
};
static_assert(sizeof(Address) == 8);
inline void *const *pointersOf(const Address *table) {
  return reinterpret_cast<void *const *>(table);
}

enum class Space : uint8_t {
  Device, // what kernels and collectives work on
  Host,   // beside the device: copied from and to without a detour
  File,   // on a disk, for what is seldom needed: only copied from and to
};

class Backend;

// Goes back to its back end when nobody holds it any more.
class Memory {
public:
  virtual ~Memory() = default;
  Memory(const Memory &) = delete;
  Memory &operator=(const Memory &) = delete;

  Address address() const { return address_; }
  size_t bytes() const { return bytes_; }
  Space space() const { return space_; }
  Backend &backend() const { return *backend_; }

protected:
  Memory(std::shared_ptr<Backend> backend, Address address, size_t bytes, Space space)
      : backend_(std::move(backend)), address_(address), bytes_(bytes), space_(space) {}

private:
  const std::shared_ptr<Backend> backend_;
  const Address address_;
  const size_t bytes_;
  const Space space_;
};

} // namespace tessera::runtime::device
