// LU, Cholesky, QR, singular values, triangular and tridiagonal systems. Arguments in the order of
// LAPACK's documentation.
#include "runtime/library/Lapack.h"

namespace tessera::runtime {

namespace {

constexpr size_t kOne = 1; // the length of a character argument

struct Sizes {
  explicit Sizes(const LapackProblem &p)
      : m(static_cast<int>(p.plan.call.m)), n(static_cast<int>(p.plan.call.n)),
        k(static_cast<int>(p.plan.call.k)) {}
  int m, n, k;
};

char flag(const LapackProblem &p, size_t i) { return static_cast<char>(p.plan.call.flags[i]); }

template <typename T> void potrf(const LapackProblem &p) {
  Sizes s(p);
  p.start(0, 0);
  char uplo = flag(p, 0);
  callFortran(p.plan.symbol, &uplo, &s.n, p.output<T>(0), &s.n, p.output<int>(1), kOne);
}

template <typename T> void getrf(const LapackProblem &p) {
  Sizes s(p);
  p.start(0, 0);
  callFortran(p.plan.symbol, &s.m, &s.n, p.output<T>(0), &s.m, p.output<int>(1), p.output<int>(2));
}

template <typename T> void trsm(const LapackProblem &p) {
  Sizes s(p);
  p.start(0, 1);
  char side = flag(p, 0), uplo = flag(p, 1), transpose = flag(p, 2), diagonal = flag(p, 3);
  T one = 1;
  callFortran(p.plan.symbol, &side, &uplo, &transpose, &diagonal, &s.m, &s.n, &one, p.input<T>(0),
              &s.k, p.output<T>(0), &s.m, kOne, kOne, kOne, kOne);
}

template <typename T> void geqrf(const LapackProblem &p) {
  Sizes s(p);
  p.start(0, 0);
  int info, size = p.workCount(0);
  callFortran(p.plan.symbol, &s.m, &s.n, p.output<T>(0), &s.m, p.output<T>(1), p.work<T>(0), &size,
              &info);
}

template <typename T> void geqp3(const LapackProblem &p) {
  Sizes s(p);
  p.start(0, 0);
  p.start(1, 1);
  int info, size = p.workCount(0);
  if constexpr (kIsComplex<T>)
    callFortran(p.plan.symbol, &s.m, &s.n, p.output<T>(0), &s.m, p.output<int>(1), p.output<T>(2),
                p.work<T>(0), &size, p.work<typename RealOf<T>::type>(1), &info);
  else
    callFortran(p.plan.symbol, &s.m, &s.n, p.output<T>(0), &s.m, p.output<int>(1), p.output<T>(2),
                p.work<T>(0), &size, &info);
}

template <typename T> void orgqr(const LapackProblem &p) {
  Sizes s(p);
  p.start(0, 0);
  int info, size = p.workCount(0);
  callFortran(p.plan.symbol, &s.m, &s.n, &s.k, p.output<T>(0), &s.m, p.input<T>(1), p.work<T>(0),
              &size, &info);
}

template <typename T> void ormqr(const LapackProblem &p) {
  Sizes s(p);
  p.start(0, 2);
  char side = p.plan.call.flags[0] ? 'L' : 'R';
  char transpose = !p.plan.call.flags[1] ? 'N' : kIsComplex<T> ? 'C' : 'T';
  int rows = side == 'L' ? s.m : s.n, info, size = p.workCount(0);
  callFortran(p.plan.symbol, &side, &transpose, &s.m, &s.n, &s.k, p.input<T>(0), &rows,
              p.input<T>(1), p.output<T>(0), &s.m, p.work<T>(0), &size, &info, kOne, kOne);
}

// The start of both decompositions by singular values.
struct SingularValues : Sizes {
  explicit SingularValues(const LapackProblem &p)
      : Sizes(p), mode(flag(p, 0)), rows(mode == 'S' ? std::min(m, n) : n), size(p.workCount(0)) {
    p.start(0, 0);
    if (mode == 'N') {
      p.clear(2);
      p.clear(3);
    }
  }
  char mode;
  int rows; // of vt: all, as many as singular values, or (the matrix is not computed) any
  int size; // of the workspace
};

template <typename T> void gesdd(const LapackProblem &p) {
  using Real = typename RealOf<T>::type;
  SingularValues s(p);
  if constexpr (kIsComplex<T>)
    callFortran(p.plan.symbol, &s.mode, &s.m, &s.n, p.output<T>(0), &s.m, p.output<Real>(1),
                p.output<T>(2), &s.m, p.output<T>(3), &s.rows, p.work<T>(0), &s.size,
                p.work<Real>(1), p.work<int>(2), p.output<int>(4), kOne);
  else
    callFortran(p.plan.symbol, &s.mode, &s.m, &s.n, p.output<T>(0), &s.m, p.output<Real>(1),
                p.output<T>(2), &s.m, p.output<T>(3), &s.rows, p.work<T>(0), &s.size,
                p.work<int>(2), p.output<int>(4), kOne);
}

template <typename T> void gesvd(const LapackProblem &p) {
  using Real = typename RealOf<T>::type;
  SingularValues s(p);
  if constexpr (kIsComplex<T>)
    callFortran(p.plan.symbol, &s.mode, &s.mode, &s.m, &s.n, p.output<T>(0), &s.m,
                p.output<Real>(1), p.output<T>(2), &s.m, p.output<T>(3), &s.rows, p.work<T>(0),
                &s.size, p.work<Real>(1), p.output<int>(4), kOne, kOne);
  else
    callFortran(p.plan.symbol, &s.mode, &s.mode, &s.m, &s.n, p.output<T>(0), &s.m,
                p.output<Real>(1), p.output<T>(2), &s.m, p.output<T>(3), &s.rows, p.work<T>(0),
                &s.size, p.output<int>(4), kOne, kOne);
}

// JAX's lower diagonal has an element before the first row that counts for nothing.
template <typename T> void gtsv(const LapackProblem &p) {
  Sizes s(p);
  for (size_t i = 0; i < 4; ++i)
    p.start(i, i);
  callFortran(p.plan.symbol, &s.n, &s.k, p.output<T>(0) + 1, p.output<T>(1), p.output<T>(2),
              p.output<T>(3), &s.n, p.output<int>(4));
}

} // namespace

LapackFunction factorFunction(const std::string &name, library::Element element) {
  if (name == "potrf")
    return TESSERA_LAPACK_INSTANCE(potrf, element);
  if (name == "getrf")
    return TESSERA_LAPACK_INSTANCE(getrf, element);
  if (name == "trsm")
    return TESSERA_LAPACK_INSTANCE(trsm, element);
  if (name == "geqrf")
    return TESSERA_LAPACK_INSTANCE(geqrf, element);
  if (name == "geqp3")
    return TESSERA_LAPACK_INSTANCE(geqp3, element);
  if (name == "orgqr")
    return TESSERA_LAPACK_INSTANCE(orgqr, element);
  if (name == "ormqr")
    return TESSERA_LAPACK_INSTANCE(ormqr, element);
  if (name == "gesdd")
    return TESSERA_LAPACK_INSTANCE(gesdd, element);
  if (name == "gesvd")
    return TESSERA_LAPACK_INSTANCE(gesvd, element);
  if (name == "gtsv")
    return TESSERA_LAPACK_INSTANCE(gtsv, element);
  return nullptr;
}

} // namespace tessera::runtime
