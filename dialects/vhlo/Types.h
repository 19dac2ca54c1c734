// The types of vhlo by their codes in the bytecode and their names in the text.
#pragma once

#include "dialects/vhlo/Vhlo.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpImplementation.h"

namespace mlir {
class DialectBytecodeReader;
class DialectBytecodeWriter;
} // namespace mlir

namespace tessera::vhlo {

/// Types made of others.
enum class TypeForm : uint64_t {
  Complex = 1,
  Function = 8,
  Tensor = 20,
  TensorWithEncoding = 21,
  Tuple = 23,
  Quantized = 24,
  UnrankedTensor = 25,
  QuantizedPerAxis = 30,
  Buffer = 41,
  Future = 42,
};

/// A type without parameters.
struct SimpleType {
  uint64_t code;
  llvm::StringRef name; // f32_v1
  Version since;
  mlir::Type (*make)(mlir::MLIRContext *);
};

llvm::ArrayRef<SimpleType> simpleTypes();
const SimpleType *findSimpleType(uint64_t code);
const SimpleType *findSimpleType(llvm::StringRef name);
/// By the plain type, null when it is none of them.
const SimpleType *findSimpleType(mlir::Type plain);

/// A float's semantics when `plain` is a float that an artifact may hold, else null.
const llvm::fltSemantics *floatSemantics(mlir::Type plain);
/// The bits of an integer in an artifact, 0 when `plain` is none.
unsigned integerWidth(mlir::Type plain);

/// Reads a versioned type for the plain one that it stands for.
mlir::ParseResult parsePlain(mlir::AsmParser &parser, mlir::Type &type);
llvm::LogicalResult readPlain(mlir::DialectBytecodeReader &reader, mlir::Type &type);

/// The code and fields of a type. Reading gives null after an error.
mlir::Type readPlainType(mlir::DialectBytecodeReader &reader);
void writePlainType(mlir::DialectBytecodeWriter &writer, mlir::Type plain);

} // namespace tessera::vhlo
