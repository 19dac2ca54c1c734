// Eigenvalues, eigenvectors, Schur, Hessenberg and tridiagonal forms. Arguments in the order of
// LAPACK's documentation.
#include "runtime/library/Lapack.h"

namespace tessera::runtime {

namespace {

constexpr size_t kOne = 1; // the length of a character argument

int order(const LapackProblem &p) { return static_cast<int>(p.plan.call.n); }
char flag(const LapackProblem &p, size_t i) { return static_cast<char>(p.plan.call.flags[i]); }

template <typename T> void syevd(const LapackProblem &p) {
  using Real = typename RealOf<T>::type;
  int n = order(p), size = p.workCount(0), reals = p.workCount(1), integers = p.workCount(2);
  p.start(0, 0);
  char mode = flag(p, 0), uplo = flag(p, 1);
  if constexpr (kIsComplex<T>)
    callFortran(p.plan.symbol, &mode, &uplo, &n, p.output<T>(0), &n, p.output<Real>(1),
                p.work<T>(0), &size, p.work<Real>(1), &reals, p.work<int>(2), &integers,
                p.output<int>(2), kOne, kOne);
  else
    callFortran(p.plan.symbol, &mode, &uplo, &n, p.output<T>(0), &n, p.output<Real>(1),
                p.work<T>(0), &size, p.work<int>(2), &integers, p.output<int>(2), kOne, kOne);
}

// The eigenvectors of a pair of conjugate eigenvalues are v[j] + i v[j + 1] and its conjugate.
template <typename T>
void unpack(const T *imaginary, const T *packed, std::complex<T> *vectors, int n) {
  for (int j = 0; j < n; ++j) {
    const T *re = packed + int64_t{j} * n;
    std::complex<T> *to = vectors + int64_t{j} * n;
    if (imaginary[j] == 0 || j + 1 == n) {
      for (int i = 0; i < n; ++i)
        to[i] = re[i];
      continue;
    }
    for (int i = 0; i < n; ++i) {
      to[i] = {re[i], re[i + n]};
      to[i + n] = {re[i], -re[i + n]};
    }
    ++j;
  }
}

template <typename T> void geev(const LapackProblem &p) {
  using Real = typename RealOf<T>::type;
  int n = order(p), size = p.workCount(1);
  char left = flag(p, 0), right = flag(p, 1);
  T *a = p.work<T>(0);
  std::memcpy(a, p.input<T>(0), sizeof(T) * n * n);
  if constexpr (kIsComplex<T>) {
    for (size_t i : {1u, 2u})
      p.clear(i);
    callFortran(p.plan.symbol, &left, &right, &n, a, &n, p.output<T>(0), p.output<T>(1), &n,
                p.output<T>(2), &n, p.work<T>(1), &size, p.work<Real>(2), p.output<int>(3), kOne,
                kOne);
  } else {
    T *vl = p.work<T>(2), *vr = p.work<T>(3), *imaginary = p.output<T>(1);
    for (size_t i : {2u, 3u})
      p.clear(i);
    callFortran(p.plan.symbol, &left, &right, &n, a, &n, p.output<T>(0), imaginary, vl, &n, vr, &n,
                p.work<T>(1), &size, p.output<int>(4), kOne, kOne);
    bool computed = *p.output<int>(4) == 0;
    if (computed && left == 'V')
      unpack(imaginary, vl, p.output<std::complex<T>>(2), n);
    if (computed && right == 'V')
      unpack(imaginary, vr, p.output<std::complex<T>>(3), n);
  }
}

template <typename T> void gees(const LapackProblem &p) {
  using Real = typename RealOf<T>::type;
  int n = order(p), size = p.workCount(0);
  char mode = flag(p, 0), sort = 'N'; // nothing is selected, so none is called to select
  p.start(0, 0);
  p.clear(1);
  void *select = nullptr;
  int *unused = nullptr;
  if constexpr (kIsComplex<T>)
    callFortran(p.plan.symbol, &mode, &sort, select, &n, p.output<T>(0), &n, p.output<int>(3),
                p.output<T>(2), p.output<T>(1), &n, p.work<T>(0), &size, p.work<Real>(1), unused,
                p.output<int>(4), kOne, kOne);
  else
    callFortran(p.plan.symbol, &mode, &sort, select, &n, p.output<T>(0), &n, p.output<int>(4),
                p.output<T>(2), p.output<T>(3), p.output<T>(1), &n, p.work<T>(0), &size, unused,
                p.output<int>(5), kOne, kOne);
}

template <typename T> void gehrd(const LapackProblem &p) {
  int n = order(p), size = p.workCount(0);
  int low = static_cast<int>(p.plan.call.flags[0]), high = static_cast<int>(p.plan.call.flags[1]);
  p.start(0, 0);
  T none;
  callFortran(p.plan.symbol, &n, &low, &high, p.output<T>(0), &n, n > 1 ? p.output<T>(1) : &none,
              p.work<T>(0), &size, p.output<int>(2));
}

template <typename T> void sytrd(const LapackProblem &p) {
  using Real = typename RealOf<T>::type;
  int n = order(p), size = p.workCount(0);
  char uplo = flag(p, 0);
  p.start(0, 0);
  T none;
  Real noneReal;
  callFortran(p.plan.symbol, &uplo, &n, p.output<T>(0), &n, p.output<Real>(1),
              n > 1 ? p.output<Real>(2) : &noneReal, n > 1 ? p.output<T>(3) : &none, p.work<T>(0),
              &size, p.output<int>(4), kOne);
}

} // namespace

LapackFunction spectrumFunction(const std::string &name, library::Element element) {
  if (name == "syevd")
    return TESSERA_LAPACK_INSTANCE(syevd, element);
  if (name == "geev")
    return TESSERA_LAPACK_INSTANCE(geev, element);
  if (name == "gees")
    return TESSERA_LAPACK_INSTANCE(gees, element);
  if (name == "gehrd")
    return TESSERA_LAPACK_INSTANCE(gehrd, element);
  if (name == "sytrd")
    return TESSERA_LAPACK_INSTANCE(sytrd, element);
  return nullptr;
}

} // namespace tessera::runtime
