#include "compiler/source/NewerTypes.h"

#include "mlir/Bytecode/BytecodeImplementation.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/BuiltinTypes.h"

namespace tessera {

using namespace mlir;

// Null: a type that MLIR 22 knows itself.
static Type typeOfCode(uint64_t code, MLIRContext *context) {
  switch (code) {
  case 21:
    return FloatTF32Type::get(context);
  case 22:
    return Float8E5M2Type::get(context);
  case 23:
    return Float8E4M3Type::get(context);
  case 24:
    return Float8E4M3FNType::get(context);
  case 25:
    return Float8E5M2FNUZType::get(context);
  case 26:
    return Float8E4M3FNUZType::get(context);
  case 27:
    return Float8E4M3B11FNUZType::get(context);
  case 28:
    return Float8E3M4Type::get(context);
  case 29:
    return Float4E2M1FNType::get(context);
  case 30:
    return Float6E2M3FNType::get(context);
  case 31:
    return Float6E3M2FNType::get(context);
  case 32:
    return Float8E8M0FNUType::get(context);
  default:
    return nullptr;
  }
}

void readNewerTypes(ParserConfig &config) {
  // What leaves the type null is read again, by MLIR.
  config.getBytecodeReaderConfig().attachTypeCallback(
      [](DialectBytecodeReader &reader, StringRef dialect, Type &type) -> LogicalResult {
        uint64_t code;
        if (dialect == "builtin" && succeeded(reader.readVarInt(code)))
          type = typeOfCode(code, reader.getContext());
        return success();
      });
}

} // namespace tessera
