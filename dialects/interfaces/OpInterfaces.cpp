#include "dialects/interfaces/OpInterfaces.h"

#include "dialects/interfaces/OpInterfaces.cpp.inc"

using namespace mlir;
using tessera::fusion::NodeKind;
using tessera::fusion::Use;

namespace tessera {

int64_t byteSize(RankedTensorType type) {
  Type element = type.getElementType();
  int64_t bits = 0;
  if (auto complex = dyn_cast<ComplexType>(element))
    bits = 2 * complex.getElementType().getIntOrFloatBitWidth();
  else if (isa<IndexType>(element))
    bits = 64;
  else
    bits = element.getIntOrFloatBitWidth();
  return type.getNumElements() * ((bits + 7) / 8);
}

double bytesOfArrays(Operation *op) {
  double bytes = 0;
  for (TypeRange types : {TypeRange(op->getOperandTypes()), TypeRange(op->getResultTypes())})
    for (Type type : types)
      if (auto array = dyn_cast<RankedTensorType>(type))
        bytes += static_cast<double>(byteSize(array));
  return bytes;
}

static double elementsOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape() ? static_cast<double>(type.getNumElements()) : 0;
}

Use usualUse(Operation *op, NodeKind kind, unsigned operand) {
  switch (kind) {
  case NodeKind::Alone:
    return isa<LibraryCallOpInterface>(op) ? Use::Memory : Use::Whole;
  case NodeKind::Outside:
  case NodeKind::Constant:
    return Use::Whole;
  case NodeKind::Pointwise:
    return elementsOf(op->getOperand(operand)) == elementsOf(op->getResult(0)) ? Use::Once
                                                                               : Use::Reread;
  case NodeKind::Convert:
  case NodeKind::Reshape:
  case NodeKind::Transpose:
    return Use::Once;
  case NodeKind::Broadcast:
    return Use::Reread;
  case NodeKind::Slice:
  case NodeKind::Movement: // behind the array: index scalars, a padding value, indices
    return operand == 0 ? Use::Once : Use::Reread;
  case NodeKind::Reduce:
    return operand < op->getNumOperands() / 2 ? Use::Reduced : Use::Reread;
  case NodeKind::Contraction:
    return Use::Packed;
  case NodeKind::Update:
    return operand == 0 ? Use::Whole : operand == 1 ? Use::Once : Use::Reread;
  }
  return Use::Whole;
}

bool isElementwise(Operation *op) {
  auto elementwise = dyn_cast<ElementwiseOpInterface>(op);
  return elementwise && elementwise.getElementwiseKind() != ElementwiseKind::Regroup;
}

bool isExpensive(Operation *op) {
  auto elementwise = dyn_cast<ElementwiseOpInterface>(op);
  return elementwise && elementwise.getElementWeight() == ElementWeight::Expensive;
}

sharding::PartialLaw partialLawOf(Operation *op) {
  auto partial = dyn_cast<PartialValueOpInterface>(op);
  return partial ? partial.getPartialLaw() : sharding::PartialLaw::None;
}

double flopsOf(Operation *op) {
  if (auto cost = dyn_cast<CostOpInterface>(op))
    return cost.getFlops();
  return op->getNumResults() ? elementsOf(op->getResult(0)) : 0;
}

NodeKind fusionKindOf(Operation *op) {
  bool hasArrays = op->getNumResults() && llvm::all_of(op->getResultTypes(), [](Type type) {
                     return isa<RankedTensorType>(type);
                   });
  if (!hasArrays)
    return NodeKind::Outside;
  if (auto fusion = dyn_cast<FusionOpInterface>(op))
    return fusion.getFusionKind();
  if (isa<LibraryCallOpInterface>(op))
    return NodeKind::Alone;
  if (auto elementwise = dyn_cast<ElementwiseOpInterface>(op))
    switch (elementwise.getElementwiseKind()) {
    case ElementwiseKind::Compute:
      return NodeKind::Pointwise;
    case ElementwiseKind::Convert:
      return NodeKind::Convert;
    case ElementwiseKind::Regroup:
      return NodeKind::Movement;
    }
  return NodeKind::Outside;
}

Use operandUse(Operation *op, unsigned operand) {
  if (auto fusion = dyn_cast<FusionOpInterface>(op))
    return fusion.getOperandUse(operand);
  return usualUse(op, fusionKindOf(op), operand);
}

std::optional<Localization> localizationOf(Operation *op) {
  if (auto localization = dyn_cast<LocalizationOpInterface>(op))
    return localization.getLocalization();
  if (isa<ElementwiseOpInterface>(op))
    return Localization::Elementwise;
  return std::nullopt;
}

} // namespace tessera
