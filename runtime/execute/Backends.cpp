#include "runtime/execute/Backends.h"
#include "runtime/device/cpu/CpuBackend.h"
#include "runtime/device/cuda/CudaBackend.h"
#include "runtime/device/shadow/ShadowBackend.h"
#include <cstdlib>

namespace tessera::runtime {

Result<std::shared_ptr<device::Backend>> makeBackend(std::string target,
                                                     std::shared_ptr<Pool> pool) {
  const char *instead = std::getenv("TESSERA_TARGET");
  if (target == "cpu" && instead && *instead)
    target = instead;
  if (target == "cpu")
    return std::shared_ptr<device::Backend>(std::make_shared<device::CpuBackend>());
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
    return device::CudaBackend::make(std::move(pool));
  return Status(Code::Unimplemented, "the program is for '" + target.substr(0, 40) +
                                         "', and this runtime has devices of these kinds: cpu, "
                                         "shadow, cuda");
}

} // namespace tessera::runtime
