// The tables of the discrete Fourier transform of lines of one length, in double precision.
#pragma once

#include "runtime/library/FftTables.h"
#include <complex>
#include <vector>

namespace tessera::runtime {

using Complex = std::complex<double>;

// Lengths whose prime factors are small go through passes of mixed radix; others are written as a
// convolution, done at a power of two (Bluestein 1970). Real lines of an even length are complex
// ones of half.
class FftPlan {
public:
  FftPlan(int64_t length, bool isReal, bool isAcross);
  FftPlan(const FftPlan &) = delete; // tables are read through pointers

  const fft::Line &line() const { return line_; }

private:
  struct PassTables {
    std::vector<int> radices;
    std::vector<Complex> roots;
    fft::Passes make(int64_t length);
  };
  void split(int64_t points);

  fft::Line line_;
  PassTables first_, second_;
  std::vector<double> turns_;
  std::vector<Complex> chirp_, kernel_, halfTurns_;
};

// The loops for this machine's instruction set.
void runFftJob(const fft::Job &job);

} // namespace tessera::runtime
