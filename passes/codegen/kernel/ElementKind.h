// Element types as kernels see them: their size in memory and what computes with them.
//
// Floats narrower than f32 compute in f32. Those of 16 bits are rounded where they are stored,
// converted or compared, the narrower ones after each operation. i1 and the integers and floats of
// less than a byte take a byte each in memory: i2 and i4 with their sign extended, the others with
// zeros above. Complex numbers never reach this level: the graph builder splits them into two real
// values.
#pragma once

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/APFloat.h"

#include <optional>

namespace tessera::codegen {

enum class ElementKind : uint8_t {
  I1,
  I2,
  I4,
  I8,
  I16,
  I32,
  I64,
  U2,
  U4,
  U8,
  U16,
  U32,
  U64,
  F4E2M1FN,
  F6E2M3FN,
  F6E3M2FN,
  F8E3M4,
  F8E4M3,
  F8E4M3FN,
  F8E4M3FNUZ,
  F8E4M3B11FNUZ,
  F8E5M2,
  F8E5M2FNUZ,
  F8E8M0FNU,
  BF16,
  F16,
  F32,
  F64
};

// What one element of a tensor is: one number, or a pair (complex).
struct ElementType {
  ElementKind kind;
  bool complex = false;
  // Bytes of one element in memory.
  int64_t bytes() const;
};

// Empty for types that kernels don't know (quantised).
std::optional<ElementType> elementType(mlir::Type type);

int64_t byteSize(ElementKind kind);
unsigned bitWidth(ElementKind kind); // of the value: 1 for I1, 4 for I4
// The unsigned integer of that many bits; I1 for one.
ElementKind bitsKind(unsigned width);
inline bool isFloat(ElementKind kind) { return kind >= ElementKind::F4E2M1FN; }
inline bool isSigned(ElementKind kind) {
  return kind >= ElementKind::I2 && kind <= ElementKind::I64;
}
inline bool isInteger(ElementKind kind) { return !isFloat(kind); }
// Computed in f32, rounded once.
inline bool isNarrowFloat(ElementKind kind) { return isFloat(kind) && kind < ElementKind::F32; }
// Eight bits or less: TinyFloat.h.
inline bool isTinyFloat(ElementKind kind) { return isFloat(kind) && kind < ElementKind::BF16; }

// Of a float.
const llvm::fltSemantics &semanticsOf(ElementKind kind);
// The bit pattern of the float nearest to `value`.
int64_t floatBits(ElementKind kind, double value);

} // namespace tessera::codegen
