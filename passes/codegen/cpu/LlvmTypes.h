// The LLVM types of element kinds, and how functions compute with them.
#pragma once

#include "passes/codegen/kernel/ElementKind.h"
#include "llvm/IR/Function.h"

namespace tessera::codegen {

// The scalar type that computes with elements of a kind, and the one that memory holds.
llvm::Type *computeType(ElementKind kind, llvm::LLVMContext &context);
llvm::Type *memoryType(ElementKind kind, llvm::LLVMContext &context);

// As the workers run it: subnormal f32 are flushed, also in what LLVM computes of constants.
void flushSubnormals(llvm::Function &function);

} // namespace tessera::codegen
