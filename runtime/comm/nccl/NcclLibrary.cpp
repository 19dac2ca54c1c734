#include "runtime/comm/nccl/NcclLibrary.h"

#include <dlfcn.h>

namespace tessera::runtime::nccl {

static constexpr int kVersion = 20700; // the least: messages between two ranks

Result<const Library *> Library::open() {
  static Library library;
  static const Status status = library.load(); // once, by whoever comes first
  if (!status.ok())
    return status;
  return static_cast<const Library *>(&library);
}

Status Library::load() {
  const std::string mend = ": install NCCL (libnccl2), or run with --comm=mpi";
  void *library = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return {Code::Unimplemented, std::string("communicator 'nccl': ") + dlerror() + mend};
  std::string missing;
  auto find = [&](const char *name) {
    void *found = dlsym(library, name);
    if (!found)
      missing = name;
    return found;
  };
#define F(name, parameters) name = reinterpret_cast<decltype(name)>(find(#name));
  TESSERA_NCCL_OPTIONAL_FUNCTIONS(F)
  missing.clear();
  TESSERA_NCCL_FUNCTIONS(F)
#undef F
  ncclGetErrorString = reinterpret_cast<decltype(ncclGetErrorString)>(find("ncclGetErrorString"));
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
