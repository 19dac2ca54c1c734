#include "passes/codegen/cpu/ElementKind.h"

namespace tessera::codegen {

int64_t byteSize(ElementKind kind) {
  switch (kind) {
  case ElementKind::I1:
  case ElementKind::I8:
  case ElementKind::U8:
    return 1;
  case ElementKind::I16:
  case ElementKind::U16:
  case ElementKind::BF16:
  case ElementKind::F16:
    return 2;
  case ElementKind::I32:
  case ElementKind::U32:
  case ElementKind::F32:
    return 4;
  case ElementKind::I64:
  case ElementKind::U64:
  case ElementKind::F64:
    return 8;
  }
  llvm_unreachable("element kind");
}

unsigned bitWidth(ElementKind kind) { return kind == ElementKind::I1 ? 1 : 8 * byteSize(kind); }

bool isFloat(ElementKind kind) { return kind >= ElementKind::BF16; }

bool isSigned(ElementKind kind) { return kind >= ElementKind::I8 && kind <= ElementKind::I64; }

int64_t ElementType::bytes() const { return byteSize(kind) * (complex ? 2 : 1); }

std::optional<ElementType> elementType(mlir::Type type) {
  if (auto shaped = mlir::dyn_cast<mlir::ShapedType>(type))
    type = shaped.getElementType();
  if (auto complex = mlir::dyn_cast<mlir::ComplexType>(type)) {
    if (complex.getElementType().isF32())
      return ElementType{ElementKind::F32, true};
    if (complex.getElementType().isF64())
      return ElementType{ElementKind::F64, true};
    return std::nullopt;
  }
  if (type.isBF16())
    return ElementType{ElementKind::BF16};
  if (type.isF16())
    return ElementType{ElementKind::F16};
  if (type.isF32())
    return ElementType{ElementKind::F32};
  if (type.isF64())
    return ElementType{ElementKind::F64};
  if (type.isIndex())
    return ElementType{ElementKind::I64};
  auto integer = mlir::dyn_cast<mlir::IntegerType>(type);
  if (!integer)
    return std::nullopt;
  bool isUnsigned = integer.isUnsigned();
  switch (integer.getWidth()) {
  case 1:
    return ElementType{ElementKind::I1};
  case 8:
    return ElementType{isUnsigned ? ElementKind::U8 : ElementKind::I8};
  case 16:
    return ElementType{isUnsigned ? ElementKind::U16 : ElementKind::I16};
  case 32:
    return ElementType{isUnsigned ? ElementKind::U32 : ElementKind::I32};
  case 64:
    return ElementType{isUnsigned ? ElementKind::U64 : ElementKind::I64};
  default:
    return std::nullopt;
  }
}

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
  case ElementKind::F16:
    return llvm::Type::getHalfTy(context);
  default:
    return llvm::Type::getIntNTy(context, 8 * byteSize(kind));
  }
}

} // namespace tessera::codegen
