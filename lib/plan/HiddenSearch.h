// The best plan of a mesh where communication hides behind computing.
//
// A step takes what it computes (C) and launches of kernels (L), what of communication is waited for in any
// case (E), and of the rest (H) what is longer than all launches and half of all computing, which is about what
// order finds to put beside it:
//
//   T = C + L + E + max(0, H - C / 2 - L)
//
// No sum over ops and reshards says that, but for any share from 0 to 1
//
//   (1 - share / 2) C + (1 - share) L + E + share H
//
// is one, and nowhere above T: its least is a bound of all plans. The share for which the bound is highest
// is found by cutting planes (Kelley 1960, The Cutting-Plane Method for Solving Convex Programs).
#pragma once

#include "lib/plan/Search.h"

namespace tessera::plan {

constexpr double kBeside = 0.5; // of computing, that goes on beside communication

// Of what could hide, that is waited for all the same: what is beside one value is beside others, too. Compiled
// programs wait for anything from nothing to a seventh. Plans are found by it; bounds hold for any share.
constexpr double kWary = 0.06;

// What is counted for that share.
inline Weights weightsOf(double share, bool firstWaits = false) {
  return {1 - kBeside * share, share, firstWaits};
}

struct HiddenTime {
  double computing = 0, launches = 0, exposed = 0, hidden = 0;
  // By how much what could hide is longer than what hides it; below zero: it all hides.
  double excess() const { return hidden - kBeside * computing - launches; }
  double seconds() const { return at(0) + std::max(0.0, excess()); }
  // Where launches, too, hide half of what they are long enough for.
  double cautiousSeconds() const {
    return at(0) + std::max(0.0, hidden - kBeside * (computing + launches));
  }
  double warySeconds() const { return seconds() + kWary * hidden; }
  double at(double share) const { return computing + launches + exposed + share * excess(); }
};

// As the search counts, whatever weights it has now.
HiddenTime hiddenTimeOf(AssignmentPrices &prices, const Assignment &assignment);
// Of parts that it was priced with.
HiddenTime hiddenTimeOf(AssignmentPrices &prices, const StepParts &parts);

// Where the least of these at a share is greatest.
double bestShare(llvm::ArrayRef<HiddenTime> times);

struct HiddenFound {
  std::vector<Assignment> plans; // one for each share that was tried, kWary the last
  double lowerBound = 0;         // of T
};

// Begins with plans that are known: one at least. `prices` has other weights afterwards. `firstWaits`: as in
// Weights. `knownBound`: of T, such as that of the count in which first readers do not wait, which is nowhere
// above the one in which they do.
HiddenFound searchHidden(AssignmentPrices &prices, llvm::ArrayRef<const Assignment *> known,
                         const Options &options, bool firstWaits = false, double knownBound = 0);

} // namespace tessera::plan
