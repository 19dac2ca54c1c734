// Masked loads of which it is known what lanes are on, without masks. LLVM 22 takes them for legal
// on GPUs, loads the whole vector, and forgets what the other lanes are to be. Here lanes that are on
// are read in pieces as large as one access may be:
//
//   eleven of sixteen lanes of f32, at 16 bytes   ->   <4 x float>, <4 x float>, i64, float
//
// Below an access's size there is one piece of each at most. Were these three floats, LLVM would
// make one access of them and of what lies behind: of numbers of different sizes it makes none.
#pragma once

#include "llvm/IR/PassManager.h"

namespace tessera::codegen::gpu {

struct KnownLanesPass : llvm::PassInfoMixin<KnownLanesPass> {
  static llvm::PreservedAnalyses run(llvm::Function &function,
                                     llvm::FunctionAnalysisManager &analyses);
};

} // namespace tessera::codegen::gpu
