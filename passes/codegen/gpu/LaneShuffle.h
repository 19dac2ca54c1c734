// What other threads of a warp have in a register, without shared memory or a barrier.
#pragma once

#include "llvm/IR/IRBuilder.h"

#include <cstdint>

namespace tessera::codegen::gpu {

inline constexpr uint32_t kAllLanes = ~0u;

// The value of the lane whose number differs from this one's in the bits of `distance`. Of a number of up to 64
// bits. All of `lanes`, a bit each, come here together.
llvm::Value *fromLane(llvm::IRBuilder<> &b, llvm::Value *value, int64_t distance,
                      uint32_t lanes = kAllLanes);

} // namespace tessera::codegen::gpu
