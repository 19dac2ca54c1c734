// What could be changed in a program, and to what: the changes that are worth a trial.
#pragma once

#include "compiler/mends/Change.h"
#include "compiler/mends/Observations.h"
#include "compiler/mends/Sites.h"

namespace tessera::mends {

// Something that its author decided, with other decisions, the likeliest first.
struct Knob {
  std::vector<Change> changes;
};

// Reshapes, arguments, values that move and constraints in turns; of each kind first what is dearest.
// What is written once for several layers, or for a parameter and what the optimizer keeps of it,
// changes together.
std::vector<Knob> knobsOf(mlir::ModuleOp program, const Sites &sites, const Observations &seen);

} // namespace tessera::mends
