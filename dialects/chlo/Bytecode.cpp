// The dialect's enumerations in MLIR bytecode as other builds write them; the rest travels as text.
#include "dialects/chlo/ChloOps.h"
#include "mlir/Bytecode/BytecodeImplementation.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;

namespace tessera::chlo {
namespace {

enum AttrCode : uint64_t { kComparisonDirection = 0, kComparisonType = 1 };

struct Bytecode : BytecodeDialectInterface {
  explicit Bytecode(Dialect *dialect) : BytecodeDialectInterface(dialect) {}

  Attribute readAttribute(DialectBytecodeReader &reader) const override {
    uint64_t code, number;
    if (failed(reader.readVarInt(code)) || failed(reader.readVarInt(number)))
      return {};
    if (code == kComparisonDirection && number <= 255)
      if (auto value = symbolizeComparisonDirection(uint32_t(number)))
        return ComparisonDirectionAttr::get(reader.getContext(), *value);
    if (code == kComparisonType && number <= 255)
      if (auto value = symbolizeComparisonType(uint32_t(number)))
        return ComparisonTypeAttr::get(reader.getContext(), *value);
    reader.emitError() << "chlo has no attribute with code " << code << " and value " << number;
    return {};
  }

  LogicalResult writeAttribute(Attribute attr, DialectBytecodeWriter &writer) const override {
    if (auto direction = dyn_cast<ComparisonDirectionAttr>(attr)) {
      writer.writeVarInt(kComparisonDirection);
      writer.writeVarInt(uint64_t(direction.getValue()));
      return success();
    }
    if (auto type = dyn_cast<ComparisonTypeAttr>(attr)) {
      writer.writeVarInt(kComparisonType);
      writer.writeVarInt(uint64_t(type.getValue()));
      return success();
    }
    return failure();
  }
};

} // namespace

void registerBytecode(ChloDialect *dialect) { dialect->addInterfaces<Bytecode>(); }

} // namespace tessera::chlo
