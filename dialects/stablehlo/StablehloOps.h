// The StableHLO dialect: types, attributes and the operation classes of every family.
#pragma once

#include "dialects/interfaces/OpInterfaces.h"
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
  PerAxis,
  Plain,
  FloatOrQuantized,
  SignedFloatOrComplex,
  Part,
  Pred,
  Int,
  PredOrInt,
  Float,
  Real, // floating-point, not quantized
  IntOrReal,
  PredIntOrReal,
  Complex,
  FloatOrComplex,
  RealOrComplex,
  IntFloatOrComplex,
  Quantized,
  Dimension
};

/// Whether `type` is a ranked tensor whose elements are of `kind`.
bool isTensorOf(mlir::Type type, ElementKind kind);

/// Whether a value may have this type: a tensor only of the specification's elements, a tuple only of
/// such types.
bool isValueType(mlir::Type type);

/// Whether one value may have both types: equal up to sizes that are not known and the parameters
/// of quantized elements.
bool typesAgree(mlir::Type a, mlir::Type b);
bool typesAgree(mlir::TypeRange a, mlir::TypeRange b);

/// The one type that the operands agree on, with every size that one of them knows.
llvm::LogicalResult inferOneType(mlir::ValueRange operands,
                                 llvm::SmallVectorImpl<mlir::Type> &types);
llvm::LogicalResult verifyOneType(mlir::Operation *op, int constraint);

llvm::LogicalResult verifyOneShape(mlir::Operation *op, int constraint);

template <int constraint> struct OneShape {
  template <typename Op> struct Impl : mlir::OpTrait::TraitBase<Op, Impl> {
    static llvm::LogicalResult verifyTrait(mlir::Operation *op) {
      return verifyOneShape(op, constraint);
    }
  };
};
template <int constraint> struct OneType {
  template <typename Op> struct Impl : mlir::OpTrait::TraitBase<Op, Impl> {
    static llvm::LogicalResult verifyTrait(mlir::Operation *op) {
      return verifyOneType(op, constraint);
    }
  };
};

/// A table of device numbers, or axes of a mesh.
bool isReplicaGroups(mlir::Attribute groups);

class ResultAccuracyAttr;
ResultAccuracyAttr defaultAccuracy(mlir::MLIRContext *context);

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
