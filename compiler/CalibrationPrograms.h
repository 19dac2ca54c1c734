// The small programs that `tessera calibrate` measures: each spends its time on one or two kinds of
// work (lib/cost/KernelTerms.h), as models have them.
#pragma once

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

// Kernels, on each of `cores` devices the same. `quick`: a few of each family.
std::vector<Program> kernelPrograms(int64_t cores, bool quick);

// Kernels of one device that all cores share.
std::vector<Program> sharedPrograms(int64_t cores);

// Collectives over `devices`, by kind and size.
std::vector<Program> collectivePrograms(int64_t devices, bool quick);

} // namespace tessera::calibration
