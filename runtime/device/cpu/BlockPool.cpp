#include "runtime/device/cpu/BlockPool.h"
#include "lib/files/Write.h"
#include "runtime/HostMemory.h"
#include <algorithm>
#include <cstdlib>
#include <fcntl.h>
#include <functional>
#include <new>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

namespace tessera::runtime::device {

// What is less goes by messages.
static constexpr size_t kLeastShared = size_t{64} << 10;

// Pages of a slab that no block reaches take no memory.
static constexpr size_t kSlab = 8 * kHugePage;

// AddressSanitizer sees what is written behind a block only where each is an allocation of its own.
#if defined(__SANITIZE_ADDRESS__)
static constexpr bool kLieBeside = false;
#else
static constexpr bool kLieBeside = true;
#endif

BlockPool::~BlockPool() {
  for (auto &[bytes, blocks] : free_)
    for (void *data : blocks)
      free(data);
  for (std::byte *slab : slabs_)
    freeAligned(slab);
}

// What lies on a slab, or is shared, goes with that.
void BlockPool::free(void *data) const {
  auto isOn = [at = static_cast<std::byte *>(data)](std::byte *slab) {
    return !std::less<>()(at, slab) && std::less<>()(at, slab + kSlab);
  };
  if (!(shared_ && shared_->has(data)) && std::none_of(slabs_.begin(), slabs_.end(), isOn))
    freeAligned(data);
}

void *BlockPool::take(size_t bytes) {
  if (void *kept = takeKept(bytes))
    return kept;
  if (void *data = shared_ && bytes >= kLeastShared ? shared_->take(bytes) : nullptr)
    return data;
  void *data = kLieBeside && bytes < kHugePage ? takeBeside(bytes) : nullptr;
  return data ? data : allocateAligned(bytes);
}

void *BlockPool::takeKept(size_t bytes) {
  std::lock_guard lock(mutex_);
  auto it = free_.find(bytes);
  if (it == free_.end() || it->second.empty())
    return nullptr;
  void *data = it->second.back();
  it->second.pop_back();
  return data;
}

// Null where there is no memory for a slab. A cache line lies between blocks: those of a power of two
// would begin in the same sets of the caches otherwise.
void *BlockPool::takeBeside(size_t bytes) {
  size_t whole = roundUp(bytes, kCacheLine) + kCacheLine;
  std::lock_guard lock(mutex_);
  if (left_ < whole) {
    void *slab = allocateAligned(kSlab);
    if (!slab)
      return nullptr;
    try {
      slabs_.push_back(static_cast<std::byte *>(slab));
    } catch (const std::bad_alloc &) { // no room to remember it
      freeAligned(slab);
      return nullptr;
    }
    left_ = kSlab;
  }
  left_ -= whole;
  return slabs_.back() + left_;
}

void BlockPool::giveBack(void *data, size_t bytes) {
  std::lock_guard lock(mutex_);
  try {
    free_[bytes].push_back(data);
  } catch (const std::bad_alloc &) { // no room to remember it
    free(data);
  }
}

namespace {

size_t mappedBytes(size_t bytes) { return bytes ? bytes : 1; }

} // namespace

void *mapFile(size_t bytes) {
  const char *directory = std::getenv("TMPDIR");
  std::string name = std::string(directory && *directory ? directory : "/tmp") + "/tessera-XXXXXX";
  int file = mkostemp(name.data(), O_CLOEXEC);
  if (file < 0)
    return nullptr;
  unlink(name.c_str());
  void *data = MAP_FAILED;
  // Blocks are taken now: what is missing later would end the process.
  files::SizeLimitIsAnError here;
  if (posix_fallocate(file, 0, static_cast<off_t>(mappedBytes(bytes))) == 0)
    data = mmap(nullptr, mappedBytes(bytes), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  return data == MAP_FAILED ? nullptr : data;
}

void unmapFile(void *data, size_t bytes) { munmap(data, mappedBytes(bytes)); }

} // namespace tessera::runtime::device
