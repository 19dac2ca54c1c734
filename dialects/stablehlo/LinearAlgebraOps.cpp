#include "dialects/stablehlo/Constraints.h"
#include "dialects/stablehlo/StablehloAssembly.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tessera::stablehlo;

#define GET_OP_CLASSES
#include "dialects/stablehlo/LinearAlgebraOps.cpp.inc"

namespace tessera::stablehlo {

void StablehloDialect::registerLinearAlgebraOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/stablehlo/LinearAlgebraOps.cpp.inc"
      >();
}

//===------------------------------- Constraints ------------------------------===//

LogicalResult CholeskyOp::verify() {
  RankedTensorType type = getA().getType();
  if (type.getRank() < 2)
    return violates(*this, 2) << "takes matrices, not " << type;
  ArrayRef<int64_t> last = type.getShape().take_back(2);
  if (!sameSize(last[0], last[1]))
    return violates(*this, 3) << "takes square matrices, not " << last[0] << " by " << last[1];
  return success();
}

LogicalResult TriangularSolveOp::verify() {
  RankedTensorType a = getA().getType(), b = getB().getType();
  if (failed(verifyElements(*this, "b", b, "a", a, 1)))
    return failure();
  if (a.getRank() < 2 || a.getRank() != b.getRank())
    return violates(*this, 2) << "takes matrices of one rank, not " << a << " and " << b;
  ArrayRef<int64_t> last = a.getShape().take_back(2), right = b.getShape().take_back(2);
  if (!sameSize(last[0], last[1]) || !sameSize(last[0], right[getLeftSide() ? 0 : 1]) ||
      !sameShape(a.getShape().drop_back(2), b.getShape().drop_back(2)))
    return violates(*this, 3) << "a has shape " << shapeText(a.getShape()) << ", b "
                              << shapeText(b.getShape());
  if (getTransposeA() == Transpose::TRANSPOSE_INVALID)
    return emitOpError("transpose_a must be NO_TRANSPOSE, TRANSPOSE or ADJOINT");
  if (failed(verifyElements(*this, "the result", getType(), "b", b, 4)))
    return failure();
  return verifyInferredShapes(*this, 4);
}

LogicalResult FftOp::verify() {
  RankedTensorType from = getOperand().getType(), to = getType();
  ArrayRef<int64_t> length = getFftLength();
  size_t rank = from.getRank(), n = length.size();
  if (n < 1 || n > 3)
    return violates(*this, 3) << "fft_length has " << n << " entries, 1 to 3 are possible";
  if (n > rank)
    return violates(*this, 1) << "fft_length has " << n << " entries for an operand of rank "
                              << rank;
  bool realIn = getFftType() == FftType::RFFT, realOut = getFftType() == FftType::IRFFT;
  auto part = [](Type element) {
    auto complex = dyn_cast<ComplexType>(element);
    return complex ? complex.getElementType() : element;
  };
  if (isa<ComplexType>(from.getElementType()) == realIn ||
      isa<ComplexType>(to.getElementType()) == realOut ||
      part(from.getElementType()) != part(to.getElementType()))
    return violates(*this, 2) << "element types do not fit a transform of this kind: " << from
                              << ", " << to;
  ArrayRef<int64_t> real = realIn ? from.getShape() : realOut ? to.getShape() : ArrayRef<int64_t>();
  if (!real.empty() && !sameShape(real.take_back(n), length))
    return violates(*this, 4) << "the real side has shape " << shapeText(real) << ", fft_length is "
                              << shapeText(length);
  if (llvm::any_of(length, [](int64_t size) { return size < 0; }))
    return violates(*this, 4) << "fft_length " << shapeText(length) << " must not be negative";
  int64_t last = from.getShape().back(), half = length.back() == 0 ? 0 : length.back() / 2 + 1;
  if (realOut && !sameSize(last, half))
    return violates(*this, 5) << "the operand's last dimension has size " << last << ", expected "
                              << half;
  return verifyInferredShapes(*this, 5);
}

LogicalResult RngOp::verify() {
  RankedTensorType a = getA().getType(), b = getB().getType();
  Type element = a.getElementType();
  if (a.getRank() != 0 || b.getRank() != 0)
    return emitOpError() << "takes scalars a and b, not " << a << " and " << b;
  if (failed(verifyElements(*this, "b", b, "a", a, 1)) ||
      failed(verifyElements(*this, "the result", getType(), "a", a, 1)))
    return failure();
  if (getRngDistribution() == RngDistribution::NORMAL && !isa<FloatType>(element))
    return violates(*this, 2) << "a normal distribution has no elements " << element;
  RankedTensorType shape = getShape().getType();
  if (shape.getRank() != 1 || !sameSize(shape.getDimSize(0), getType().getRank()))
    return violates(*this, 3) << "shape is " << shape << " for a result of rank "
                              << getType().getRank();
  DenseIntElementsAttr sizes;
  if (matchPattern(getShape(), m_Constant(&sizes)))
    for (auto [d, size] : llvm::enumerate(sizes.getValues<APInt>()))
      if (!sameSize(size.getSExtValue(), getType().getDimSize(d)))
        return violates(*this, 3) << "dimension " << d << " of the result has size "
                                  << getType().getDimSize(d) << ", shape says "
                                  << size.getSExtValue();
  return success();
}

LogicalResult RngBitGeneratorOp::verify() {
  RankedTensorType state = getInitialState().getType();
  if (state != getOutputState().getType())
    return violates(*this, 1) << "the state has type " << state << ", the new state "
                              << getOutputState().getType();
  int64_t size = state.getRank() == 1 ? state.getDimSize(0) : 0;
  bool fits = getRngAlgorithm() == RngAlgorithm::DEFAULT || ShapedType::isDynamic(size) ||
              size == 2 || (getRngAlgorithm() == RngAlgorithm::PHILOX && size == 3);
  if (!fits)
    return violates(*this, 2) << "a state of type " << state << " does not fit the algorithm";
  return verifySized(*this, getOutput().getType());
}

} // namespace tessera::stablehlo
