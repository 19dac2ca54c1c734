// What a step spends on computing and on each kind of collective, with all values sharded in a given
// way, and how two ways differ.
#pragma once

#include "lib/plan/AssignmentPrices.h"

namespace tessera::plan {

struct CollectiveBill {
  std::string kind; // "all-reduce"
  double count = 0, seconds = 0;
};

struct StepBill {
  double seconds = 0, computing = 0;
  std::vector<CollectiveBill> collectives; // by kind; none that does not occur
  std::vector<double> byOp;                // seconds of moving values to and from each op
};

// Those that bring values from one sharding to another, by kind, each alone.
std::vector<CollectiveBill> collectivesOf(AssignmentPrices &prices,
                                          llvm::ArrayRef<Movement> movements);

StepBill billOf(AssignmentPrices &prices, const Assignment &assignment);

// What the second spends more than the first (less: below zero), kinds by the size of that.
struct BillDifference {
  double seconds = 0, computing = 0;
  std::vector<CollectiveBill> collectives;
  int32_t op = -1; // around which most more, or less, is moved; -1: around none
};
BillDifference differenceOf(const StepBill &first, const StepBill &second);

} // namespace tessera::plan
