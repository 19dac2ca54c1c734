// Values of which LLVM does not see how they are made.
#pragma once

#include "llvm/IR/IRBuilder.h"

namespace tessera::codegen {

// The bits of whole words as floats: LLVM fences no integers.
inline llvm::Value *fencedWords(llvm::IRBuilder<> &b, llvm::Value *value) {
  unsigned words = value->getType()->getPrimitiveSizeInBits().getFixedValue() / 32;
  llvm::Type *floats = llvm::FixedVectorType::get(b.getFloatTy(), words);
  return b.CreateArithmeticFence(b.CreateBitCast(value, floats), floats);
}

} // namespace tessera::codegen
