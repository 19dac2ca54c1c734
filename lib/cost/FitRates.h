// A machine's rates, from how long programs took whose work is known. Plain data.
#pragma once

#include "lib/cost/KernelTerms.h"

namespace tessera::cost {

// One step of a program.
struct Observation {
  Terms terms; // of its kernels, of one kind for the most part
  double steps = 0, launches = 0, instructions = 0, meetings = 0;
  double seconds = 0;
};

// What exchanging takes, of the same step with and without. All of what it takes longer is the
// exchange's: that arrays are elsewhere afterwards is part of it.
Observation exchangeAlone(const Observation &with, const Observation &without);

double predictedSeconds(const DeviceRates &rates, const Observation &observation);

// The rates that predict the observations best: the least sum of squares of relative errors, where
// one that is far off counts less. What no observation tells stays as in `start`, whose rates are all
// known. (Levenberg 1944, Marquardt 1963, on the rates' logarithms.)
DeviceRates fitRates(const DeviceRates &start, llvm::ArrayRef<Observation> observations);

// Rates of a common x86-64 core with AVX-512, to begin with.
const DeviceRates &referenceRates();

// |predicted / measured - 1| of each.
std::vector<double> errorsOf(const DeviceRates &rates, llvm::ArrayRef<Observation> observations);

} // namespace tessera::cost
