#include "passes/package/ElementTypes.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tessera {

static program::ElementType integerType(IntegerType type) {
  bool isUnsigned = type.isUnsigned();
  switch (type.getWidth()) {
  case 1:
    return program::I1;
  case 2:
    return isUnsigned ? program::U2 : program::I2;
  case 4:
    return isUnsigned ? program::U4 : program::I4;
  case 8:
    return isUnsigned ? program::U8 : program::I8;
  case 16:
    return isUnsigned ? program::U16 : program::I16;
  case 32:
    return isUnsigned ? program::U32 : program::I32;
  case 64:
    return isUnsigned ? program::U64 : program::I64;
  default:
    return program::ELEMENT_INVALID;
  }
}

program::ElementType elementTypeOf(Type type) {
  return TypeSwitch<Type, program::ElementType>(type)
      .Case([](IntegerType t) { return integerType(t); })
      .Case([](ComplexType t) { return t.getElementType().isF32() ? program::C64 : program::C128; })
      .Case([](BFloat16Type) { return program::BF16; })
      .Case([](Float16Type) { return program::F16; })
      .Case([](Float32Type) { return program::F32; })
      .Case([](Float64Type) { return program::F64; })
      .Case([](Float8E4M3FNType) { return program::F8E4M3FN; })
      .Case([](Float8E5M2Type) { return program::F8E5M2; })
      .Case([](Float8E4M3B11FNUZType) { return program::F8E4M3B11FNUZ; })
      .Case([](Float8E4M3FNUZType) { return program::F8E4M3FNUZ; })
      .Case([](Float8E5M2FNUZType) { return program::F8E5M2FNUZ; })
      .Case([](Float8E4M3Type) { return program::F8E4M3; })
      .Case([](Float8E3M4Type) { return program::F8E3M4; })
      .Case([](Float8E8M0FNUType) { return program::F8E8M0FNU; })
      .Case([](Float4E2M1FNType) { return program::F4E2M1FN; })
      .Case([](Float6E2M3FNType) { return program::F6E2M3FN; })
      .Case([](Float6E3M2FNType) { return program::F6E3M2FN; })
      .Default([](Type) { return program::ELEMENT_INVALID; });
}

} // namespace tessera
