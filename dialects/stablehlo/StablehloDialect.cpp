#include "dialects/stablehlo/StablehloOps.h"
#include "mlir/Dialect/Quant/IR/Quant.h"
#include "mlir/Dialect/Quant/IR/QuantTypes.h"
#include "mlir/Interfaces/FoldInterfaces.h"
#include "mlir/Transforms/InliningUtils.h"

#include "dialects/stablehlo/StablehloDialect.cpp.inc"

using namespace mlir;

namespace tessera::stablehlo {

bool isTensorOf(Type type, ElementKind kind) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return false;
  Type e = tensor.getElementType();
  bool pred = e.isInteger(1), integer = isa<IntegerType>(e) && !pred, real = isa<FloatType>(e);
  bool complex = isa<ComplexType>(e), quantized = isa<quant::QuantizedType>(e);
  switch (kind) {
  case ElementKind::Any:
    return true;
  case ElementKind::Pred:
    return pred;
  case ElementKind::Int:
    return integer || quantized;
  case ElementKind::PredOrInt:
    return pred || integer;
  case ElementKind::Float:
    return real || quantized;
  case ElementKind::Complex:
    return complex;
  case ElementKind::FloatOrComplex:
    return real || complex || quantized;
  case ElementKind::IntFloatOrComplex:
    return integer || real || complex || quantized;
  case ElementKind::Quantized:
    return quantized;
  case ElementKind::Dimension:
    return integer || isa<IndexType>(e);
  }
  return false;
}

namespace {
// Everything may be inlined anywhere: the dialect's regions hold no symbols.
struct StablehloInliner : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;
  bool isLegalToInline(Operation *, Operation *, bool) const final { return true; }
  bool isLegalToInline(Region *, Region *, bool, IRMapping &) const final { return true; }
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final { return true; }
};

// Constants stay in the scalar computation of a reduction, sort or scatter, so that it can be read by itself.
struct StablehloFolder : DialectFoldInterface {
  using DialectFoldInterface::DialectFoldInterface;
  bool shouldMaterializeInto(Region *region) const final {
    return isa<ReduceOp, ReduceWindowOp, ScatterOp, SelectAndScatterOp, SortOp, MapOp, AllReduceOp, ReduceScatterOp>(
        region->getParentOp());
  }
};
} // namespace

void registerBytecode(StablehloDialect *dialect); // Bytecode.cpp

void StablehloDialect::initialize() {
  registerAttributes();
  registerElementwiseOps();
  registerDataMovementOps();
  registerReductionOps();
  registerContractionOps();
  registerControlFlowOps();
  registerHostOps();
  registerCollectiveOps();
  registerLinearAlgebraOps();
  registerDynamicOps();
  registerQuantizedOps();
  registerBytecode(this);
  addInterfaces<StablehloInliner, StablehloFolder>();
}

Operation *StablehloDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type,
                                                 Location loc) {
  auto elements = dyn_cast<ElementsAttr>(value);
  if (!elements || elements.getType() != type)
    return nullptr;
  return ConstantOp::create(builder, loc, elements);
}

} // namespace tessera::stablehlo
