// What programs take beside each other on a machine whose pace wanders, on plain data.
//
//   rounds of two programs    4 5    8 10    4 5.2    4 6      one of 8 at half the pace
//   the second of the first     1.25   1.25    1.3     1.5     1.25 to 1.3: 5.1 where the first takes 4
#pragma once

#include "llvm/ADT/ArrayRef.h"

#include <vector>

namespace tessera::cost {

// The middle one, or between the two in the middle; 0 of none.
double medianOf(std::vector<double> values);

// A step of some hundredths of a second meets quick moments and slow ones; the least of many short
// steps is a quick moment's. So of short steps as many in a row as last `span` are one, each its mean,
// and the least of these counts: what that long a step takes when it is at its best. Where all together
// last less, the mean of all; 0 of none.
//   1 2 1 2 1 2, two of a row    1.5, where the least is 1
double leastInARow(llvm::ArrayRef<double> seconds, double span);

// Seconds of each program at one pace, that of the middle round: those of the first, and of the others
// what they take of the first's in the same round, the median of all rounds. `rounds`: of each the
// seconds of all programs.
std::vector<double> atOnePace(llvm::ArrayRef<std::vector<double>> rounds);

} // namespace tessera::cost
