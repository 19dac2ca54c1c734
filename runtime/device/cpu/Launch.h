// A kernel on the host's cores: what queues of the cpu and of shadow call.
#pragma once

#include "runtime/pool/Run.h"
#include "runtime/program/Decoded.h"

namespace tessera::runtime::device {

// Codes beside those of kernels.
constexpr int32_t kNoScratch = INT32_MIN;   // there is no memory for it
constexpr int32_t kGivenUp = INT32_MIN + 1; // the run has failed meanwhile

// In chunks that idle workers take too, which have scratch of their own, of scratchBytes; as this one
// has, unless it is `given` some.
int32_t launchShared(Worker &worker, const Run &run, const KernelEntry &kernel,
                     void *const *buffers, void *given, uint64_t scratchBytes);

// Runs every cell; 0 or the first code that is not. `scratch`: of scratchBytes, the worker's own
// unless `isGiven`.
inline int32_t launchKernel(Worker &worker, const Run &run, const KernelEntry &kernel,
                            void *const *buffers, void *scratch, uint64_t scratchBytes,
                            bool isGiven) {
  if (kernel.chunk < kernel.grid) [[unlikely]]
    return launchShared(worker, run, kernel, buffers, isGiven ? scratch : nullptr, scratchBytes);
  TesseraKernelArgs args{buffers, scratch, kernel.plan.get()};
  return kernel.function(&args, 0, kernel.grid);
}

} // namespace tessera::runtime::device
