// The op interfaces that passes ask instead of naming ops (OpInterfaces.td), with what they answer for
// ops that say nothing.
#pragma once

#include "dialects/interfaces/LibraryCall.h"
#include "lib/fusion/NodeKinds.h"
#include "lib/sharding/PartialLaw.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"

namespace tessera {

enum class ElementwiseKind : uint8_t {
  Compute, // each element of the result from the operands' at the same place
  Convert, // the same, and only the type changes
  Regroup, // several elements of one side are one of the other, along the last dimension: bits
};

// Whether an element costs less to compute than to read from memory.
enum class ElementWeight : uint8_t { Cheap, Expensive };

enum class Localization : uint8_t {
  Elementwise, // the same op on local parts of one layout
  ByRule,      // the same op on local parts; only factors that its sharding rule passes through are
               // sharded. Without a rule it gets the whole
};

// Bytes of a dense array as kernels and collectives see it: i1 takes a byte, narrower integers
// round up to whole bytes.
int64_t byteSize(mlir::RankedTensorType type);

// Of all operands and results that are arrays.
double bytesOfArrays(mlir::Operation *op);

// How an op of this kind reads an operand, from the places of operands alone.
fusion::Use usualUse(mlir::Operation *op, fusion::NodeKind kind, unsigned operand);

//===--------------------------- Answers, whatever the op ---------------------===//

// Whether each element of the results depends on the operands' elements at the same place only.
bool isElementwise(mlir::Operation *op);
bool isExpensive(mlir::Operation *op);
sharding::PartialLaw partialLawOf(mlir::Operation *op);
double flopsOf(mlir::Operation *op);
fusion::NodeKind fusionKindOf(mlir::Operation *op);
fusion::Use operandUse(mlir::Operation *op, unsigned operand);
std::optional<Localization> localizationOf(mlir::Operation *op);

//===------------------- Traits that answer for a class of ops ----------------===//

template <ElementwiseKind kind, ElementWeight weight> struct ElementwiseAs {
  template <typename Op> struct Impl : mlir::OpTrait::TraitBase<Op, Impl> {
    ElementwiseKind getElementwiseKind() { return kind; }
    ElementWeight getElementWeight() { return weight; }
  };
};
template <sharding::PartialLaw law> struct PartialAs {
  template <typename Op> struct Impl : mlir::OpTrait::TraitBase<Op, Impl> {
    sharding::PartialLaw getPartialLaw() { return law; }
  };
};
template <fusion::NodeKind kind> struct FusedAs {
  template <typename Op> struct Impl : mlir::OpTrait::TraitBase<Op, Impl> {
    fusion::NodeKind getFusionKind() { return kind; }
  };
};
template <Localization how> struct LocalizeAs {
  template <typename Op> struct Impl : mlir::OpTrait::TraitBase<Op, Impl> {
    Localization getLocalization() { return how; }
  };
};

} // namespace tessera

#include "dialects/interfaces/OpInterfaces.h.inc"
