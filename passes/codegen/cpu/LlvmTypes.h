// The LLVM types of element kinds.
#pragma once

#include "passes/codegen/kernel/ElementKind.h"
#include "llvm/IR/DerivedTypes.h"

namespace tessera::codegen {

// The scalar type that computes with elements of a kind, and the one that memory holds.
llvm::Type *computeType(ElementKind kind, llvm::LLVMContext &context);
llvm::Type *memoryType(ElementKind kind, llvm::LLVMContext &context);

} // namespace tessera::codegen
