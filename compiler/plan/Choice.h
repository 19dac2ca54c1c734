// Which candidates are compiled first, and which of those that were compiled is the plan.
#pragma once

#include "compiler/plan/Report.h"

namespace tessera::planning {

using MemoryBound = std::optional<int64_t>; // bytes that a device has

// How much of its launches hides what moves depends on the program, so that two counts take turns. Of large
// programs, of which one is compiled, those come first that fit as counted.
void orderCandidates(std::vector<Candidate> &candidates, bool isLarge, MemoryBound bound);

bool fitsAsCounted(const Candidate &each, MemoryBound bound);
// Whether one that was tried compiles, and fits.
bool isPossible(const Candidate &tried, MemoryBound bound);
// Bytes, of one that was tried.
int64_t needed(const Candidate &tried);
// Of all, tried or not, the one that holds least as the search counts; there must be one.
const Candidate &leastCounted(llvm::ArrayRef<Candidate> candidates);

// The best of those that were tried, and the best of each other kind; "", or why there is none. `given`: bytes
// that no plan is below; 0: not known.
std::string choose(llvm::ArrayRef<Candidate> candidates, MemoryBound bound, double given,
                   Planned &planned);

} // namespace tessera::planning
