// The StableHLO dialect: types, attributes and the operation classes of every family.
#ifndef TESSERA_DIALECTS_STABLEHLO_STABLEHLOOPS_H
#define TESSERA_DIALECTS_STABLEHLO_STABLEHLOOPS_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tessera::stablehlo {

/// The element types that an operand may have.
enum class ElementKind {
  Any,
  Pred,
  Int,
  PredOrInt,
  Float,
  Complex,
  FloatOrComplex,
  IntFloatOrComplex,
  Quantized,
  Dimension
};

/// Whether `type` is a ranked tensor whose elements are of `kind`.
bool isTensorOf(mlir::Type type, ElementKind kind);

} // namespace tessera::stablehlo

#include "dialects/stablehlo/StablehloDialect.h.inc"

#include "dialects/stablehlo/StablehloEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/stablehlo/StablehloAttrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/stablehlo/StablehloTypes.h.inc"

#define GET_OP_CLASSES
#include "dialects/stablehlo/ControlFlowOps.h.inc"
#define GET_OP_CLASSES
#include "dialects/stablehlo/CollectiveOps.h.inc"
#define GET_OP_CLASSES
#include "dialects/stablehlo/ContractionOps.h.inc"
#define GET_OP_CLASSES
#include "dialects/stablehlo/DataMovementOps.h.inc"
#define GET_OP_CLASSES
#include "dialects/stablehlo/DynamicOps.h.inc"
#define GET_OP_CLASSES
#include "dialects/stablehlo/ElementwiseOps.h.inc"
#define GET_OP_CLASSES
#include "dialects/stablehlo/HostOps.h.inc"
#define GET_OP_CLASSES
#include "dialects/stablehlo/LinearAlgebraOps.h.inc"
#define GET_OP_CLASSES
#include "dialects/stablehlo/QuantizedOps.h.inc"
#define GET_OP_CLASSES
#include "dialects/stablehlo/ReductionOps.h.inc"

#endif
