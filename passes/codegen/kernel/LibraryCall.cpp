#include "passes/codegen/kernel/LibraryCall.h"

#include <cmath>

namespace tessera::codegen {

using namespace mlir;
using namespace tessera::stablehlo;

Operation *libraryOperation(Block &body) {
  for (Operation &op : body)
    if (isa<FftOp, CholeskyOp, TriangularSolveOp, CustomCallOp>(op))
      return &op;
  return nullptr;
}

int64_t batchOf(RankedTensorType type, size_t inner) {
  return ShapedType::getNumElements(type.getShape().drop_back(inner));
}

std::optional<library::Element> libraryElement(Type type) {
  if (auto shaped = dyn_cast<ShapedType>(type))
    type = shaped.getElementType();
  auto complex = dyn_cast<ComplexType>(type);
  Type real = complex ? complex.getElementType() : type;
  if (real.isF32())
    return complex ? library::Element::C64 : library::Element::F32;
  if (real.isF64())
    return complex ? library::Element::C128 : library::Element::F64;
  return std::nullopt;
}

static FailureOr<LibraryCall> fftCall(FftOp op) {
  auto from = cast<RankedTensorType>(op.getOperand().getType());
  std::optional<library::Element> element = libraryElement(from);
  if (!element)
    return op.emitError("a Fourier transform of ")
           << from.getElementType() << " has no library kernel; convert to f32 or f64 before it";
  library::Fft fft;
  fft.kind = op.getFftType() == FftType::FFT    ? library::Fft::Forward
             : op.getFftType() == FftType::IFFT ? library::Fft::Inverse
             : op.getFftType() == FftType::RFFT ? library::Fft::RealForward
                                                : library::Fft::RealInverse;
  fft.isDouble = library::isDouble(*element);
  fft.lengths.assign(op.getFftLength().begin(), op.getFftLength().end());
  fft.batch = batchOf(from, fft.lengths.size());
  LibraryCall call{fft.call(), {}};
  double points = ShapedType::getNumElements(op.getFftLength());
  call.info.grid = library::gridOf(fft.batch);
  call.info.scratchBytes = fft.scratchBytes();
  call.info.flops = 5.0 * fft.batch * points * std::log2(std::max(points, 2.0));
  return call;
}

static FailureOr<LibraryCall> choleskyCall(CholeskyOp op) {
  auto type = cast<RankedTensorType>(op.getA().getType());
  std::optional<library::Element> element = libraryElement(type);
  if (!element)
    return op.emitError("a Cholesky decomposition of ")
           << type.getElementType() << " has no library kernel; convert to f32 or f64 before it";
  library::Cholesky cholesky{static_cast<int64_t>(*element), batchOf(type, 2),
                             type.getShape().back(), op.getLower()};
  LibraryCall call{cholesky.call(), {}};
  call.info.grid = library::gridOf(cholesky.batch);
  double n = cholesky.n;
  call.info.flops = cholesky.batch * n * n * n / 3;
  return call;
}

static FailureOr<LibraryCall> triangularSolveCall(TriangularSolveOp op) {
  auto type = cast<RankedTensorType>(op.getB().getType());
  std::optional<library::Element> element = libraryElement(type);
  if (!element)
    return op.emitError("a triangular solve of ")
           << type.getElementType() << " has no library kernel; convert to f32 or f64 before it";
  library::TriangularSolve solve;
  solve.element = static_cast<int64_t>(*element);
  solve.batch = batchOf(type, 2);
  solve.rows = type.getShape().end()[-2];
  solve.columns = type.getShape().back();
  solve.leftSide = op.getLeftSide();
  solve.lower = op.getLower();
  solve.unitDiagonal = op.getUnitDiagonal();
  solve.transpose = op.getTransposeA() == Transpose::ADJOINT     ? library::TriangularSolve::Adjoint
                    : op.getTransposeA() == Transpose::TRANSPOSE ? library::TriangularSolve::Plain
                                                                 : library::TriangularSolve::None;
  LibraryCall call{solve.call(), {}};
  call.info.grid = library::gridOf(solve.batch);
  call.info.flops = static_cast<double>(solve.batch) * solve.rows * solve.columns * solve.order();
  return call;
}

FailureOr<LibraryCall> libraryCall(exec::KernelOp kernel, Operation *op) {
  // The kernel is this operation: its operands are the inputs in order, its results the outputs.
  bool alone = ValueRange(kernel.getBlock()->getArguments()) == op->getOperands() &&
               kernel.getBlock()->getTerminator()->getOperands() == op->getResults();
  if (!alone)
    return op->emitError("'") << op->getName()
                              << "' is computed by a library and must be alone in its kernel";
  if (auto fft = dyn_cast<FftOp>(op))
    return fftCall(fft);
  if (auto cholesky = dyn_cast<CholeskyOp>(op))
    return choleskyCall(cholesky);
  if (auto solve = dyn_cast<TriangularSolveOp>(op))
    return triangularSolveCall(solve);
  return lapackCall(cast<CustomCallOp>(op));
}

} // namespace tessera::codegen
