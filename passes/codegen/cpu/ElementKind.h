// Element types as kernels see them: their size in memory and the LLVM type that computes with
// them.
//
// bf16, f16 and the f8 types compute in f32 and are rounded after each operation; i1 is one byte in
// memory. Complex numbers never reach this level: the graph builder splits them into two real
// values.
#ifndef TESSERA_PASSES_CODEGEN_CPU_ELEMENTKIND_H
#define TESSERA_PASSES_CODEGEN_CPU_ELEMENTKIND_H

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/IR/IRBuilder.h"

#include <optional>

namespace tessera::codegen {

enum class ElementKind : uint8_t { I1, I8, I16, I32, I64, U8, U16, U32, U64, BF16, F16, F32, F64 };

// What one element of a tensor is: one number, or a pair (complex).
struct ElementType {
  ElementKind kind;
  bool complex = false;
  // Bytes of one element in memory.
  int64_t bytes() const;
};

// Empty for types that kernels don't know (f8, i4, quantised).
std::optional<ElementType> elementType(mlir::Type type);

int64_t byteSize(ElementKind kind);
unsigned bitWidth(ElementKind kind); // of the value: 1 for I1
bool isFloat(ElementKind kind);
bool isSigned(ElementKind kind);
inline bool isInteger(ElementKind kind) { return !isFloat(kind); }
// bf16 and f16: computed in f32, rounded once.
inline bool isNarrowFloat(ElementKind kind) {
  return kind == ElementKind::BF16 || kind == ElementKind::F16;
}

// The scalar LLVM type that computes with it, and the one that memory holds.
llvm::Type *computeType(ElementKind kind, llvm::LLVMContext &context);
llvm::Type *memoryType(ElementKind kind, llvm::LLVMContext &context);

} // namespace tessera::codegen

#endif
