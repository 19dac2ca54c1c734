// Kernels whose PTX is equal but for names: one of them stays, and the text says whose code the others are. They come of
// ops that differ where code does not: 8 x 16 elements beside 128, results that may overwrite what is read before
// anyway, another order of operands.
//
//   .visible .entry add_0(.. add_0_param_0) { .. bra $L__BB0_1; .. }        -> stays
//   .visible .entry add_7(.. add_7_param_0) { .. bra $L__BB7_1; .. }        -> // .alias add_7, add_0;
//
// PTX itself has aliases of functions only, not of entries: the loader reads the comment (runtime/program/PtxSection.h).
// What a launch says of itself (its blocks, maps of operands) stays each kernel's own.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>

namespace tessera::codegen::gpu {

// What launches of one code have alike.
struct LaunchOfCode {
  int64_t threads = 0, sharedBytes = 0;
};

// `launchOf`: of the kernel with this name.
void mergeEqualKernels(llvm::SmallVectorImpl<char> &text,
                       llvm::function_ref<LaunchOfCode(llvm::StringRef)> launchOf);

} // namespace tessera::codegen::gpu
