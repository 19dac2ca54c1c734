// bf16 as a processor with AVX512-BF16 narrows and widens it, by whole registers.
//
//   narrow: one instruction (vcvtne2ps2bf16) makes a register of 32 from two of f32
//   widen:  the words of a register of 32 are permuted to upper halves, those of f32, and the lower
//           halves are cleared: a zero extension and a shift take longer
#pragma once

#include "llvm/IR/IRBuilder.h"

namespace tessera::codegen {

// Both leave vectors that fill no register, or two of them, to LLVM.
// Numbers of f32 rounded to bf16, as 16-bit integers.
llvm::Value *narrowToBf16(llvm::IRBuilder<> &b, llvm::Value *value);
// Such integers as f32.
llvm::Value *widenBf16(llvm::IRBuilder<> &b, llvm::Value *stored);

} // namespace tessera::codegen
