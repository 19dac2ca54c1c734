#include "runtime/HostMemory.h"
#include <algorithm>
#include <cstdlib>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

namespace tessera::runtime {

namespace {

size_t roundedUp(size_t bytes) {
  return roundUp(bytes ? bytes : 1, bytes >= kHugePage ? kHugePage : kCacheLine);
}

} // namespace

void *allocateAligned(size_t bytes) {
  size_t rounded = roundedUp(bytes);
  if (rounded < bytes)
    return nullptr;
  void *data = std::aligned_alloc(rounded >= kHugePage ? kHugePage : kCacheLine, rounded);
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

} // namespace tessera::runtime
