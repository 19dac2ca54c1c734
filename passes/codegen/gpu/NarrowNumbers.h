// Numbers of 64 bits that fit into 32, as such, and what is constant of an address apart. Emitters count in 64 bits, as the
// CPU does; a GPU's registers have 32, and each operation on 64 is two of its own or more, for ptxas to assemble and for
// threads to run.
//
//   %row: 0 to 4095, %lane: 0 to 63                                  %rest = add nuw nsw i32 %row32, %lane32
//   %at = add nsw i64 (add nsw i64 %row, 5), %lane         becomes   %at   = zext nneg i32 %rest to i64
//   %p  = getelementptr float, ptr %x, i64 %at                       %near = getelementptr float, ptr %x, i64 %at
//                                                                    %p    = getelementptr float, ptr %near, i64 5
//
// Addresses that differ by a constant have all else in common, and an access adds a constant for nothing. What a number can
// be says NumberRanges.h; of an array of 2^31 elements or more numbers stay as they are.
#pragma once

#include "llvm/IR/PassManager.h"

namespace tessera::codegen::gpu {

struct NarrowNumbersPass : llvm::PassInfoMixin<NarrowNumbersPass> {
  static llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &);
};

} // namespace tessera::codegen::gpu
