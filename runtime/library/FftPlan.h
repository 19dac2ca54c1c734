// The discrete Fourier transform of one line, in double precision.
#pragma once

#include <complex>
#include <cstdint>
#include <vector>

namespace tessera::runtime {

using Complex = std::complex<double>;

// Lengths whose prime factors are small go through passes of mixed radix (Stockham's autosort
// form); others are written as a convolution, done at a power of two (Bluestein 1970).
class FftPlan {
public:
  explicit FftPlan(int64_t length);

  int64_t length() const { return length_; }
  // X[k] = sum of x[j] exp(-2 pi i j k / n), without a factor. `work` has
  // library::Fft::lineWork(n) numbers, the first n of which are the input; the result is where the
  // returned pointer says, in `work` too.
  Complex *run(Complex *work) const;

private:
  Complex *passes(Complex *from, Complex *to) const;
  Complex *convolve(Complex *work) const;

  int64_t length_;
  std::vector<int> radices_;
  std::vector<Complex> roots_; // exp(-2 pi i k / n)
  // Of a convolution: exp(-pi i k^2 / n), the transform of its conjugate, and the plan for those.
  std::vector<Complex> chirp_, kernel_;
  std::vector<FftPlan> inner_;
};

} // namespace tessera::runtime
