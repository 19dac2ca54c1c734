#include "runtime/device/cuda/CublasLt.h"

#include <dlfcn.h>

namespace tessera::runtime::device::cuda {

Result<const CublasLt *> CublasLt::open() {
  static CublasLt library;
  static const Status status = library.load(); // once, by whoever comes first
  if (!status.ok())
    return status;
  return static_cast<const CublasLt *>(&library);
}

Status CublasLt::load() {
  void *library = nullptr;
  for (const char *name : {"libcublasLt.so.13", "libcublasLt.so.12"})
    if (!library)
      library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return {Code::Unimplemented, "there is no libcublasLt.so.13 or .12"};
  std::string missing;
  auto find = [&](const char *name) {
    void *found = dlsym(library, name);
    if (!found)
      missing = name;
    return found;
  };
#define F(name, parameters) name = reinterpret_cast<decltype(name)>(find(#name));
  TESSERA_CUBLASLT_FUNCTIONS(F)
#undef F
  auto version = reinterpret_cast<size_t (*)()>(find("cublasLtGetVersion"));
  if (!missing.empty())
    return {Code::Unimplemented, "libcublasLt lacks " + missing};
  size_t number = version(); // 130100; of earlier ones 120805
  name_ = "cuBLASLt " + std::to_string(number / 10000) + "." + std::to_string(number / 100 % 100) +
          "." + std::to_string(number % 100);
  return {};
}

} // namespace tessera::runtime::device::cuda
