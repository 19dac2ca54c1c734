#include "runtime/library/FftPlan.h"
#include "include/tessera/library.h"
#include <cmath>
#include <utility>

namespace tessera::runtime {

namespace {

// exp(-2 pi i k / n), from an angle of at most an eighth turn, so that quarter turns are exact.
Complex root(int64_t k, int64_t n) {
  const long double pi = 3.14159265358979323846264338327950288L;
  bool below = 2 * k > n; // the lower half mirrors the upper one
  if (below)
    k = n - k;
  bool left = 4 * k > n;                    // the left quarter mirrors the right one
  int64_t twice = left ? n - 2 * k : 2 * k; // 2 k' of an angle 2 pi k' / n in the first quarter
  bool steep = 4 * twice > n;
  long double angle = pi * static_cast<long double>(steep ? n - 2 * twice : 2 * twice) /
                      static_cast<long double>(2 * n);
  auto near = static_cast<double>(std::cos(angle)), far = static_cast<double>(std::sin(angle));
  if (steep)
    std::swap(near, far);
  return {left ? -near : near, below ? far : -far};
}

// Without the checks for NaN and infinity of the language's complex product.
inline Complex times(Complex a, Complex b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

inline Complex timesMinusI(Complex a) { return {a.imag(), -a.real()}; }

} // namespace

FftPlan::FftPlan(int64_t length) : length_(length) {
  bool direct = library::Fft::largeFactor(length) == 1;
  if (direct) {
    int64_t rest = length;
    for (int radix = 4; rest > 1; ++radix) {
      if (radix == 5 && rest % 2 == 0) { // after the fours, at most one two
        radices_.push_back(2);
        rest /= 2;
      }
      if (radix == 5 && rest % 3 == 0)
        for (; rest % 3 == 0; rest /= 3)
          radices_.push_back(3);
      for (; rest % radix == 0; rest /= radix)
        radices_.push_back(radix);
    }
    roots_.reserve(length);
    for (int64_t k = 0; k < length; ++k)
      roots_.push_back(root(k, length));
    return;
  }
  int64_t m = library::Fft::convolutionLength(length);
  inner_.emplace_back(m);
  chirp_.resize(length);
  for (int64_t k = 0; k < length; ++k) {
    auto square = static_cast<int64_t>(static_cast<unsigned __int128>(k) * k %
                                       static_cast<unsigned __int128>(2 * length));
    chirp_[k] = root(square, 2 * length);
  }
  std::vector<Complex> work(2 * m);
  for (int64_t k = 0; k < length; ++k) {
    work[k] = std::conj(chirp_[k]);
    if (k)
      work[m - k] = std::conj(chirp_[k]);
  }
  Complex *transformed = inner_[0].run(work.data());
  kernel_.assign(transformed, transformed + m);
}

Complex *FftPlan::run(Complex *work) const {
  return inner_.empty() ? passes(work, work + length_) : convolve(work);
}

// With n' = n / s what is left to transform and s how many lie side by side, a pass of radix r
// takes a[k] = x[q + s (p + m k)], m = n' / r, to y[q + s (r p + j)] = w^(p j) sum of a[k] v^(j k),
// where w = exp(-2 pi i / n') and v = exp(-2 pi i / r).
Complex *FftPlan::passes(Complex *from, Complex *to) const {
  int64_t s = 1;
  for (int radix : radices_) {
    int64_t m = length_ / s / radix;
    for (int64_t p = 0; p < m; ++p) {
      const Complex *x = from + s * p;
      Complex *y = to + s * radix * p;
      int64_t stride = s * m, turn = p * s;
      if (radix == 2) {
        Complex w = roots_[turn];
        for (int64_t q = 0; q < s; ++q) {
          Complex a = x[q], b = x[q + stride];
          y[q] = a + b;
          y[q + s] = times(a - b, w);
        }
      } else if (radix == 4) {
        Complex w1 = roots_[turn], w2 = roots_[2 * turn], w3 = roots_[3 * turn];
        for (int64_t q = 0; q < s; ++q) {
          Complex a = x[q], b = x[q + stride], c = x[q + 2 * stride], d = x[q + 3 * stride];
          Complex even = a + c, odd = a - c, sum = b + d, turned = timesMinusI(b - d);
          y[q] = even + sum;
          y[q + s] = times(odd + turned, w1);
          y[q + 2 * s] = times(even - sum, w2);
          y[q + 3 * s] = times(odd - turned, w3);
        }
      } else {
        int64_t step = length_ / radix; // v = roots_[step]
        for (int j = 0; j < radix; ++j) {
          Complex w = roots_[turn * j];
          for (int64_t q = 0; q < s; ++q) {
            Complex sum = x[q];
            for (int k = 1; k < radix; ++k)
              sum += times(x[q + stride * k], roots_[step * (j * k % radix)]);
            y[q + s * j] = times(sum, w);
          }
        }
      }
    }
    std::swap(from, to);
    s *= radix;
  }
  return from;
}

// X[k] = c[k] sum of (x[j] c[j]) conj(c[k - j]), as 2 j k = j^2 + k^2 - (k - j)^2.
Complex *FftPlan::convolve(Complex *work) const {
  const FftPlan &inner = inner_[0];
  int64_t m = inner.length();
  Complex *values = work + length_;
  for (int64_t k = 0; k < length_; ++k)
    values[k] = times(work[k], chirp_[k]);
  for (int64_t k = length_; k < m; ++k)
    values[k] = 0;
  Complex *spectrum = inner.run(values);
  // Back by the conjugate of the transform of the conjugate.
  Complex *other = spectrum == values ? values + m : values;
  for (int64_t k = 0; k < m; ++k)
    other[k] = std::conj(times(spectrum[k], kernel_[k]));
  if (other != values)
    for (int64_t k = 0; k < m; ++k)
      values[k] = other[k];
  Complex *back = inner.run(values);
  double scale = 1.0 / static_cast<double>(m);
  for (int64_t k = 0; k < length_; ++k)
    work[k] = times(std::conj(back[k]) * scale, chirp_[k]);
  return work;
}

} // namespace tessera::runtime
