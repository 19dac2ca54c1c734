// How far the addresses of loads and stores are aligned: what LLVM's NVPTX target makes one access of, or one for each
// element. It follows from what arrays begin at and what is added to that, instruction by instruction; LLVM's own analysis
// looks six instructions back and no further.
//
//   %at = mul i64 %row, 48                                      a multiple of 16
//   %p  = getelementptr float, ptr align(64) %x, i64 %at        of 64 bytes
//   load <4 x float>, ptr %p, align 4                      ->   align 64: ld.global.v4.f32
#pragma once

#include "llvm/IR/PassManager.h"

namespace tessera::codegen::gpu {

struct AccessAlignmentPass : llvm::PassInfoMixin<AccessAlignmentPass> {
  static llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &);
};

} // namespace tessera::codegen::gpu
