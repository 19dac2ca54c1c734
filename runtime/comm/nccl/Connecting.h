// The connection of all ranks by NCCL, while it is looked after that all of them are still there.
#pragma once

#include "runtime/comm/exchange/Transport.h"
#include "runtime/comm/nccl/NcclLibrary.h"
#include "runtime/device/cuda/CudaBackend.h"

namespace tessera::runtime::nccl {

// All ranks call it. Where one is gone, or is silent for TESSERA_COMM_TIMEOUT seconds (30), it fails;
// NCCL itself would wait for ever.
Result<Comm> connect(const Library &library, std::shared_ptr<device::CudaBackend> backend,
                     Transport &transport, const UniqueId &id);

} // namespace tessera::runtime::nccl
