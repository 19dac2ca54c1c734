#include "lib/plan/HiddenSearch.h"

#include "lib/plan/Launches.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

namespace tessera::plan {

namespace {

constexpr double kLeastShare = 3e-3; // so that what hides is nowhere for nothing
constexpr int kMostShares = 4;

double leastAt(llvm::ArrayRef<HiddenTime> times, double share) {
  double least = kImpossible;
  for (const HiddenTime &time : times)
    least = std::min(least, time.at(share));
  return least;
}

double launching(AssignmentPrices &prices) {
  sharding::ReshardPlanner &planner = prices.getPlanner();
  return launchSeconds(prices.getProgram(), planner.getTopology(), planner.getMesh().numDevices());
}

} // namespace

HiddenTime hiddenTimeOf(AssignmentPrices &prices, const Assignment &assignment) {
  StepParts parts;
  prices.seconds(assignment, &parts);
  return hiddenTimeOf(prices, parts);
}

HiddenTime hiddenTimeOf(AssignmentPrices &prices, const StepParts &parts) {
  return {parts.computing, launching(prices), parts.moving.exposed,
          parts.moving.hidden + parts.crossing};
}

// The least of lines is highest at an end, or where two of them meet.
double bestShare(llvm::ArrayRef<HiddenTime> times) {
  double best = 0, most = leastAt(times, 0);
  auto consider = [&](double share) {
    if (double least = leastAt(times, share); least > most) {
      most = least;
      best = share;
    }
  };
  consider(1);
  for (const HiddenTime &one : times)
    for (const HiddenTime &other : times) {
      double apart = other.excess() - one.excess();
      double share = (one.at(0) - other.at(0)) / apart;
      if (apart != 0 && share > 0 && share < 1)
        consider(share);
    }
  return best;
}

HiddenFound searchHidden(AssignmentPrices &prices, llvm::ArrayRef<const Assignment *> known,
                         const Options &options, bool firstWaits, double knownBound) {
  prices.setWeights({.firstWaits = firstWaits});
  HiddenFound found{{}, knownBound};
  std::vector<HiddenTime> times;
  for (const Assignment *each : known)
    times.push_back(hiddenTimeOf(prices, *each));
  // The least of the sums of one share, which begins with all that is known.
  auto searchAt = [&](double share, bool isThorough) {
    prices.setWeights(weightsOf(share, firstWaits));
    std::vector<const Assignment *> starts(known.begin(), known.end());
    for (const Assignment &each : found.plans)
      starts.push_back(&each);
    BestFound best = bestFrom(prices, starts, options, isThorough);
    if (best.lowerBound > 0)
      found.lowerBound =
          std::max(found.lowerBound, best.lowerBound + (1 - share) * launching(prices));
    times.push_back(hiddenTimeOf(prices, best.values));
    found.plans.push_back(std::move(best.values));
  };
  std::vector<double> tried;
  bool isThorough = false;
  for (int round = 0; round < kMostShares && !isThorough; ++round) {
    double share = std::max(bestShare(times), kLeastShare);
    // Where no other share is better, more is found out for this one.
    isThorough =
        llvm::any_of(tried, [&](double each) { return std::abs(each - share) < kLeastShare; });
    tried.push_back(share);
    searchAt(share, isThorough);
    double least = kImpossible;
    for (const HiddenTime &time : times)
      least = std::min(least, time.seconds());
    if (isProven(prices.getProgram(), least, found.lowerBound))
      break;
  }
  searchAt(kWary, /*isThorough=*/false);
  if (found.lowerBound > 0) // a sum at one share may be below what computing takes alone
    found.lowerBound = std::max(found.lowerBound, prices.leastComputing() + launching(prices));
  return found;
}

} // namespace tessera::plan
