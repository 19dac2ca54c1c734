#include "runtime/SharedMemory.h"
#include "runtime/HostMemory.h"
#include <fcntl.h>
#include <string>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tessera::runtime {

namespace {

bool isAddressSpaceShort() {
  rlimit limit;
  return getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur != RLIM_INFINITY;
}

// On whole huge pages; null where that is not possible.
char *mapFrom(int file, size_t bytes) {
  size_t room = bytes + kHugePage;
  void *reserved =
      mmap(nullptr, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reserved == MAP_FAILED)
    return nullptr;
  auto first = reinterpret_cast<uintptr_t>(reserved), begin = roundUp(first, kHugePage);
  auto *wanted = reinterpret_cast<void *>(begin);
  void *data =
      mmap(wanted, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE, file, 0);
  if (data == MAP_FAILED) {
    munmap(reserved, room);
    return nullptr;
  }
  if (begin > first)
    munmap(reserved, begin - first);
  munmap(static_cast<char *>(data) + bytes, first + room - begin - bytes);
  madvise(data, bytes, MADV_HUGEPAGE);
  return static_cast<char *>(data);
}

} // namespace

std::shared_ptr<SharedMemory> SharedMemory::make(size_t bytes) {
  bytes &= ~(kHugePage - 1);
  if (!bytes || isAddressSpaceShort())
    return nullptr;
  int file = memfd_create("tessera-memory", MFD_CLOEXEC);
  if (file < 0)
    return nullptr;
  struct stat made = {};
  bool isThere = ftruncate(file, static_cast<off_t>(bytes)) == 0 && fstat(file, &made) == 0;
  char *data = isThere ? mapFrom(file, bytes) : nullptr;
  if (!data) {
    close(file);
    return nullptr;
  }
  std::shared_ptr<SharedMemory> memory(new SharedMemory());
  memory->segment_ = {static_cast<uint64_t>(file), made.st_ino, reinterpret_cast<uint64_t>(data),
                      bytes};
  return memory;
}

SharedMemory::~SharedMemory() {
  munmap(reinterpret_cast<void *>(segment_.base), segment_.bytes);
  close(static_cast<int>(segment_.file));
}

void *SharedMemory::take(size_t bytes) {
  if (bytes > segment_.bytes)
    return nullptr;
  size_t unit = bytes >= kHugePage ? kHugePage : kCacheLine;
  size_t size = roundUp(bytes ? bytes : 1, unit);
  std::lock_guard lock(mutex_);
  size_t begin = roundUp(taken_, unit);
  if (begin > segment_.bytes || size > segment_.bytes - begin)
    return nullptr;
  taken_ = begin + size;
  return reinterpret_cast<void *>(segment_.base + begin);
}

bool SharedMemory::has(const void *data) const {
  return reinterpret_cast<uint64_t>(data) - segment_.base < segment_.bytes;
}

std::unique_ptr<SharedView> SharedView::map(int64_t process, const SharedSegment &segment) {
  std::string name = "/proc/" + std::to_string(process) + "/fd/" + std::to_string(segment.file);
  int file = open(name.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0)
    return nullptr;
  struct stat found;
  bool isIt = fstat(file, &found) == 0 && found.st_ino == segment.number &&
              static_cast<uint64_t>(found.st_size) == segment.bytes;
  char *data = isIt && segment.bytes ? mapFrom(file, segment.bytes) : nullptr;
  close(file);
  return data ? std::unique_ptr<SharedView>(new SharedView(segment, data)) : nullptr;
}

SharedView::~SharedView() { munmap(data_, segment_.bytes); }

char *SharedView::at(uint64_t address, uint64_t bytes) const {
  uint64_t offset = address - segment_.base;
  return offset < segment_.bytes && bytes <= segment_.bytes - offset ? data_ + offset : nullptr;
}

} // namespace tessera::runtime
