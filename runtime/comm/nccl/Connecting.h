// The connection of all ranks by NCCL, while it is looked after that all of them are still there.
#pragma once

#include "runtime/comm/exchange/Transport.h"
#include "runtime/comm/nccl/NcclLibrary.h"
#include "runtime/device/cuda/CudaBackend.h"

namespace tessera::runtime::nccl {

// Of all ranks of a world those that this process has.
struct RanksHere {
  int size; // of the world
  std::vector<int> ranks;
  std::vector<std::shared_ptr<device::CudaBackend>> backends; // of each its GPU
};

// All processes call it (`transport`: null where there is one). Where one is gone, or is silent for
// TESSERA_COMM_TIMEOUT seconds (30), it fails; NCCL itself would wait for ever.
Result<std::vector<Comm>> connect(const Library &library, const RanksHere &here,
                                  Transport *transport, const UniqueId &id);

} // namespace tessera::runtime::nccl
