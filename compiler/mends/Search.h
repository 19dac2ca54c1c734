// The changes of a program that make it faster, each compiled and measured by the cost model.
#pragma once

#include "compiler/mends/Knobs.h"
#include "compiler/mends/Trial.h"

namespace tessera::mends {

struct FoundMend {
  Change change;
  Outcome then;
};

struct SearchResult {
  std::vector<FoundMend> mends; // what brings most first
  int tried = 0;                // programs that were compiled
  int untried = 0;              // changes for which there was no room
};

// Tries each knob's likeliest change, then the others in turns, and those of knobs that helped
// first; as many as `limit`. Kept are changes after which a step takes at least 1% less time, and
// a device holds no more than a tenth more.
SearchResult searchMends(Trials &trials, std::vector<Knob> knobs, const Outcome &now, int limit);

// How many trials a program of so many ops is worth: explaining 5,000 ops takes as long as
// explaining 500.
int trialsFor(size_t ops);

} // namespace tessera::mends
