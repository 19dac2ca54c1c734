// What the transform of one line needs, as plain data: made by FftPlan, read by the loops of
// FftLoops.h, of which there is one set for each instruction set. All give the same bits.
#pragma once

#include <cstdint>

namespace tessera::runtime::fft {

// A length whose prime factors are small, by passes of mixed radix. Complex tables are pairs of
// doubles.
struct Passes {
  int64_t length = 0;
  const int *radices = nullptr;
  int radixCount = 0;
  const double *roots = nullptr; // exp(-2 pi i k / length)
};

struct Line {
  int64_t points = 0; // of the complex transform
  // Whether lines go together, each in a lane. Otherwise the line is a matrix of first.length rows
  // and second.length columns.
  bool isTogether = false;
  Passes first, second;
  // Of a matrix, exp(-2 pi i j k / n) of column j and frequency k of the first transform, at
  // [k * pitch + j]: the real parts, then the imaginary ones.
  const double *turns = nullptr, *turnsImaginary = nullptr;
  int64_t pitch = 0;
  // Of a convolution, whose length the transforms above have: exp(-pi i k^2 / points), and the
  // transform of its conjugate.
  int64_t convolution = 0;
  const double *chirp = nullptr, *kernel = nullptr;
  // Of a real line of 2 `points`: exp(-pi i k / points) for k up to half of them.
  const double *halfTurns = nullptr;
  // Complex doubles of what a line that is alone, and its convolution, are computed in.
  int64_t buffer = 0, convolutionBuffer = 0;
};

// Lines of one length, in place or from one array to another. Steps and strides are in elements of
// their arrays: reals on the real side.
struct Job {
  const Line *line = nullptr;
  enum Kind { Complex, FromReal, ToReal } kind = Complex;
  bool isDouble = false, isInverse = false;
  int64_t length = 0; // of the real side
  const void *from = nullptr;
  void *to = nullptr;
  int64_t lines = 0, fromStep = 0, toStep = 0;
  int64_t stride = 1; // between a line's elements; where it is not 1, steps are 1
  void *work = nullptr;
};

namespace baseline {
void run(const Job &job);
}
#if defined(__x86_64__)
namespace avx2 {
void run(const Job &job);
}
namespace avx512 {
void run(const Job &job);
}
#endif

} // namespace tessera::runtime::fft
