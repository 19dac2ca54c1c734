#include "runtime/comm/nccl/NcclLibrary.h"

#include "runtime/device/cuda/LateLibrary.h"

namespace tessera::runtime::nccl {

static constexpr int kVersion = 20700; // the least: messages between two ranks

Result<const Library *> Library::open() {
  return device::cuda::openOnce<Library>([](Library &library) { return library.load(); });
}

Status Library::load() {
  const std::string mend = ": install NCCL (libnccl2), or run with --comm=mpi";
  void *library = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return {Code::Unimplemented, std::string("communicator 'nccl': ") + dlerror() + mend};
  device::cuda::LateFunctions optional(library), needed(library);
#define F(name, parameters) optional.find(name, #name);
  TESSERA_NCCL_OPTIONAL_FUNCTIONS(F)
#undef F
#define F(name, parameters) needed.find(name, #name);
  TESSERA_NCCL_FUNCTIONS(F)
#undef F
  needed.find(ncclGetErrorString, "ncclGetErrorString");
  std::string missing = needed.missing();
  int version = 0;
  if (missing.empty() && (ncclGetVersion(&version) != kSuccess || version < kVersion))
    missing = "messages between two ranks (version 2.7)";
  if (!missing.empty())
    return {Code::Unimplemented, "communicator 'nccl': the library lacks " + missing + mend};
  return {};
}

Status Library::status(ResultCode code, const std::string &what) const {
  if (code == kSuccess || code == kInProgress)
    return {};
  return {Code::Unavailable, what + ": NCCL: " + ncclGetErrorString(code)};
}

} // namespace tessera::runtime::nccl
