// The caches of the machine that this runs on, as its system says.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace tessera::target {

// In bytes; 0 where the system does not say.
struct Caches {
  double near = 0;   // of each core, the first level's
  double core = 0;   // of each core, the second level's
  double shared = 0; // of one that several cores share, the part of each
};
Caches hostCaches();

// How many a list names as "0-3,8"; 0 where it is no such list.
unsigned countOfList(llvm::StringRef list);

} // namespace tessera::target
