#include "lib/target/HostCaches.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"

#include <algorithm>
#include <string>
#include <unistd.h>

namespace tessera::target {

unsigned countOfList(llvm::StringRef list) {
  unsigned count = 0;
  for (llvm::StringRef range : llvm::split(list, ',')) {
    auto [first, last] = range.split('-');
    unsigned begin, end;
    if (first.getAsInteger(10, begin) || (last.empty() ? first : last).getAsInteger(10, end))
      return 0;
    count += end < begin ? 0 : end - begin + 1;
  }
  return count;
}

// Of some processors sysconf has the sum of several such caches.
static double sharedBytesOfCore() {
  auto read = [](const char *name) {
    std::string path = std::string("/sys/devices/system/cpu/cpu0/cache/index3/") + name;
    auto file = llvm::MemoryBuffer::getFileAsStream(path);
    return file ? (*file)->getBuffer().trim().str() : std::string();
  };
  unsigned long long kilobytes;
  unsigned cores = countOfList(read("shared_cpu_list"));
  if (!cores || llvm::StringRef(read("size")).rtrim('K').getAsInteger(10, kilobytes))
    return 0;
  return 1024.0 * double(kilobytes) / cores;
}

Caches hostCaches() {
  auto bytes = [](int name) { return std::max(0.0, double(sysconf(name))); };
  return {bytes(_SC_LEVEL1_DCACHE_SIZE), bytes(_SC_LEVEL2_CACHE_SIZE), sharedBytesOfCore()};
}

} // namespace tessera::target
