// "triangular_solve": op(a) x = b, or x op(a) = b, by substitution.
#include "runtime/library/Library.h"
#include <complex>

namespace tessera::runtime {

namespace {

using library::Element;
using library::TriangularSolve;

inline float conjugate(float x) { return x; }
inline double conjugate(double x) { return x; }
template <typename T> std::complex<T> conjugate(std::complex<T> x) { return std::conj(x); }

template <typename T> class Solver {
public:
  Solver(const TriangularSolve &call, const T *a, T *x) : call(call), a(a), x(x) {}

  // x holds b.
  void run() {
    int64_t n = call.order();
    bool lower = call.lower != (call.transpose != TriangularSolve::None);
    // On the left, rows of x follow from those before; on the right, columns from those after.
    bool forward = lower == (call.leftSide != 0);
    for (int64_t step = 0; step < n; ++step) {
      int64_t i = forward ? step : n - 1 - step;
      for (int64_t before = 0; before < step; ++before) {
        int64_t k = forward ? before : n - 1 - before;
        subtract(i, k, call.leftSide ? element(i, k) : element(k, i));
      }
      if (!call.unitDiagonal)
        divide(i, element(i, i));
    }
  }

private:
  T element(int64_t i, int64_t j) const { // of op(a)
    int64_t n = call.order();
    if (call.transpose == TriangularSolve::None)
      return a[i * n + j];
    T value = a[j * n + i];
    return call.transpose == TriangularSolve::Adjoint ? conjugate(value) : value;
  }
  // Line i (a row on the left, a column on the right) less `factor` times line k.
  void subtract(int64_t i, int64_t k, T factor) {
    int64_t columns = call.columns;
    if (call.leftSide)
      for (int64_t c = 0; c < columns; ++c)
        x[i * columns + c] -= factor * x[k * columns + c];
    else
      for (int64_t r = 0; r < call.rows; ++r)
        x[r * columns + i] -= factor * x[r * columns + k];
  }
  void divide(int64_t i, T divisor) {
    int64_t columns = call.columns;
    if (call.leftSide)
      for (int64_t c = 0; c < columns; ++c)
        x[i * columns + c] /= divisor;
    else
      for (int64_t r = 0; r < call.rows; ++r)
        x[r * columns + i] /= divisor;
  }

  const TriangularSolve &call;
  const T *a;
  T *x;
};

template <typename T>
int32_t runSolve(const TesseraKernelArgs *args, uint32_t gridBegin, uint32_t gridEnd) {
  const TriangularSolve &call = *static_cast<const TriangularSolve *>(args->plan);
  int64_t size = call.rows * call.columns, matrix = call.order() * call.order();
  Problems problems = Problems::of(call.batch, gridBegin, gridEnd);
  for (int64_t i = problems.begin; i < problems.end; ++i) {
    const T *b = static_cast<const T *>(args->buffers[1]) + i * size;
    T *x = static_cast<T *>(args->buffers[2]) + i * size;
    if (x != b)
      std::copy(b, b + size, x);
    Solver<T>(call, static_cast<const T *>(args->buffers[0]) + i * matrix, x).run();
  }
  return 0;
}

} // namespace

Result<LibraryKernel> findTriangularSolve(const library::Call &call) {
  auto plan = std::make_shared<TriangularSolve>();
  if (!TriangularSolve::read(call.numbers, *plan))
    return badNumbers(call);
  static constexpr TesseraKernel functions[] = {runSolve<float>, runSolve<double>,
                                                runSolve<std::complex<float>>,
                                                runSolve<std::complex<double>>};
  LibraryKernel kernel;
  kernel.function = functions[plan->element];
  uint64_t element = bytesOf(static_cast<Element>(plan->element));
  uint64_t b = plan->batch * plan->rows * plan->columns * element;
  kernel.inputs = 2;
  kernel.operandBytes = {plan->batch * plan->order() * plan->order() * element, b, b};
  kernel.grid = library::gridOf(plan->batch);
  kernel.plan = std::move(plan);
  return kernel;
}

} // namespace tessera::runtime
