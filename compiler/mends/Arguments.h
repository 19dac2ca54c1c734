// Other annotations of a program's arguments, and of the results that take their places.
#pragma once

#include "compiler/mends/Knobs.h"

namespace tessera::mends {

void addArgumentKnobs(mlir::ModuleOp program, const Observations &seen, std::vector<Knob> &knobs);

} // namespace tessera::mends
