// Which GPUs a process sees.
#pragma once

#include <vector>

namespace tessera::emulator {

// The numbers of those that CUDA_VISIBLE_DEVICES lists, up to the first that there is none of; without
// it all TESSERA_EMULATOR_GPUS (1).
std::vector<int> visibleGpus();

} // namespace tessera::emulator
