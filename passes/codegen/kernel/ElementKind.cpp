#include "passes/codegen/kernel/ElementKind.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/TypeSwitch.h"

namespace tessera::codegen {

unsigned bitWidth(ElementKind kind) {
  switch (kind) {
  case ElementKind::I1:
    return 1;
  case ElementKind::I2:
  case ElementKind::U2:
    return 2;
  case ElementKind::I4:
  case ElementKind::U4:
  case ElementKind::F4E2M1FN:
    return 4;
  case ElementKind::F6E2M3FN:
  case ElementKind::F6E3M2FN:
    return 6;
  case ElementKind::I16:
  case ElementKind::U16:
  case ElementKind::BF16:
  case ElementKind::F16:
    return 16;
  case ElementKind::I32:
  case ElementKind::U32:
  case ElementKind::F32:
    return 32;
  case ElementKind::I64:
  case ElementKind::U64:
  case ElementKind::F64:
    return 64;
  default:
    return 8;
  }
}

int64_t byteSize(ElementKind kind) { return (bitWidth(kind) + 7) / 8; }

ElementKind bitsKind(unsigned width) {
  switch (width) {
  case 1:
    return ElementKind::I1;
  case 2:
    return ElementKind::U2;
  case 4:
    return ElementKind::U4;
  case 16:
    return ElementKind::U16;
  case 32:
    return ElementKind::U32;
  case 64:
    return ElementKind::U64;
  default:
    return ElementKind::U8;
  }
}

int64_t ElementType::bytes() const { return byteSize(kind) * (complex ? 2 : 1); }

static std::optional<ElementKind> integerKind(mlir::IntegerType type) {
  bool isUnsigned = type.isUnsigned();
  switch (type.getWidth()) {
  case 1:
    return ElementKind::I1;
  case 2:
    return isUnsigned ? ElementKind::U2 : ElementKind::I2;
  case 4:
    return isUnsigned ? ElementKind::U4 : ElementKind::I4;
  case 8:
    return isUnsigned ? ElementKind::U8 : ElementKind::I8;
  case 16:
    return isUnsigned ? ElementKind::U16 : ElementKind::I16;
  case 32:
    return isUnsigned ? ElementKind::U32 : ElementKind::I32;
  case 64:
    return isUnsigned ? ElementKind::U64 : ElementKind::I64;
  default:
    return std::nullopt;
  }
}

std::optional<ElementType> elementType(mlir::Type type) {
  if (auto shaped = mlir::dyn_cast<mlir::ShapedType>(type))
    type = shaped.getElementType();
  using Kind = std::optional<ElementKind>;
  bool isComplex = false;
  if (auto complex = mlir::dyn_cast<mlir::ComplexType>(type)) {
    type = complex.getElementType();
    isComplex = true;
    if (!type.isF32() && !type.isF64())
      return std::nullopt;
  }
  Kind kind = llvm::TypeSwitch<mlir::Type, Kind>(type)
                  .Case([](mlir::IntegerType t) { return integerKind(t); })
                  .Case([](mlir::IndexType) { return ElementKind::I64; })
                  .Case([](mlir::Float4E2M1FNType) { return ElementKind::F4E2M1FN; })
                  .Case([](mlir::Float6E2M3FNType) { return ElementKind::F6E2M3FN; })
                  .Case([](mlir::Float6E3M2FNType) { return ElementKind::F6E3M2FN; })
                  .Case([](mlir::Float8E3M4Type) { return ElementKind::F8E3M4; })
                  .Case([](mlir::Float8E4M3Type) { return ElementKind::F8E4M3; })
                  .Case([](mlir::Float8E4M3FNType) { return ElementKind::F8E4M3FN; })
                  .Case([](mlir::Float8E4M3FNUZType) { return ElementKind::F8E4M3FNUZ; })
                  .Case([](mlir::Float8E4M3B11FNUZType) { return ElementKind::F8E4M3B11FNUZ; })
                  .Case([](mlir::Float8E5M2Type) { return ElementKind::F8E5M2; })
                  .Case([](mlir::Float8E5M2FNUZType) { return ElementKind::F8E5M2FNUZ; })
                  .Case([](mlir::Float8E8M0FNUType) { return ElementKind::F8E8M0FNU; })
                  .Case([](mlir::BFloat16Type) { return ElementKind::BF16; })
                  .Case([](mlir::Float16Type) { return ElementKind::F16; })
                  .Case([](mlir::Float32Type) { return ElementKind::F32; })
                  .Case([](mlir::Float64Type) { return ElementKind::F64; })
                  .Default([](mlir::Type) { return std::nullopt; });
  return kind ? std::optional(ElementType{*kind, isComplex}) : std::nullopt;
}

const llvm::fltSemantics &semanticsOf(ElementKind kind) {
  switch (kind) {
  case ElementKind::F4E2M1FN:
    return llvm::APFloat::Float4E2M1FN();
  case ElementKind::F6E2M3FN:
    return llvm::APFloat::Float6E2M3FN();
  case ElementKind::F6E3M2FN:
    return llvm::APFloat::Float6E3M2FN();
  case ElementKind::F8E3M4:
    return llvm::APFloat::Float8E3M4();
  case ElementKind::F8E4M3:
    return llvm::APFloat::Float8E4M3();
  case ElementKind::F8E4M3FN:
    return llvm::APFloat::Float8E4M3FN();
  case ElementKind::F8E4M3FNUZ:
    return llvm::APFloat::Float8E4M3FNUZ();
  case ElementKind::F8E4M3B11FNUZ:
    return llvm::APFloat::Float8E4M3B11FNUZ();
  case ElementKind::F8E5M2:
    return llvm::APFloat::Float8E5M2();
  case ElementKind::F8E5M2FNUZ:
    return llvm::APFloat::Float8E5M2FNUZ();
  case ElementKind::F8E8M0FNU:
    return llvm::APFloat::Float8E8M0FNU();
  case ElementKind::BF16:
    return llvm::APFloat::BFloat();
  case ElementKind::F16:
    return llvm::APFloat::IEEEhalf();
  case ElementKind::F32:
    return llvm::APFloat::IEEEsingle();
  default:
    return llvm::APFloat::IEEEdouble();
  }
}

int64_t floatBits(ElementKind kind, double value) {
  llvm::APFloat number(value);
  bool losesInfo;
  number.convert(semanticsOf(kind), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  return static_cast<int64_t>(number.bitcastToAPInt().getZExtValue());
}

} // namespace tessera::codegen
