// Substitution for several right-hand sides, compiled once for each instruction set:
// TESSERA_SOLVE_ISA names the namespace, TESSERA_SOLVE_BYTES the bytes of a vector and
// TESSERA_SOLVE_ROWS the rows of sums that its registers hold. Each right-hand side has a lane, and
// its terms are subtracted in their order, so bits are the same from all. No standard headers with
// inline functions here: the linker might keep the copy that another CPU cannot run.
#include "runtime/library/SolveTables.h"

namespace tessera::runtime::solve::TESSERA_SOLVE_ISA {

using int64 = long;

// A number of the matrix, and what it is multiplied by in each lane.
template <class T> struct Real {
  typedef T V __attribute__((vector_size(TESSERA_SOLVE_BYTES)));
  static constexpr int64 parts = 1;
  T value;
  struct Lanes {
    V value;
  };
  static Lanes load(const T *p, int64) {
    Lanes lanes;
    __builtin_memcpy(&lanes.value, p, sizeof lanes.value);
    return lanes;
  }
  static void store(T *p, int64, Lanes lanes) {
    __builtin_memcpy(p, &lanes.value, sizeof lanes.value);
  }
  static Real at(const T *p, T) { return {*p}; }
  static void subtract(Lanes &sum, Real a, Lanes b) { sum.value -= b.value * a.value; }
  static Lanes divide(Lanes a, Real b) { return {a.value / b.value}; }
};

template <class T> struct Complex {
  typedef T V __attribute__((vector_size(TESSERA_SOLVE_BYTES)));
  static constexpr int64 parts = 2;
  T re, im;
  struct Lanes {
    V re, im;
  };
  // Imaginary parts lie `apart` elements behind the real ones.
  static Lanes load(const T *p, int64 apart) {
    Lanes lanes;
    __builtin_memcpy(&lanes.re, p, sizeof lanes.re);
    __builtin_memcpy(&lanes.im, p + apart, sizeof lanes.im);
    return lanes;
  }
  static void store(T *p, int64 apart, Lanes lanes) {
    __builtin_memcpy(p, &lanes.re, sizeof lanes.re);
    __builtin_memcpy(p + apart, &lanes.im, sizeof lanes.im);
  }
  static Complex at(const T *p, T sign) { return {p[0], p[1] * sign}; }
  static void subtract(Lanes &sum, Complex a, Lanes b) {
    sum = {sum.re - (b.re * a.re - b.im * a.im), sum.im - (b.re * a.im + b.im * a.re)};
  }
  // Smith 1962, "Algorithm 116: complex division".
  static Lanes divide(Lanes a, Complex b) {
    if (__builtin_fabs(b.re) >= __builtin_fabs(b.im)) {
      T ratio = b.im / b.re, length = b.re + b.im * ratio;
      return {(a.re + a.im * ratio) / length, (a.im - a.re * ratio) / length};
    }
    T ratio = b.re / b.im, length = b.re * ratio + b.im;
    return {(a.re * ratio + a.im) / length, (a.im * ratio - a.re) / length};
  }
};

// Lines [first, first + count) of the panel, of which those before are solved. A vector of each
// line at a time, `vectors` of them beside each other.
template <class N, class T, int count, int vectors>
inline void solveLines(const Job &job, int64 first, T *panel) {
  using Lanes = typename N::Lanes;
  constexpr int64 width = TESSERA_SOLVE_BYTES / sizeof(T), parts = N::parts;
  constexpr int64 lanes = kPanelBytes / sizeof(T), pitch = lanes * parts;
  const T *a = static_cast<const T *>(job.matrix) + first * job.lineStep * parts;
  const T sign = job.isConjugate ? -1 : 1;
  Lanes sums[count][vectors];
  for (int i = 0; i < count; ++i)
    for (int v = 0; v < vectors; ++v)
      sums[i][v] = N::load(panel + (first + i) * pitch + v * width, lanes);
  for (int64 k = 0; k < first; ++k) {
    Lanes solved[vectors];
    for (int v = 0; v < vectors; ++v)
      solved[v] = N::load(panel + k * pitch + v * width, lanes);
    const T *column = a + k * job.termStep * parts;
    for (int i = 0; i < count; ++i) {
      N factor = N::at(column + i * job.lineStep * parts, sign);
      for (int v = 0; v < vectors; ++v)
        N::subtract(sums[i][v], factor, solved[v]);
    }
  }
  for (int i = 0; i < count; ++i) {
    const T *row = a + (i * job.lineStep + first * job.termStep) * parts;
    for (int k = 0; k < i; ++k) {
      N factor = N::at(row + k * job.termStep * parts, sign);
      for (int v = 0; v < vectors; ++v)
        N::subtract(sums[i][v], factor, sums[k][v]);
    }
    for (int v = 0; v < vectors; ++v) {
      if (!job.isUnit)
        sums[i][v] = N::divide(sums[i][v], N::at(row + i * job.termStep * parts, sign));
      N::store(panel + (first + i) * pitch + v * width, lanes, sums[i][v]);
    }
  }
}

template <class N, class T, int vectors> void solvePanel(const Job &job, T *panel) {
  constexpr int rows = TESSERA_SOLVE_ROWS / N::parts;
  int64 line = 0;
  for (; line + rows <= job.order; line += rows)
    solveLines<N, T, rows, vectors>(job, line, panel);
  for (; line < job.order; ++line)
    solveLines<N, T, 1, vectors>(job, line, panel);
}

template <template <class> class N, class T> void solveJob(const Job &job) {
  constexpr int64 width = TESSERA_SOLVE_BYTES / sizeof(T), parts = N<T>::parts;
  constexpr int64 lanes = kPanelBytes / sizeof(T), pitch = lanes * parts;
  auto *panel = static_cast<T *>(job.panel);
  const T *from = static_cast<const T *>(job.from);
  T *to = static_cast<T *>(job.to);
  // Lanes without a side, of vectors that have one, are zeros.
  const int64 filled = (job.sides + width - 1) / width * width;
  for (int64 line = 0; line < job.order; ++line)
    for (int64 part = 0; part < parts; ++part) {
      const T *source = from + line * job.sideLineStep * parts + part;
      T *target = panel + line * pitch + part * lanes;
      for (int64 side = 0; side < job.sides; ++side)
        target[side] = source[side * job.sideStep * parts];
      for (int64 side = job.sides; side < filled; ++side)
        target[side] = 0;
    }
  int64 at = 0;
  for (; at + width < job.sides; at += 2 * width)
    solvePanel<N<T>, T, 2>(job, panel + at);
  if (at < job.sides)
    solvePanel<N<T>, T, 1>(job, panel + at);
  for (int64 line = 0; line < job.order; ++line)
    for (int64 part = 0; part < parts; ++part) {
      const T *source = panel + line * pitch + part * lanes;
      T *target = to + line * job.sideLineStep * parts + part;
      for (int64 side = 0; side < job.sides; ++side)
        target[side * job.sideStep * parts] = source[side];
    }
}

void run(const Job &job) {
  if (job.isDouble)
    job.isComplex ? solveJob<Complex, double>(job) : solveJob<Real, double>(job);
  else
    job.isComplex ? solveJob<Complex, float>(job) : solveJob<Real, float>(job);
}

} // namespace tessera::runtime::solve::TESSERA_SOLVE_ISA
