#include "runtime/client/OwnGpus.h"
#include "runtime/comm/LaunchedRank.h"
#include "runtime/comm/exchange/Transport.h"
#include "runtime/comm/nccl/NcclLibrary.h"
#include "runtime/device/cuda/CudaBackend.h"
#include "runtime/program/LoadedProgram.h"

namespace tessera::runtime {

bool isOneProcess(const std::string &communicator) {
  return communicator.empty() || communicator == "local" ||
         (communicator == "nccl" && comm::launchedRank() < 0);
}

OwnGpus ownGpusOf(const std::string &communicator) {
  if (communicator == "nccl")
    return OwnGpus::Always;
  return communicator.empty() ? OwnGpus::WherePossible : OwnGpus::Never;
}

Result<GpuChoice> chooseGpus(const LoadedProgram &program, OwnGpus wanted,
                             const Transport *transport) {
  int64_t devices = program.deviceCount();
  if (transport) {
    int64_t processes = transport->size();
    bool isEven = transport->isForNccl() && devices % processes == 0;
    return GpuChoice{isEven ? static_cast<uint32_t>(devices / processes) : 1, ""};
  }
  bool isGpu = program.target() == "cuda";
  if (wanted == OwnGpus::Always && !isGpu)
    return Status(Code::Unimplemented,
                  "communicator 'nccl' is for GPUs, and the program is not: use --comm=local");
  auto all = static_cast<uint32_t>(devices);
  if (wanted == OwnGpus::Never || !isGpu || devices == 1)
    return GpuChoice();
  if (wanted == OwnGpus::Always)
    return GpuChoice{all, ""};
  if (device::CudaBackend::visible() < all)
    return GpuChoice();
  std::string shared = "the " + std::to_string(devices) + " devices share one GPU: ";
  if (!program.channels().empty())
    return GpuChoice{1, shared + "NCCL carries no channels between programs"};
  if (auto library = nccl::Library::open(); !library.ok())
    return GpuChoice{1, shared + library.status().message()};
  return GpuChoice{all, ""};
}

} // namespace tessera::runtime
