// What of the operations the runtime's own library computes (include/tessera/library.h).
#include "dialects/stablehlo/LapackCall.h"
#include "dialects/stablehlo/OutsideCall.h"

#include <cmath>

using namespace mlir;

namespace tessera::stablehlo {

LibraryCall libraryCall(library::Call call, int64_t grid, int64_t scratchBytes, double flops) {
  LibraryCall made;
  made.name = std::move(call.name);
  made.numbers.assign(call.numbers.begin(), call.numbers.end());
  made.grid = grid;
  made.scratchBytes = scratchBytes;
  made.flops = flops;
  return made;
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

FailureOr<LibraryCall> FftOp::getLibraryCall() {
  auto from = cast<RankedTensorType>(getOperand().getType());
  std::optional<library::Element> element = libraryElement(from);
  if (!element)
    return emitError("a Fourier transform of ")
           << from.getElementType() << " has no library kernel; convert to f32 or f64 before it";
  library::Fft fft;
  fft.kind = getFftType() == FftType::FFT    ? library::Fft::Forward
             : getFftType() == FftType::IFFT ? library::Fft::Inverse
             : getFftType() == FftType::RFFT ? library::Fft::RealForward
                                             : library::Fft::RealInverse;
  fft.isDouble = library::isDouble(*element);
  fft.lengths.assign(getFftLength().begin(), getFftLength().end());
  fft.batch = batchOf(from, fft.lengths.size());
  double points = ShapedType::getNumElements(getFftLength());
  return libraryCall(fft.call(), fft.grid(), fft.scratchBytes(),
                     5.0 * fft.batch * points * std::log2(std::max(points, 2.0)));
}

FailureOr<LibraryCall> CholeskyOp::getLibraryCall() {
  auto type = cast<RankedTensorType>(getA().getType());
  std::optional<library::Element> element = libraryElement(type);
  if (!element)
    return emitError("a Cholesky decomposition of ")
           << type.getElementType() << " has no library kernel; convert to f32 or f64 before it";
  library::Cholesky cholesky{static_cast<int64_t>(*element), batchOf(type, 2),
                             type.getShape().back(), getLower()};
  double n = cholesky.n;
  return libraryCall(cholesky.call(), library::gridOf(cholesky.batch), /*scratchBytes=*/0,
                     cholesky.batch * n * n * n / 3);
}

FailureOr<LibraryCall> TriangularSolveOp::getLibraryCall() {
  auto type = cast<RankedTensorType>(getB().getType());
  std::optional<library::Element> element = libraryElement(type);
  if (!element)
    return emitError("a triangular solve of ")
           << type.getElementType() << " has no library kernel; convert to f32 or f64 before it";
  library::TriangularSolve solve;
  solve.element = static_cast<int64_t>(*element);
  solve.batch = batchOf(type, 2);
  solve.rows = type.getShape().end()[-2];
  solve.columns = type.getShape().back();
  solve.leftSide = getLeftSide();
  solve.lower = getLower();
  solve.unitDiagonal = getUnitDiagonal();
  solve.transpose = getTransposeA() == Transpose::ADJOINT     ? library::TriangularSolve::Adjoint
                    : getTransposeA() == Transpose::TRANSPOSE ? library::TriangularSolve::Plain
                                                              : library::TriangularSolve::None;
  return libraryCall(solve.call(), solve.grid(), solve.scratchBytes(),
                     static_cast<double>(solve.batch) * solve.rows * solve.columns * solve.order());
}

FailureOr<LibraryCall> CustomCallOp::getLibraryCall() {
  return isLapackCall(*this) ? lapackCall(*this) : outsideCall(*this);
}

} // namespace tessera::stablehlo
