// What each decision of a plan is worth: the next best, priced with all else decided anew.
#pragma once

#include "compiler/PlanReport.h"
#include "compiler/explain/Decision.h"

namespace tessera::planning {

struct Decided {
  std::vector<explain::Decision> decisions; // costliest first
  double lowerBound = 0;                    // proven on the way, as the search counts; 0: nothing
};

// Arguments, results and constraints, equal ones of all layers as one. What annotations decide is none,
// unless they are lifted: taken for choices of the plan.
Decided decisionsOf(const Source &source, const Candidate &candidate, const plan::Options &options,
                    bool lifts);

} // namespace tessera::planning
