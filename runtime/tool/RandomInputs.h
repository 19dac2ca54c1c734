// Inputs for a program when none are given.
#pragma once

#include "runtime/array/HostArray.h"

namespace tessera::runtime {

// Small positive floats, integers below 7, truth values: what a training step can live with (roots
// and logarithms are taken of second moments, integers are tokens and steps). The same for a
// parameter everywhere.
HostArray randomInput(const program::Parameter &parameter, uint64_t seed);

} // namespace tessera::runtime
