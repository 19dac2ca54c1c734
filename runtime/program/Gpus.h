// Whether this machine has a GPU that programs could run on.
#pragma once

namespace tessera::runtime {

// NVIDIA's driver is there, and shows one. Asked once.
bool hasGpu();

} // namespace tessera::runtime
