// What a program spends time on, by reason, with the changes that were found to save it.
#pragma once

#include "compiler/explain/Module.h"
#include "compiler/mends/Observations.h"
#include "compiler/mends/Search.h"

namespace tessera {

// `sites`: mends::Sites::of each of the explanation's collectives. Fills its groups.
void addGroups(explain::Explanation &explanation, llvm::ArrayRef<std::string> sites,
               const ExplainedModule &explained, const mends::Observations &seen,
               const mends::Outcome &now, const mends::SearchResult &found, double flopsPerSecond);

} // namespace tessera
