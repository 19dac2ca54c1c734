// The host's reading and writing of device memory: where it is, or by way of a copy.
#pragma once

#include "runtime/device/Device.h"
#include <functional>
#include <memory>

namespace tessera::runtime::device {

// What `memory` holds, for the host to read; keeps what it needs. Sleeps until it is there.
Result<std::shared_ptr<const void>> readable(const std::shared_ptr<Memory> &memory);

// Has `fill` write all of `memory`. Sleeps until it is there.
Status writeWhole(const std::shared_ptr<Memory> &memory, const std::function<void(void *)> &fill);

} // namespace tessera::runtime::device
