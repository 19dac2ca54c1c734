#include "runtime/device/cuda/Driver.h"

#include "runtime/device/cuda/LateLibrary.h"

namespace tessera::runtime::device::cuda {

static constexpr int kVersion = 12000; // the least: PTX 8.0

Result<const Driver *> Driver::open() {
  return openOnce<Driver>([](Driver &driver) { return driver.load(); });
}

Status Driver::load() {
  const std::string mend = ": install NVIDIA's driver, or compile the program with --target=cpu";
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return {Code::Unimplemented,
            std::string("the program is for GPUs, and there is no driver: ") + dlerror() + mend};
  using Find = ResultCode (*)(const char *, void **, int, uint64_t, int *);
  auto find = reinterpret_cast<Find>(dlsym(library, "cuGetProcAddress_v2"));
  if (!find)
    return {Code::Unimplemented, "the driver of the GPUs is older than CUDA 12" + mend};
  // A driver that is only a placeholder says that it succeeded, and gives nothing.
#define F(name, parameters)                                                                        \
  {                                                                                                \
    void *found = nullptr;                                                                         \
    int how = 0;                                                                                   \
    if (find(#name, &found, kVersion, 0, &how) != kSuccess || !found)                              \
      return {Code::Unimplemented, "the driver of the GPUs has no " #name + mend};                 \
    name = reinterpret_cast<decltype(name)>(found);                                                \
  }
  TESSERA_CUDA_FUNCTIONS(F)
#undef F
  if (ResultCode code = cuInit(0); code != kSuccess)
    return {Code::Unimplemented,
            "the program is for GPUs, and the driver finds none (" + nameOf(code) + ")" + mend};
  int version = 0;
  if (cuDriverGetVersion(&version) != kSuccess || version < kVersion)
    return {Code::Unimplemented, "the driver of the GPUs is older than CUDA 12" + mend};
  return {};
}

std::string Driver::nameOf(ResultCode code) const {
  const char *name = nullptr;
  if (code == kGivenUp)
    return "the GPU was given up";
  if (code > kFirstOfLibrary)
    return "cuBLASLt status " + std::to_string(code - kFirstOfLibrary);
  if (cuGetErrorName && cuGetErrorName(code, &name) == kSuccess && name)
    return name;
  return "CUDA error " + std::to_string(code);
}

Status Driver::status(ResultCode code, const std::string &what) const {
  if (code == kSuccess)
    return {};
  return {code == kOutOfMemory ? Code::ResourceExhausted : Code::Internal,
          what + ": " + nameOf(code)};
}

} // namespace tessera::runtime::device::cuda
