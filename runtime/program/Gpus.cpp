#include "runtime/program/Gpus.h"

#include <dlfcn.h>

namespace tessera::runtime {

static bool findGpu() {
  void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL); // stays, as it is used then
  if (!driver)
    return false;
  auto begin = reinterpret_cast<int (*)(unsigned)>(dlsym(driver, "cuInit"));
  auto count = reinterpret_cast<int (*)(int *)>(dlsym(driver, "cuDeviceGetCount"));
  int gpus = 0;
  return begin && count && begin(0) == 0 && count(&gpus) == 0 && gpus > 0;
}

bool hasGpu() {
  static const bool found = findGpu();
  return found;
}

} // namespace tessera::runtime
