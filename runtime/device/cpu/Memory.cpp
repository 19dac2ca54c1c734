#include "runtime/device/cpu/Memory.h"
#include <algorithm>
#include <cstdlib>
#include <new>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

namespace tessera::runtime {

namespace {

constexpr size_t kLine = 64, kHugePage = size_t{2} << 20;

size_t roundedUp(size_t bytes) {
  size_t unit = bytes >= kHugePage ? kHugePage : kLine;
  return (bytes + unit - 1) / unit * unit + (bytes == 0 ? kLine : 0);
}

} // namespace

void *allocateAligned(size_t bytes) {
  size_t rounded = roundedUp(bytes);
  if (rounded < bytes)
    return nullptr;
  void *data = std::aligned_alloc(rounded >= kHugePage ? kHugePage : kLine, rounded);
  if (data && rounded >= kHugePage)
    madvise(data, rounded, MADV_HUGEPAGE);
  return data;
}

void freeAligned(void *data) { std::free(data); }

uint64_t mostMemory() {
  long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
  uint64_t bytes = pages > 0 && size > 0
                       ? static_cast<uint64_t>(pages) * static_cast<uint64_t>(size)
                       : UINT64_MAX;
  rlimit limit; // `ulimit -v`
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    bytes = std::min<uint64_t>(bytes, limit.rlim_cur);
  return bytes;
}

Buffer::~Buffer() { pool_->release(data_, bytes_); }

BufferPool::~BufferPool() {
  for (auto &[bytes, blocks] : free_)
    for (void *data : blocks)
      freeAligned(data);
}

std::shared_ptr<Buffer> BufferPool::allocate(size_t bytes) {
  void *data = nullptr;
  {
    std::lock_guard lock(mutex_);
    auto it = free_.find(bytes);
    if (it != free_.end() && !it->second.empty()) {
      data = it->second.back();
      it->second.pop_back();
    }
  }
  if (!data)
    data = allocateAligned(bytes);
  return data ? std::make_shared<Buffer>(shared_from_this(), data, bytes) : nullptr;
}

void BufferPool::release(void *data, size_t bytes) {
  try {
    std::lock_guard lock(mutex_);
    free_[bytes].push_back(data);
  } catch (const std::bad_alloc &) { // no room to remember it
    freeAligned(data);
  }
}

} // namespace tessera::runtime
