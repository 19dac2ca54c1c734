// The vhlo dialect: what portable artifacts hold. Its operations are found in a table (OpTable.h).
#pragma once

#include "dialects/vhlo/Version.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Quant/IR/Quant.h"
#include "mlir/IR/Attributes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/Types.h"
#include "mlir/Support/TypeID.h"

namespace tessera::stablehlo {
class StablehloDialect;
}

namespace tessera::vhlo {

/// How an attribute is written; the numbers are those of the bytecode.
enum class AttrForm : uint64_t {
  None = 0,
  Array = 1,
  Boolean = 2,
  ComparisonDirection = 3,
  ComparisonType = 4,
  ApiVersion = 5,
  Dictionary = 6,
  FftType = 7,
  Float = 8,
  Integer = 9,
  OutputOperandAlias = 10,
  Precision = 11,
  RngAlgorithm = 12,
  RngDistribution = 13,
  String = 14,
  Tensor = 15,
  Transpose = 16,
  Type = 17,
  TypeExtensions = 18,
  ResultAccuracyMode = 19,
  ResultAccuracy = 20,
  SubAxisInfo = 21,
  AxisRef = 22,
  ReplicaGroupMeshAxes = 23,
  MeshAxis = 24,
  Mesh = 25,
};

} // namespace tessera::vhlo

#include "dialects/vhlo/VhloDialect.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/vhlo/VhloAttrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/vhlo/VhloTypes.h.inc"

namespace tessera::vhlo {

/// The versioned form of a type or attribute. What has none (an attribute of another dialect) comes
/// back as it is.
mlir::Type versioned(mlir::Type plain);
mlir::Attribute versioned(mlir::Attribute plain);
/// The other way round.
mlir::Type plain(mlir::Type type);
mlir::Attribute plain(mlir::Attribute attr);

/// The form that an attribute is written in, None when it has none.
AttrForm formOf(mlir::Attribute plain);
bool hasVersionedForm(mlir::Type plain);

/// The first release that has all of a plain type or attribute.
Version introduced(mlir::Type plain);
Version introduced(mlir::Attribute plain);

/// A dense tensor from the bytes of an artifact, null when they don't fit the type.
mlir::Attribute tensorFromBytes(mlir::Type plainType, llvm::ArrayRef<char> bytes);

} // namespace tessera::vhlo
