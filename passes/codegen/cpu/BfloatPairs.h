// bf16 as GPUs narrow and widen it, in registers of 32 bits that hold two of them.
//
//   narrow: one instruction makes such a register from two numbers of f32 (cvt.rn.bf16x2.f32); any NaN becomes 0x7fff
//   round:  the same with a zero as the other number: what it makes is the rounded number, as f32
//   what bf16 has: the upper halves of two numbers (prmt.b32), a NaN's too
//   widen:  the lower one is shifted up, of the upper one the other half is cleared
#pragma once

#include "llvm/IR/IRBuilder.h"

namespace tessera::codegen {

// A number of f32, or a vector of them: rounded to bf16, as 16-bit integers; and as f32.
llvm::Value *narrowPairsToBf16(llvm::IRBuilder<> &b, llvm::Value *value);
llvm::Value *roundPairsToBf16(llvm::IRBuilder<> &b, llvm::Value *value);
// Numbers that bf16 has, as integers: their bits stay.
llvm::Value *narrowPairsOfBf16(llvm::IRBuilder<> &b, llvm::Value *value);
// Such integers as f32.
llvm::Value *widenPairsOfBf16(llvm::IRBuilder<> &b, llvm::Value *stored);

} // namespace tessera::codegen
