// The back ends that this runtime has.
#pragma once

#include "runtime/device/Device.h"
#include <string>

namespace tessera::runtime {

// By the name of a program's target. TESSERA_TARGET=shadow runs programs for the cpu on shadow.
// Unsupported: there is none of the name.
Result<std::shared_ptr<device::Backend>> makeBackend(std::string target,
                                                     std::shared_ptr<Pool> pool);

} // namespace tessera::runtime
