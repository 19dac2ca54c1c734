// The architectures of NVIDIA's GPUs that kernels are generated for.
#pragma once

#include "lib/target/Target.h"

namespace tessera::target {

// What every GPU since the A100 runs, by the driver's own compiler.
inline constexpr char kDefaultArchitecture[] = "sm_80";

// What code for an architecture may have besides PTX, as features: machine code by ptxas, and products of
// matrices that NVIDIA's library may compute.
inline constexpr char kCubin[] = "cubin", kCublasLt[] = "cublaslt";

// `sm_80`, .. as LLVM and ptxas name them; `sm_90a+cubin+cublaslt`.
llvm::Expected<Processor> gpuArchitecture(llvm::StringRef spec);
// Whether it is a GPU's, not a CPU's.
bool isGpu(const Processor &processor);
// The machine (lib/machines) that programs for an architecture are priced for where none is named; ""
// of a CPU.
llvm::StringRef machineOf(const Processor &architecture);
// Whether warpgroups multiply matrices together (wgmma), from boxes of tensors that are copied to shared memory.
bool hasWarpgroups(const Processor &architecture);
// Memory that the threads of a block can share, on each GPU that runs code for a (GPU's) architecture.
int64_t mostSharedBytes(const Processor &architecture);
// Whether `a` comes before `b` among images of code: of two that a GPU runs it is the better one.
bool isNewer(const Processor &a, const Processor &b);

} // namespace tessera::target
