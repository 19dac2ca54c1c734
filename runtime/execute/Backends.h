// The back ends that this runtime has.
#pragma once

#include "runtime/device/Device.h"

namespace tessera::runtime {

// By the name of a program's target. Unsupported: there is none of the name.
Result<std::shared_ptr<device::Backend>> makeBackend(const std::string &target,
                                                     std::shared_ptr<Pool> pool);

} // namespace tessera::runtime
