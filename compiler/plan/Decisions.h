// What each decision of a plan is worth: the next best, priced with all else decided anew.
#pragma once

#include "compiler/explanation/Decision.h"
#include "compiler/plan/Report.h"

namespace tessera::planning {

// Arguments, results and constraints, equal ones of all layers as one; costliest first. What
// annotations decide is none, unless they are lifted: taken for choices of the plan.
std::vector<explain::Decision> decisionsOf(const Source &source, const Candidate &candidate,
                                           const plan::Options &options, bool lifts);

} // namespace tessera::planning
