#include "runtime/device/shadow/Translation.h"
#include <mutex>

namespace tessera::runtime::device {

static constexpr uint64_t kBit = uint64_t{1} << 62;

Translation &Translation::ofProcess() {
  static auto &translation = *new Translation;
  return translation;
}

Address Translation::add(void *data, size_t bytes) {
  Address address = Address(data) + kBit;
  std::lock_guard lock(mutex_);
  blocks_[address.number()] = bytes;
  return address;
}

void *Translation::remove(Address address) {
  std::lock_guard lock(mutex_);
  blocks_.erase(address.number());
  return reinterpret_cast<void *>(address.number() - kBit);
}

void *Translation::translate(Address address) const {
  std::shared_lock lock(mutex_);
  auto after = blocks_.upper_bound(address.number());
  if (after == blocks_.begin())
    return nullptr;
  auto block = std::prev(after);
  if (address.number() - block->first > block->second)
    return nullptr;
  return reinterpret_cast<void *>(address.number() - kBit);
}

} // namespace tessera::runtime::device
