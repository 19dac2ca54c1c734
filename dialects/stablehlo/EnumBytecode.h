// How an attribute of one enumeration lies in bytecode, StableHLO's and the versioned form's: by its
// number.
#pragma once

#include "mlir/Bytecode/BytecodeImplementation.h"
#include "mlir/IR/Diagnostics.h"

namespace tessera::stablehlo {

// Null, with an error, where `symbolize` knows no such number.
template <typename AttrT, typename Symbolize>
mlir::Attribute readEnum(mlir::DialectBytecodeReader &reader, Symbolize symbolize) {
  uint64_t number;
  if (failed(reader.readVarInt(number)))
    return {};
  if (number <= 255)
    if (auto value = symbolize(uint32_t(number)))
      return AttrT::get(reader.getContext(), *value);
  return reader.emitError() << "an enumeration has no value " << number, mlir::Attribute();
}

} // namespace tessera::stablehlo
