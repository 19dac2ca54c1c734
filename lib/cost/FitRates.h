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

double predictedSeconds(const DeviceRates &rates, const Observation &observation);

// The rates that predict the observations best: the least sum of squares of relative errors, where
// one that is far off counts less. What no observation tells stays as in `start`, whose rates are all
// known. (Levenberg 1944, Marquardt 1963, on the rates' logarithms.)
DeviceRates fitRates(const DeviceRates &start, llvm::ArrayRef<Observation> observations);

// The bytes that a cache has, from how long the same took each time over more and more `bytes`, of which
// the first were in it and the last were not; 0: nothing is to be seen. Of a little more than it has it
// holds a part (CacheWalk.h), so the bytes and the seconds between decide, and a time that is a little
// longer makes it a little smaller.
double cacheOf(llvm::ArrayRef<double> bytes, llvm::ArrayRef<double> seconds);

// Rates of a common x86-64 core with AVX-512, to begin with.
const DeviceRates &referenceRates();

// |predicted / measured - 1| of each.
std::vector<double> errorsOf(const DeviceRates &rates, llvm::ArrayRef<Observation> observations);

} // namespace tessera::cost
