#include "runtime/device/cpu/BlockPool.h"
#include "lib/files/Write.h"
#include "runtime/HostMemory.h"
#include <cstdlib>
#include <fcntl.h>
#include <new>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

namespace tessera::runtime::device {

// What is less goes by messages.
static constexpr size_t kLeastShared = size_t{64} << 10;

BlockPool::~BlockPool() {
  for (auto &[bytes, blocks] : free_)
    for (void *data : blocks)
      free(data);
}

void BlockPool::free(void *data) const {
  if (!shared_ || !shared_->has(data))
    freeAligned(data);
}

void *BlockPool::take(size_t bytes) {
  {
    std::lock_guard lock(mutex_);
    auto it = free_.find(bytes);
    if (it != free_.end() && !it->second.empty()) {
      void *data = it->second.back();
      it->second.pop_back();
      return data;
    }
  }
  void *shared = shared_ && bytes >= kLeastShared ? shared_->take(bytes) : nullptr;
  return shared ? shared : allocateAligned(bytes);
}

void BlockPool::giveBack(void *data, size_t bytes) {
  try {
    std::lock_guard lock(mutex_);
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
