#include "passes/codegen/cpu/LlvmTypes.h"

namespace tessera::codegen {

llvm::Type *computeType(ElementKind kind, llvm::LLVMContext &context) {
  if (kind == ElementKind::F64)
    return llvm::Type::getDoubleTy(context);
  if (isFloat(kind))
    return llvm::Type::getFloatTy(context);
  return llvm::Type::getIntNTy(context, bitWidth(kind));
}

llvm::Type *memoryType(ElementKind kind, llvm::LLVMContext &context) {
  switch (kind) {
  case ElementKind::F32:
    return llvm::Type::getFloatTy(context);
  case ElementKind::F64:
    return llvm::Type::getDoubleTy(context);
  default:
    return llvm::Type::getIntNTy(context, 8 * byteSize(kind));
  }
}

void flushSubnormals(llvm::Function &function) {
  function.addFnAttr("denormal-fp-math-f32", "preserve-sign,preserve-sign");
}

} // namespace tessera::codegen
