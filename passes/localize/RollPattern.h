// Rows moved around along a dimension, as JAX writes jnp.roll and its transpose.
#pragma once

#include "passes/localize/Localizer.h"

namespace tessera::localize {

// Makes the result a shift of the boundary rows if it is a roll along an evenly sharded dimension;
// else does nothing.
bool localizeRoll(Localizer &l, stablehlo::ConcatenateOp concat);
bool localizeRoll(Localizer &l, stablehlo::AddOp add);

} // namespace tessera::localize
