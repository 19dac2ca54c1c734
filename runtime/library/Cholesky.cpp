// "cholesky": a = l l^H (lower) or u^H u. Only that triangle of a is read; the other one of the
// result is 0. Where a is not positive definite the triangle is NaN.
#include "runtime/library/Library.h"
#include <cmath>
#include <complex>
#include <limits>

namespace tessera::runtime {

namespace {

using library::Cholesky;
using library::Element;

template <typename T> struct Wide {
  using type = double;
};
template <typename T> struct Wide<std::complex<T>> {
  using type = std::complex<double>;
};

inline float conjugate(float x) { return x; }
inline double conjugate(double x) { return x; }
template <typename T> std::complex<T> conjugate(std::complex<T> x) { return std::conj(x); }
inline double realPart(double x) { return x; }
inline double realPart(std::complex<double> x) { return x.real(); }

// The lower factor of the n x n matrix whose lower triangle is in `l`, row by row, in place. False
// when there is none.
template <typename T> bool factor(T *l, int64_t n) {
  using Sum = typename Wide<T>::type;
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j <= i; ++j) {
      const T *a = l + i * n, *b = l + j * n;
      Sum sum(a[j]);
      for (int64_t k = 0; k < j; ++k)
        sum -= Sum(a[k]) * Sum(conjugate(b[k]));
      if (j < i) {
        l[i * n + j] = static_cast<T>(sum / realPart(Sum(b[j])));
        continue;
      }
      double pivot = realPart(sum);
      if (!(pivot > 0))
        return false;
      l[i * n + i] = static_cast<T>(std::sqrt(pivot));
    }
  return true;
}

template <typename T>
int32_t runCholesky(const TesseraKernelArgs *args, uint32_t gridBegin, uint32_t gridEnd) {
  const Cholesky &call = *static_cast<const Cholesky *>(args->plan);
  int64_t n = call.n;
  Problems problems = Problems::of(call.batch, gridBegin, gridEnd);
  for (int64_t problem = problems.begin; problem < problems.end; ++problem) {
    const T *a = static_cast<const T *>(args->buffers[0]) + problem * n * n;
    T *l = static_cast<T *>(args->buffers[1]) + problem * n * n;
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < n; ++j)
        l[i * n + j] = j > i ? T(0) : call.lower ? a[i * n + j] : conjugate(a[j * n + i]);
    if (!factor(l, n))
      for (int64_t i = 0; i < n; ++i)
        for (int64_t j = 0; j <= i; ++j)
          l[i * n + j] = std::numeric_limits<double>::quiet_NaN();
    if (!call.lower)
      for (int64_t i = 0; i < n; ++i)
        for (int64_t j = 0; j <= i; ++j) {
          T value = conjugate(l[i * n + j]);
          l[i * n + j] = i == j ? value : T(0);
          l[j * n + i] = value;
        }
  }
  return 0;
}

} // namespace

Result<LibraryKernel> findCholesky(const library::Call &call) {
  auto plan = std::make_shared<Cholesky>();
  if (!Cholesky::read(call.numbers, *plan))
    return badNumbers(call);
  static constexpr TesseraKernel functions[] = {runCholesky<float>, runCholesky<double>,
                                                runCholesky<std::complex<float>>,
                                                runCholesky<std::complex<double>>};
  LibraryKernel kernel;
  kernel.function = functions[plan->element];
  uint64_t bytes = plan->batch * plan->n * plan->n * bytesOf(static_cast<Element>(plan->element));
  kernel.operandBytes = {bytes, bytes};
  kernel.grid = library::gridOf(plan->batch);
  kernel.plan = std::move(plan);
  return kernel;
}

} // namespace tessera::runtime
