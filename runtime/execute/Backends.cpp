#include "runtime/execute/Backends.h"
#include "runtime/HostMemory.h"
#include "runtime/comm/exchange/ExchangeCommunicator.h"
#include "runtime/comm/nccl/NcclCommunicator.h"
#include "runtime/comm/virtual/VirtualChannels.h"
#include "runtime/comm/virtual/VirtualCommunicator.h"
#include "runtime/device/cpu/CpuBackend.h"
#include "runtime/device/cuda/CudaBackend.h"
#include "runtime/device/shadow/ShadowBackend.h"
#include <cstdlib>

namespace tessera::runtime {

Result<std::shared_ptr<device::Backend>> makeBackend(std::string target, std::shared_ptr<Pool> pool,
                                                     uint32_t number, uint32_t gpus,
                                                     uint32_t sharers) {
  const char *instead = std::getenv("TESSERA_TARGET");
  if (target == "cpu" && instead && std::string_view(instead) == "cuda")
    return Status(Code::FailedPrecondition, "TESSERA_TARGET=cuda: the program has code for CPUs "
                                            "only; compile it with --target=cpu,cuda");
  if (target == "cpu" && instead && *instead)
    target = instead;
  if (target == "cpu")
    return std::shared_ptr<device::Backend>(std::make_shared<device::CpuBackend>(
        sharers > 1 ? SharedMemory::make(mostMemory() / sharers) : nullptr));
  if (target == "shadow") {
    auto delays = device::Delays::fromEnvironment();
    if (!delays.ok())
      return delays.status();
    auto memory = device::ShadowBackend::memoryFromEnvironment();
    if (!memory.ok())
      return memory.status();
    return std::shared_ptr<device::Backend>(
        std::make_shared<device::ShadowBackend>(std::move(pool), *delays, *memory));
  }
  if (target == "cuda")
    return device::CudaBackend::make(std::move(pool), number, gpus);
  return Status(Code::Unimplemented, "the program is for '" + target.substr(0, 40) +
                                         "', and this runtime has devices of these kinds: cpu, "
                                         "shadow, cuda");
}

static std::shared_ptr<device::CudaBackend> cudaOf(device::Backend &backend) {
  return std::dynamic_pointer_cast<device::CudaBackend>(backend.shared_from_this());
}

std::shared_ptr<LocalChannels> makeChannels(device::Backend &backend, const LoadedProgram &file,
                                            Run &run) {
  if (auto cuda = cudaOf(backend))
    return std::make_shared<VirtualChannels>(cuda, file, run);
  return std::make_shared<LocalChannels>(file, run);
}

using Made = Result<std::unique_ptr<Communicator>>;

static Made makeNccl(const std::vector<DeviceHere> &here, const DeviceProgram &program, Run &run,
                     Transport *transport) {
  std::vector<NcclCommunicator::Here> gpus;
  for (const DeviceHere &device : here) {
    auto cuda = cudaOf(*device.backend);
    if (!cuda)
      return Status(Code::Unimplemented,
                    "communicator 'nccl' is for GPUs, and the program is not: use --comm=mpi");
    gpus.push_back({device.position, std::move(cuda)});
  }
  auto made = NcclCommunicator::make(gpus, program, run, transport);
  if (!made.ok())
    return made.status();
  return std::unique_ptr<Communicator>(std::move(*made));
}

Made makeCommunicator(const std::vector<DeviceHere> &here, const DeviceProgram &program, Run &run,
                      std::shared_ptr<const Links> links, std::shared_ptr<LocalChannels> channels) {
  if (here.front().backend != here.back().backend)
    return makeNccl(here, program, run, nullptr);
  if (auto cuda = cudaOf(*here.front().backend))
    return std::unique_ptr<Communicator>(std::make_unique<VirtualCommunicator>(
        cuda, program, run, std::move(links),
        std::static_pointer_cast<VirtualChannels>(std::move(channels))));
  return std::unique_ptr<Communicator>(
      std::make_unique<LocalCommunicator>(program, run, std::move(links), std::move(channels)));
}

Made makeCommunicator(const std::vector<DeviceHere> &here, const DeviceProgram &program, Run &run,
                      Transport &transport, uint32_t session) {
  if (transport.isForNccl())
    return makeNccl(here, program, run, &transport);
  return std::unique_ptr<Communicator>(std::make_unique<ExchangeCommunicator>(
      program, run, transport, *here.front().backend, session));
}

} // namespace tessera::runtime
