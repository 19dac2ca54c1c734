#include "runtime/execute/Backends.h"
#include "runtime/device/cpu/CpuBackend.h"

namespace tessera::runtime {

Result<std::shared_ptr<device::Backend>> makeBackend(const std::string &target,
                                                     std::shared_ptr<Pool>) {
  if (target == "cpu")
    return std::shared_ptr<device::Backend>(std::make_shared<device::CpuBackend>());
  return Status(Code::Unsupported, "the program is for '" + target.substr(0, 40) +
                                       "', and this runtime has devices of these kinds: cpu");
}

} // namespace tessera::runtime
