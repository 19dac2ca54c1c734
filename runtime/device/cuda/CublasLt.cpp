#include "runtime/device/cuda/CublasLt.h"

#include "runtime/device/cuda/LateLibrary.h"

namespace tessera::runtime::device::cuda {

Result<const CublasLt *> CublasLt::open() {
  return openOnce<CublasLt>([](CublasLt &library) { return library.load(); });
}

Status CublasLt::load() {
  void *library = nullptr;
  for (const char *name : {"libcublasLt.so.13", "libcublasLt.so.12"})
    if (!library)
      library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return {Code::Unimplemented, "there is no libcublasLt.so.13 or .12"};
  LateFunctions functions(library);
#define F(name, parameters) functions.find(name, #name);
  TESSERA_CUBLASLT_FUNCTIONS(F)
#undef F
  size_t (*version)() = nullptr;
  functions.find(version, "cublasLtGetVersion");
  if (!functions.missing().empty())
    return {Code::Unimplemented, "libcublasLt lacks " + functions.missing()};
  size_t number = version(); // 130100; of earlier ones 120805
  name_ = "cuBLASLt " + std::to_string(number / 10000) + "." + std::to_string(number / 100 % 100) +
          "." + std::to_string(number % 100);
  return {};
}

} // namespace tessera::runtime::device::cuda
