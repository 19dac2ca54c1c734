#include "test/gpu/emulator/HostMemory.h"

#include <cstdlib>
#include <cstring>

namespace tessera::emulator {

static constexpr size_t kMostKept = 64 << 20, kPage = 4096;
static constexpr int kNobodys = 0xff; // NaN in floats

static uint64_t numberOf(const void *memory) { return reinterpret_cast<uint64_t>(memory); }

void *HostMemory::allocate(size_t bytes) {
  void *memory = std::aligned_alloc(kPage, (bytes + kPage - 1) / kPage * kPage);
  if (!memory)
    return nullptr;
  std::memset(memory, kNobodys, bytes);
  taken_[numberOf(memory)] = bytes;
  return memory;
}

bool HostMemory::release(void *memory) {
  auto block = taken_.extract(numberOf(memory));
  if (!block)
    return false;
  std::memset(memory, kNobodys, block.mapped());
  kept_ += block.mapped();
  oldest_.push_back(block.key());
  givenBack_.insert(std::move(block));
  for (; kept_ > kMostKept; oldest_.pop_front()) {
    auto first = givenBack_.extract(oldest_.front());
    kept_ -= first.mapped();
    std::free(reinterpret_cast<void *>(first.key()));
  }
  return true;
}

bool HostMemory::isGivenBack(uint64_t address, size_t bytes) const {
  auto next = givenBack_.lower_bound(address + bytes);
  if (next == givenBack_.begin())
    return false;
  auto last = std::prev(next);
  return last->first + last->second > address;
}

} // namespace tessera::emulator
