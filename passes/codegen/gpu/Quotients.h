// Quotients of f32 without jumps, where that takes no more instructions than ptxas's own code. To div.rn and rcp.rn
// that adds a jump to a function for rare numbers at each quotient, and the function (some 90 instructions) to each
// kernel. It would do so here, too:
//
//   1 / x       y = about 1 / x            rcp.approx, off by one unit in the last place at most
//               left = 1 - x y             y + left y is rounded correctly; where left is NaN, y is 0, infinite or NaN
//   x / 192     s = |x| < 1 ? 2^64 : 2^-64   nothing between is too large or too small
//               q = x s / 192 by the reciprocal, rounded; left = 192 q - x s; (q - left / 192) / s is rounded correctly
//
// Both are Markstein's (1990, Computation of elementary functions on the IBM RISC System/6000 processor). The first
// is what ptxas writes for numbers that are not rare. It is right of rare ones too, as subnormal numbers are 0.
// The minimum of a NaN and a number is the number: so infinite numbers, and 0, take no selection.
//
//   1 / x: 4 instructions for 10;   x / 192: 9 for 10
//
// Other quotients would take 20: they are left to ptxas.
#pragma once

#include "llvm/IR/PassManager.h"

namespace tessera::codegen::gpu {

struct QuotientsPass : llvm::PassInfoMixin<QuotientsPass> {
  static llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &);
};

} // namespace tessera::codegen::gpu
