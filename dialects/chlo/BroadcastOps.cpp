#include "dialects/chlo/ChloOps.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "dialects/chlo/BroadcastOps.cpp.inc"

namespace tessera::chlo {

void ChloDialect::registerBroadcastOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/chlo/BroadcastOps.cpp.inc"
      >();
}

//===------------------------------- Constraints ------------------------------===//

// The shape of operands that are broadcast from their last dimensions, or, with `dims`, from those
// of the longer operand that the shorter one's dimensions are. Failure where they don't fit.
static FailureOr<SmallVector<int64_t>> broadcastShape(ArrayRef<RankedTensorType> types,
                                                      std::optional<ArrayRef<int64_t>> dims) {
  int64_t rank = 0;
  for (RankedTensorType type : types)
    rank = std::max(rank, type.getRank());
  SmallVector<int64_t> shape(rank, 1);
  for (RankedTensorType type : types) {
    bool placed = dims && type.getRank() < rank;
    if (placed && int64_t(dims->size()) != type.getRank())
      return failure();
    for (int64_t d = 0; d < type.getRank(); ++d) {
      int64_t into = placed ? (*dims)[d] : rank - type.getRank() + d, size = type.getDimSize(d);
      if (into < 0 || into >= rank)
        return failure();
      int64_t &to = shape[into];
      if (to == 1)
        to = size;
      else if (ShapedType::isDynamic(to) && !ShapedType::isDynamic(size) && size != 1)
        to = size;
      else if (!ShapedType::isDynamic(to) && !ShapedType::isDynamic(size) && size != 1 &&
               size != to)
        return failure();
    }
  }
  return shape;
}

static LogicalResult verifyBroadcast(Operation *op, ValueRange operands,
                                     std::optional<ArrayRef<int64_t>> dims, Type element) {
  SmallVector<RankedTensorType> types;
  for (Value operand : operands)
    types.push_back(cast<RankedTensorType>(operand.getType()));
  FailureOr<SmallVector<int64_t>> shape = broadcastShape(types, dims);
  auto result = cast<RankedTensorType>(op->getResult(0).getType());
  if (failed(shape))
    return op->emitOpError() << "has operands of shapes that don't broadcast to one";
  if (!stablehlo::typesAgree(result, RankedTensorType::get(*shape, element)))
    return op->emitOpError() << "returns " << result << ", expected "
                             << RankedTensorType::get(*shape, element);
  return success();
}

template <typename Op> static LogicalResult verifyBinary(Op op, Type element = {}) {
  Type lhs = op.getLhs().getType().getElementType(), rhs = op.getRhs().getType().getElementType();
  if (lhs != rhs)
    return op->emitOpError() << "has operands of elements " << lhs << " and " << rhs;
  return verifyBroadcast(op, {op.getLhs(), op.getRhs()}, op.getBroadcastDimensions(),
                         element ? element : lhs);
}

LogicalResult BroadcastAddOp::verify() { return verifyBinary(*this); }
LogicalResult BroadcastAndOp::verify() { return verifyBinary(*this); }
LogicalResult BroadcastAtan2Op::verify() { return verifyBinary(*this); }
LogicalResult BroadcastDivOp::verify() { return verifyBinary(*this); }
LogicalResult BroadcastMaxOp::verify() { return verifyBinary(*this); }
LogicalResult BroadcastMinOp::verify() { return verifyBinary(*this); }
LogicalResult BroadcastMulOp::verify() { return verifyBinary(*this); }
LogicalResult BroadcastNextAfterOp::verify() { return verifyBinary(*this); }
LogicalResult BroadcastOrOp::verify() { return verifyBinary(*this); }
LogicalResult BroadcastPolygammaOp::verify() { return verifyBinary(*this); }
LogicalResult BroadcastPowOp::verify() { return verifyBinary(*this); }
LogicalResult BroadcastRemOp::verify() { return verifyBinary(*this); }
LogicalResult BroadcastShiftLeftOp::verify() { return verifyBinary(*this); }
LogicalResult BroadcastShiftRightArithmeticOp::verify() { return verifyBinary(*this); }
LogicalResult BroadcastShiftRightLogicalOp::verify() { return verifyBinary(*this); }
LogicalResult BroadcastSubOp::verify() { return verifyBinary(*this); }
LogicalResult BroadcastXorOp::verify() { return verifyBinary(*this); }
LogicalResult BroadcastZetaOp::verify() { return verifyBinary(*this); }
LogicalResult BroadcastComplexOp::verify() {
  Type part = getLhs().getType().getElementType();
  if (!part.isF32() && !part.isF64())
    return emitOpError() << "takes f32 or f64 parts, not " << part;
  return verifyBinary(*this, ComplexType::get(part));
}
LogicalResult BroadcastCompareOp::verify() {
  return verifyBinary(*this, IntegerType::get(getContext(), 1));
}
LogicalResult BroadcastSelectOp::verify() {
  Type element = getOnTrue().getType().getElementType();
  if (element != getOnFalse().getType().getElementType())
    return emitOpError("needs values of one element type");
  return verifyBroadcast(*this, {getPred(), getOnTrue(), getOnFalse()}, std::nullopt, element);
}

} // namespace tessera::chlo
