// Quotients and square roots of f32 without jumps. To div.rn, rcp.rn and sqrt.rn ptxas adds a jump to a function for rare
// numbers at each of them, and the functions (some 90 and 40 instructions) to each kernel; what stands between jumps it
// assembles slowly, too. Instead:
//
//   1 / x       y = about 1 / x            rcp.approx, off by one unit in the last place at most
//               left = 1 - x y             y + left y is rounded correctly; where left is NaN, y is 0, infinite or NaN
//
//   x / d       m = d's significand, from 2 to 4, and 1 / d = scale / m       scale is infinite of 0, and 0 of infinity
//               r = 1 / m, as above                                           once for all x that are divided by d
//               s = |x| < 2^-64 ? 2^64 : 1           of all that is left then nothing is subnormal
//               q = x s r, rounded; left = m q - x s; (q - left r) (scale / s) is rounded correctly
//
//   sqrt(x)     y = about 1 / sqrt(x s)     rsqrt.approx
//               g = x s y; left = x s - g g; (g + left y / 2) / sqrt(s) is rounded correctly
//
// All are Markstein's (1990, Computation of elementary functions on the IBM RISC System/6000 processor), and what ptxas
// writes for numbers that are not rare, so that they are as right as its own of the processor's approximations. Subnormal
// numbers are 0. The minimum of a NaN and a number is the number: so infinite numbers, and 0, take no selection.
//
//   instructions: 1 / x 4;   x / d 9, and 7 for d, which a constant does not take;   sqrt(x) 12
#pragma once

#include "llvm/IR/PassManager.h"

namespace tessera::codegen::gpu {

struct QuotientsPass : llvm::PassInfoMixin<QuotientsPass> {
  static llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &);
};

} // namespace tessera::codegen::gpu
