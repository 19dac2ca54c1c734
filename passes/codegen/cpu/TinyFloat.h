// Floats of at most eight bits, and f16 where the target can't convert it, by arithmetic on f32's bit pattern.
//
//   f8E4M3FN 0 1000 101 (3.25)  <->  f32 0 10000000 101..0
//
// Encoding rounds to nearest, ties to even; f8E8M0FNU, which has no mantissa, upwards in a tie.
// What is too large becomes infinity, or NaN where there is no infinity, or the largest number
// where there is neither (f4, f6: there NaN becomes -0).
#pragma once

#include "passes/codegen/kernel/ElementKind.h"
#include "llvm/IR/IRBuilder.h"

namespace tessera::codegen {

// Bytes, or the 16 bits of f16 (or a vector of them), as f32, and back; bits above the type's width are ignored, and
// written as zeros.
llvm::Value *decodeTinyFloat(llvm::IRBuilder<> &b, ElementKind kind, llvm::Value *byte);
llvm::Value *encodeTinyFloat(llvm::IRBuilder<> &b, ElementKind kind, llvm::Value *single);

} // namespace tessera::codegen
