// Passes of mixed radix over lines of doubles, one line in each lane of a vector (Stockham's
// autosort form). Part of FftLoops.h, which says why there are no standard headers.
#include "runtime/library/FftTables.h"

namespace tessera::runtime::fft::TESSERA_FFT_ISA {

using int64 = long;

constexpr int kWidth = TESSERA_FFT_WIDTH; // lanes
typedef double V __attribute__((vector_size(kWidth * 8)));

// A complex number in each lane, or (Point) one alone.
struct Lanes {
  V re, im;
};
struct Point {
  double re, im;
};

template <class C> inline C plus(C a, C b) { return {a.re + b.re, a.im + b.im}; }
template <class C> inline C minus(C a, C b) { return {a.re - b.re, a.im - b.im}; }
template <class C> inline C times(C a, Point b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
template <class C> inline C timesMinusI(C a) { return {a.im, -a.re}; }
template <class C> inline C conjugate(C a) { return {a.re, -a.im}; }
template <class C> inline C swapped(C a) { return {a.im, a.re}; }
template <class C> inline C realOf(C a) { return {a.re, {}}; }
inline Lanes times(Lanes a, Lanes b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

inline Point point(const double *table, int64 k) { return {table[2 * k], table[2 * k + 1]}; }

// Transforms of `radix` points in registers, in place.
inline void butterfly2(Lanes *a) {
  Lanes sum = plus(a[0], a[1]);
  a[1] = minus(a[0], a[1]);
  a[0] = sum;
}

inline void butterfly4(Lanes *a) {
  Lanes even = plus(a[0], a[2]), odd = minus(a[0], a[2]);
  Lanes sum = plus(a[1], a[3]), turned = timesMinusI(minus(a[1], a[3]));
  a[0] = plus(even, sum);
  a[1] = plus(odd, turned);
  a[2] = minus(even, sum);
  a[3] = minus(odd, turned);
}

inline void butterfly8(Lanes *a) {
  constexpr double half = 0.70710678118654752440; // of the square root of 2
  Lanes even[4] = {a[0], a[2], a[4], a[6]}, odd[4] = {a[1], a[3], a[5], a[7]};
  butterfly4(even);
  butterfly4(odd);
  odd[1] = {(odd[1].re + odd[1].im) * half, (odd[1].im - odd[1].re) * half};
  odd[2] = timesMinusI(odd[2]);
  odd[3] = {(odd[3].im - odd[3].re) * half, (odd[3].re + odd[3].im) * -half};
  for (int k = 0; k < 4; ++k) {
    a[k] = plus(even[k], odd[k]);
    a[k + 4] = minus(even[k], odd[k]);
  }
}

// Of an odd radix: what a point and its mirror image add to two frequencies that mirror each other
// differs in signs only. roots[step * k] is exp(-2 pi i k / radix).
template <int fixed> inline void butterflyOdd(Lanes *a, int any, const double *roots, int64 step) {
  const int radix = fixed ? fixed : any, half = (radix - 1) / 2;
  constexpr int most = fixed ? fixed : 31;
  Lanes sums[most / 2], differences[most / 2], first = a[0];
  for (int k = 0; k < half; ++k) {
    sums[k] = plus(a[k + 1], a[radix - 1 - k]);
    differences[k] = minus(a[k + 1], a[radix - 1 - k]);
    a[0] = plus(a[0], sums[k]);
  }
  for (int j = 1; j <= half; ++j) {
    Lanes level = first, turned = {};
    for (int k = 0; k < half; ++k) {
      Point root = point(roots, step * (j * (k + 1) % radix));
      level = {level.re + sums[k].re * root.re, level.im + sums[k].im * root.re};
      turned = {turned.re - differences[k].im * root.im, turned.im + differences[k].re * root.im};
    }
    a[j] = plus(level, turned);
    a[radix - j] = minus(level, turned);
  }
}

template <int fixed> inline void butterfly(Lanes *a, int radix, const double *roots, int64 step) {
  if constexpr (fixed == 2)
    butterfly2(a);
  else if constexpr (fixed == 4)
    butterfly4(a);
  else if constexpr (fixed == 8)
    butterfly8(a);
  else
    butterflyOdd<fixed>(a, radix, roots, step);
}

// With n' = n / s what is left to transform and s how many lie side by side, a pass of radix r
// takes a[k] = x[q + s (p + m k)], m = n' / r, to y[q + s (r p + j)] = w^(p j) sum of a[k] v^(j k),
// where w = exp(-2 pi i / n') and v = exp(-2 pi i / r).
template <int fixed> void pass(const Passes &line, int any, int64 s, const Lanes *from, Lanes *to) {
  const int radix = fixed ? fixed : any;
  const int64 m = line.length / s / radix, stride = s * m, step = line.length / radix;
  for (int64 p = 0; p < m; ++p) {
    const Lanes *x = from + s * p;
    Lanes *y = to + s * radix * p;
    for (int64 q = 0; q < s; ++q) {
      Lanes a[fixed ? fixed : 31];
      for (int k = 0; k < radix; ++k)
        a[k] = x[q + stride * k];
      butterfly<fixed>(a, radix, line.roots, step);
      y[q] = a[0];
      if (p == 0)
        for (int j = 1; j < radix; ++j)
          y[q + s * j] = a[j];
      else
        for (int j = 1; j < radix; ++j)
          y[q + s * j] = times(a[j], point(line.roots, p * s * j));
    }
  }
}

// X[k] = sum of x[j] exp(-2 pi i j k / n); returns which of the two arrays has it.
inline Lanes *transform(const Passes &line, Lanes *from, Lanes *to) {
  int64 s = 1;
  for (int i = 0; i < line.radixCount; ++i) {
    int radix = line.radices[i];
    switch (radix) {
    case 2:
      pass<2>(line, radix, s, from, to);
      break;
    case 3:
      pass<3>(line, radix, s, from, to);
      break;
    case 4:
      pass<4>(line, radix, s, from, to);
      break;
    case 5:
      pass<5>(line, radix, s, from, to);
      break;
    case 7:
      pass<7>(line, radix, s, from, to);
      break;
    case 8:
      pass<8>(line, radix, s, from, to);
      break;
    default:
      pass<0>(line, radix, s, from, to);
    }
    Lanes *result = to;
    to = from;
    from = result;
    s *= radix;
  }
  return from;
}

} // namespace tessera::runtime::fft::TESSERA_FFT_ISA
