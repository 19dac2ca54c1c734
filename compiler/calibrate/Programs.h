// The small programs that `tessera calibrate` measures: each spends its time on one or two kinds of
// work (lib/cost/KernelTerms.h), as models have them.
#pragma once

#include "lib/links/LinkTime.h"

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tessera::calibration {

struct Program {
  std::string name;
  std::string text; // StableHLO
  int64_t devices;  // that compute the same at the same time
  int64_t threads;  // that carry them out; 0: one a core
};

// Kernels, on each of `cores` devices the same. `sharedBytes`: what a cache beyond the cores' own has
// for each (0: not known). `quick`: a few of each family.
std::vector<Program> kernelPrograms(int64_t cores, double sharedBytes, bool quick);

// The same kernel over more and more bytes on each of `cores` devices; which bytes these are. Of many
// cores each has less, so that the machine need not have many gigabytes.
std::vector<double> cacheBytes(int64_t cores);
constexpr int64_t kSideOfCachePart = 512; // each launch reads a matrix of so many rows and columns
std::vector<Program> cachePrograms(int64_t cores);

// Something computed, a product of bf16, and both in turns, as often each.
std::vector<Program> tilePrograms(int64_t cores);

// Kernels: each on one core while all others compute the same, then of one device and shared by all. A core
// that computes alone may be quicker, and is not what kernels are priced by.
std::vector<Program> sharedPrograms(int64_t cores);

// Steps that are short (lib/steps/ShortStep.h): one that does nearly nothing, and one kernel on one core
// and shared by all.
std::vector<Program> shortPrograms(int64_t cores);

// Collectives of groups of neighbours among `devices`, by kind and number of elements; of the least
// number with something computed in between.
constexpr int64_t kLeastElements = 256;
struct CollectiveProgram : Program {
  links::Pattern kind;
  int64_t group;
  double bytes; // of each, as LinkTime.h counts them
};
std::vector<CollectiveProgram> collectivePrograms(int64_t devices, int64_t group,
                                                  llvm::ArrayRef<int64_t> sizes, int64_t mostTrips);

// Collectives of all devices of one process as steps have them, beside 32 KB of each device's that are
// computed in between; of each size behind the same step without one.
struct ExchangeProgram : Program {
  size_t without; // the place of that step; its own of the step itself
};
std::vector<ExchangeProgram> exchangePrograms(int64_t devices, bool quick);

} // namespace tessera::calibration
