// NVIDIA's library of collectives, opened when the first program wants it: nothing of it is linked,
// and no header of it is included. What follows are the parts of its interface that the runtime
// calls, as the "NCCL API" by NVIDIA has them.
#pragma once

#include "runtime/Status.h"
#include "runtime/device/cuda/Driver.h"

namespace tessera::runtime::nccl {

using ResultCode = int; // ncclResult_t
inline constexpr ResultCode kSuccess = 0, kInProgress = 7;
inline constexpr int kBytes = 1; // ncclDataType_t: ncclUint8

struct UniqueId {
  char bytes[128];
};
using Comm = struct CommOfNccl *;

// name, parameters
#define TESSERA_NCCL_FUNCTIONS(F)                                                                  \
  F(ncclGetVersion, (int *version))                                                                \
  F(ncclGetUniqueId, (UniqueId * id))                                                              \
  F(ncclCommInitRank, (Comm * comm, int ranks, UniqueId id, int rank))                             \
  F(ncclCommDestroy, (Comm comm))                                                                  \
  F(ncclCommAbort, (Comm comm))                                                                    \
  F(ncclCommGetAsyncError, (Comm comm, ResultCode * error))                                        \
  F(ncclGroupStart, ())                                                                            \
  F(ncclGroupEnd, ())                                                                              \
  F(ncclSend,                                                                                      \
    (const void *from, size_t count, int type, int peer, Comm comm, device::cuda::Stream stream))  \
  F(ncclRecv, (void *to, size_t count, int type, int peer, Comm comm, device::cuda::Stream stream))

// Those that earlier versions lack: null there.
#define TESSERA_NCCL_OPTIONAL_FUNCTIONS(F)                                                         \
  F(ncclCommRegister, (Comm comm, void *buffer, size_t bytes, void **handle))                      \
  F(ncclCommDeregister, (Comm comm, void *handle))

// Thread-safe, as the library is.
class Library {
public:
  // The process's; an error says what to install.
  static Result<const Library *> open();

#define F(name, parameters) ResultCode(*name) parameters = nullptr;
  TESSERA_NCCL_FUNCTIONS(F)
  TESSERA_NCCL_OPTIONAL_FUNCTIONS(F)
#undef F
  const char *(*ncclGetErrorString)(ResultCode) = nullptr;

  // `what` could not be done. Ok for success.
  Status status(ResultCode code, const std::string &what) const;

private:
  Status load();
};

} // namespace tessera::runtime::nccl
