// What is known where no plan fits into the memory of a device, in words.
#pragma once

#include "compiler/plan/Report.h"

namespace tessera::planning {

// `given`: bytes of each device that the program is given and gives back under any plan; 0: not known. "" where
// that is not more than there is.
std::string givenTooMuch(double given, int64_t bound, int64_t devices);

// `least`: of the plans that were compiled the one that needs least; none where that was not asked. It says
// what is known of others, too: what the search counts for one, and what none is below.
std::string noneFits(llvm::ArrayRef<Candidate> candidates, const Candidate *least, int64_t bound,
                     double given);

} // namespace tessera::planning
