#include "dialects/stablehlo/ConstantElements.h"
#include "dialects/stablehlo/StablehloOps.h"
#include "mlir/Dialect/Quant/IR/Quant.h"
#include "mlir/Dialect/Quant/IR/QuantTypes.h"
#include "mlir/Interfaces/FoldInterfaces.h"
#include "mlir/Transforms/InliningUtils.h"

#include "dialects/stablehlo/StablehloDialect.cpp.inc"

using namespace mlir;

namespace tessera::stablehlo {

// What a complex number may consist of.
static bool isPart(Type element) { return element.isF32() || element.isF64(); }

bool isTensorOf(Type type, ElementKind kind) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return false;
  Type e = tensor.getElementType();
  auto width = [](Type t) { return t.isIntOrFloat() ? t.getIntOrFloatBitWidth() : 0; };
  bool pred = e.isSignlessInteger(1);
  bool integer = isa<IntegerType>(e) && !e.isSignedInteger() &&
                 llvm::is_contained({2, 4, 8, 16, 32, 64}, width(e));
  bool real = isa<FloatType>(e) && width(e) <= 64 && !isa<FloatTF32Type>(e);
  bool complex = isa<ComplexType>(e) && isPart(cast<ComplexType>(e).getElementType());
  bool quantized = isa<quant::UniformQuantizedType>(e);
  // One scale for each index of the quantized dimension (C12 and C13 of quantized types).
  if (auto axis = dyn_cast<quant::UniformQuantizedPerAxisType>(e)) {
    int32_t d = axis.getQuantizedDimension();
    if (d >= tensor.getRank() ||
        (!tensor.isDynamicDim(d) && tensor.getDimSize(d) != int64_t(axis.getScales().size())))
      return false;
  }
  // Zero is an integer that is stored (C7 of quantized types; C1 to C6 and C11 are MLIR's).
  if (auto stored = dyn_cast<quant::QuantizedType>(e)) {
    auto fits = [&](int64_t zero) {
      return stored.getStorageTypeMin() <= zero && zero <= stored.getStorageTypeMax();
    };
    auto one = dyn_cast<quant::UniformQuantizedType>(e);
    auto axis = dyn_cast<quant::UniformQuantizedPerAxisType>(e);
    if ((one && !fits(one.getZeroPoint())) || (axis && !llvm::all_of(axis.getZeroPoints(), fits)))
      return false;
  }
  // A bound is one of a dimension whose size is not known.
  if (auto extensions = dyn_cast_or_null<TypeExtensionsAttr>(tensor.getEncoding())) {
    ArrayRef<int64_t> bounds = extensions.getBounds();
    auto bound = [](auto pair) {
      return ShapedType::isDynamic(std::get<0>(pair)) || ShapedType::isDynamic(std::get<1>(pair));
    };
    if (int64_t(bounds.size()) != tensor.getRank() ||
        !llvm::all_of(llvm::zip(bounds, tensor.getShape()), bound))
      return false;
  }
  switch (kind) {
  case ElementKind::Any:
    return pred || integer || real || complex || quantized;
  case ElementKind::PerAxis:
    return pred || integer || real || complex || isa<quant::QuantizedType>(e);
  case ElementKind::FloatOrQuantized:
    return real || isa<quant::QuantizedType>(e);
  case ElementKind::Plain:
    return pred || integer || real || complex;
  case ElementKind::SignedFloatOrComplex:
    return (integer && !e.isUnsignedInteger()) || real || complex || quantized;
  case ElementKind::Part:
    return isPart(e);
  case ElementKind::Pred:
    return pred;
  case ElementKind::Int:
    return integer;
  case ElementKind::PredOrInt:
    return pred || integer;
  case ElementKind::Float:
    return real || quantized;
  case ElementKind::Real:
    return real;
  case ElementKind::IntOrReal:
    return integer || real;
  case ElementKind::PredIntOrReal:
    return pred || integer || real;
  case ElementKind::Complex:
    return complex;
  case ElementKind::FloatOrComplex:
    return real || complex || quantized;
  case ElementKind::RealOrComplex:
    return real || complex;
  case ElementKind::IntFloatOrComplex:
    return integer || real || complex || quantized;
  case ElementKind::Quantized:
    return isa<quant::QuantizedType>(e);
  case ElementKind::Dimension:
    return integer || isa<IndexType>(e);
  }
  return false;
}

bool isValueType(Type type) {
  if (auto tuple = dyn_cast<TupleType>(type))
    return llvm::all_of(tuple.getTypes(), isValueType);
  return isa<TensorType>(type) ? isTensorOf(type, ElementKind::PerAxis)
                               : !type.isIntOrIndexOrFloat();
}

OpFoldResult foldAbs(AbsOp op, Attribute operand);   // ElementwiseFolds.cpp
OpFoldResult foldSign(SignOp op, Attribute operand); // ElementwiseFolds.cpp
OpFoldResult foldIota(IotaOp op);                    // DataMovementFolds.cpp

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
    return isa<ReduceOp, ReduceWindowOp, ScatterOp, SelectAndScatterOp, SortOp, MapOp, AllReduceOp,
               ReduceScatterOp>(region->getParentOp());
  }
  LogicalResult fold(Operation *op, ArrayRef<Attribute> operands,
                     SmallVectorImpl<OpFoldResult> &results) const final {
    if (isAnnotated(op))
      return failure();
    OpFoldResult result;
    if (auto abs = dyn_cast<AbsOp>(op))
      result = foldAbs(abs, operands[0]);
    else if (auto sign = dyn_cast<SignOp>(op))
      result = foldSign(sign, operands[0]);
    else if (auto iota = dyn_cast<IotaOp>(op))
      result = foldIota(iota);
    if (!result)
      return failure();
    results.push_back(result);
    return success();
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
