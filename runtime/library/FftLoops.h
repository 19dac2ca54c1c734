// Transforms of lines, compiled once for each instruction set: TESSERA_FFT_ISA names the namespace,
// TESSERA_FFT_WIDTH the lanes of a vector of doubles. Each line's operations are the same whatever
// lane it is in and how many go together, so bits are too. No standard headers with inline
// functions here: the linker might keep the copy that another CPU cannot run.
#include "runtime/library/FftPasses.h"
#include "runtime/library/FftTables.h"

namespace tessera::runtime::fft::TESSERA_FFT_ISA {

// Of two vectors of n elements that lie one after the other, every second element, and back.
#if TESSERA_FFT_WIDTH == 8
#define TESSERA_FFT_EVEN 0, 2, 4, 6, 8, 10, 12, 14
#define TESSERA_FFT_ODD 1, 3, 5, 7, 9, 11, 13, 15
#define TESSERA_FFT_LOW 0, 8, 1, 9, 2, 10, 3, 11
#define TESSERA_FFT_HIGH 4, 12, 5, 13, 6, 14, 7, 15
#else
#define TESSERA_FFT_EVEN 0, 2, 4, 6
#define TESSERA_FFT_ODD 1, 3, 5, 7
#define TESSERA_FFT_LOW 0, 4, 1, 5
#define TESSERA_FFT_HIGH 2, 6, 3, 7
#endif

// kWidth complex numbers of a type beside each other in memory.
template <class T> struct Format;

template <> struct Format<double> {
  using Packed = Lanes;
  static Lanes load(const double *p) {
    V low, high;
    __builtin_memcpy(&low, p, sizeof low);
    __builtin_memcpy(&high, p + kWidth, sizeof high);
    return {__builtin_shufflevector(low, high, TESSERA_FFT_EVEN),
            __builtin_shufflevector(low, high, TESSERA_FFT_ODD)};
  }
  static void store(double *p, Lanes value) {
    V low = __builtin_shufflevector(value.re, value.im, TESSERA_FFT_LOW),
      high = __builtin_shufflevector(value.re, value.im, TESSERA_FFT_HIGH);
    __builtin_memcpy(p, &low, sizeof low);
    __builtin_memcpy(p + kWidth, &high, sizeof high);
  }
  static Lanes unpack(Lanes packed) { return packed; }
  static Lanes pack(Lanes value) { return value; }
};

// Packed, a complex<f32> is a word of a lane's size.
template <> struct Format<float> {
  using Packed = V;
  typedef float Half __attribute__((vector_size(kWidth * 4)));
  typedef float Whole __attribute__((vector_size(kWidth * 8)));
  static V load(const float *p) {
    V words;
    __builtin_memcpy(&words, p, sizeof words);
    return words;
  }
  static void store(float *p, V words) { __builtin_memcpy(p, &words, sizeof words); }
  static Lanes unpack(V words) {
    Whole all = (Whole)words;
    Half re = __builtin_shufflevector(all, all, TESSERA_FFT_EVEN),
         im = __builtin_shufflevector(all, all, TESSERA_FFT_ODD);
    return {__builtin_convertvector(re, V), __builtin_convertvector(im, V)};
  }
  static V pack(Lanes value) {
    Half re = __builtin_convertvector(value.re, Half), im = __builtin_convertvector(value.im, Half);
    return (V)__builtin_shufflevector(re, im, TESSERA_FFT_LOW, TESSERA_FFT_HIGH);
  }
};

// A square of kWidth vectors.
inline void transpose(V *rows) {
#if TESSERA_FFT_WIDTH == 8
  for (int i = 0; i < 8; i += 2) {
    V a = rows[i], b = rows[i + 1];
    rows[i] = __builtin_shufflevector(a, b, 0, 8, 2, 10, 4, 12, 6, 14);
    rows[i + 1] = __builtin_shufflevector(a, b, 1, 9, 3, 11, 5, 13, 7, 15);
  }
  for (int i = 0; i < 6; i += i == 1 ? 3 : 1) {
    V a = rows[i], b = rows[i + 2];
    rows[i] = __builtin_shufflevector(a, b, 0, 1, 8, 9, 4, 5, 12, 13);
    rows[i + 2] = __builtin_shufflevector(a, b, 2, 3, 10, 11, 6, 7, 14, 15);
  }
  for (int i = 0; i < 4; ++i) {
    V a = rows[i], b = rows[i + 4];
    rows[i] = __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11);
    rows[i + 4] = __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15);
  }
#else
  for (int i = 0; i < 4; i += 2) {
    V a = rows[i], b = rows[i + 1];
    rows[i] = __builtin_shufflevector(a, b, 0, 4, 2, 6);
    rows[i + 1] = __builtin_shufflevector(a, b, 1, 5, 3, 7);
  }
  for (int i = 0; i < 2; ++i) {
    V a = rows[i], b = rows[i + 2];
    rows[i] = __builtin_shufflevector(a, b, 0, 1, 4, 5);
    rows[i + 2] = __builtin_shufflevector(a, b, 2, 3, 6, 7);
  }
#endif
}

inline void transpose(Lanes *rows) {
  V re[kWidth], im[kWidth];
  for (int i = 0; i < kWidth; ++i) {
    re[i] = rows[i].re;
    im[i] = rows[i].im;
  }
  transpose(re);
  transpose(im);
  for (int i = 0; i < kWidth; ++i)
    rows[i] = {re[i], im[i]};
}

//===----------------------------- real lines by half ---------------------------===//

// A real line x of 2 h elements is z[k] = x[2 k] + i x[2 k + 1]; `z` has h + 1 places. What must be
// real of a half spectrum is taken as real.
template <class C> void spectrumOfHalf(C *z, int64 h, const double *turns) {
  z[h] = z[0];
  for (int64 k = 0; 2 * k <= h; ++k) {
    C a = z[k], b = conjugate(z[h - k]);
    C even = plus(a, b), odd = timesMinusI(times(minus(a, b), point(turns, k)));
    C low = plus(even, odd), high = conjugate(minus(even, odd));
    z[h - k] = {high.re * 0.5, high.im * 0.5};
    z[k] = {low.re * 0.5, low.im * 0.5};
  }
}

template <class C> void halfOfSpectrum(C *z, int64 h, const double *turns) {
  z[0] = realOf(z[0]);
  z[h] = realOf(z[h]);
  for (int64 k = 0; 2 * k <= h; ++k) {
    C a = z[k], b = conjugate(z[h - k]);
    Point turn = point(turns, k);
    C even = plus(a, b), odd = times(minus(a, b), Point{turn.re, -turn.im});
    z[h - k] = plus(conjugate(even), swapped(odd)); // i conjugate(odd)
    z[k] = minus(even, timesMinusI(odd));
  }
}

// The other half of an odd length's spectrum.
template <class C> void wholeOfSpectrum(C *z, int64 n) {
  z[0] = realOf(z[0]);
  for (int64 k = 1; 2 * k < n; ++k)
    z[n - k] = conjugate(z[k]);
}

//===------------------------------ one line at a time ---------------------------===//

// `data` is rows x columns. Reads and writes up to a vector past its end.
inline void transformMatrix(const Line &line, double *data, Lanes *work) {
  using Memory = Format<double>;
  const int64 rows = line.first.length, columns = line.second.length, pitch = line.pitch;
  Lanes *between = work, *a = between + (rows + kWidth - 1) / kWidth * pitch,
        *b = a + (rows > columns ? rows : columns);
  for (int64 column = 0; column < columns; column += kWidth) {
    for (int64 row = 0; row < rows; ++row)
      a[row] = Memory::load(data + 2 * (row * columns + column));
    const Lanes *result = transform(line.first, a, b);
    for (int64 k = 0; k < rows; k += kWidth) {
      Lanes square[kWidth];
      for (int i = 0; i < kWidth; ++i) {
        if (k + i >= rows) {
          square[i] = {};
          continue;
        }
        Lanes turn;
        __builtin_memcpy(&turn.re, line.turns + (k + i) * pitch + column, sizeof turn.re);
        __builtin_memcpy(&turn.im, line.turnsImaginary + (k + i) * pitch + column, sizeof turn.im);
        square[i] = times(result[k + i], turn);
      }
      transpose(square);
      for (int i = 0; i < kWidth; ++i)
        between[k / kWidth * pitch + column + i] = square[i];
    }
  }
  for (int64 k = 0; k < rows; k += kWidth) {
    const Lanes *result = transform(line.second, between + k / kWidth * pitch, a);
    int64 count = rows - k;
    for (int64 column = 0; column < columns; ++column) {
      double *to = data + 2 * (column * rows + k);
      if (count >= kWidth)
        Memory::store(to, result[column]);
      else
        for (int64 i = 0; i < count; ++i) {
          to[2 * i] = result[column].re[i];
          to[2 * i + 1] = result[column].im[i];
        }
    }
  }
}

// X[k] = c[k] sum of (x[j] c[j]) conj(c[k - j]), as 2 j k = j^2 + k^2 - (k - j)^2.
inline void convolveLine(const Line &line, Point *data, Point *wide, Lanes *work) {
  const int64 n = line.points, m = line.convolution;
  for (int64 k = 0; k < n; ++k)
    wide[k] = times(data[k], point(line.chirp, k));
  for (int64 k = n; k < m; ++k)
    wide[k] = {};
  transformMatrix(line, &wide->re, work);
  // Back by the conjugate of the transform of the conjugate.
  for (int64 k = 0; k < m; ++k)
    wide[k] = conjugate(times(wide[k], point(line.kernel, k)));
  transformMatrix(line, &wide->re, work);
  const double scale = 1.0 / (double)m;
  for (int64 k = 0; k < n; ++k) {
    Point back = conjugate(wide[k]);
    data[k] = times(Point{back.re * scale, back.im * scale}, point(line.chirp, k));
  }
}

//===-------------------------------- lines together -----------------------------===//

inline Lanes *convolve(const Line &line, Lanes *a, Lanes *b) {
  const int64 n = line.points, m = line.convolution;
  for (int64 k = 0; k < n; ++k)
    a[k] = times(a[k], point(line.chirp, k));
  for (int64 k = n; k < m; ++k)
    a[k] = {};
  Lanes *spectrum = transform(line.first, a, b);
  for (int64 k = 0; k < m; ++k)
    spectrum[k] = conjugate(times(spectrum[k], point(line.kernel, k)));
  Lanes *back = transform(line.first, spectrum, spectrum == a ? b : a);
  const double scale = 1.0 / (double)m;
  for (int64 k = 0; k < n; ++k) {
    Lanes value = conjugate(back[k]);
    back[k] = times(Lanes{value.re * scale, value.im * scale}, point(line.chirp, k));
  }
  return back;
}

// `count` lines of `n` complex numbers, at most one in each lane, from memory; where there are
// fewer lines, the other lanes repeat the last. `step` and `stride` are in reals.
template <class T>
void readLines(const T *from, int64 step, int64 stride, int64 count, int64 n, Lanes *lanes) {
  using Memory = Format<T>;
  int64 k = 0;
  if (stride == 2) {
    for (; k + kWidth <= n; k += kWidth) {
      typename Memory::Packed square[kWidth];
      for (int i = 0; i < kWidth; ++i)
        square[i] = Memory::load(from + (i < count ? i : count - 1) * step + 2 * k);
      transpose(square);
      for (int i = 0; i < kWidth; ++i)
        lanes[k + i] = Memory::unpack(square[i]);
    }
  } else if (step == 2 && count == kWidth) {
    for (; k < n; ++k)
      lanes[k] = Memory::unpack(Memory::load(from + k * stride));
  }
  for (; k < n; ++k)
    for (int i = 0; i < kWidth; ++i) {
      const T *p = from + (i < count ? i : count - 1) * step + k * stride;
      lanes[k].re[i] = p[0];
      lanes[k].im[i] = p[1];
    }
}

template <class T>
void writeLines(const Lanes *lanes, T *to, int64 step, int64 stride, int64 count, int64 n) {
  using Memory = Format<T>;
  int64 k = 0;
  if (stride == 2) {
    for (; k + kWidth <= n; k += kWidth) {
      typename Memory::Packed square[kWidth];
      for (int i = 0; i < kWidth; ++i)
        square[i] = Memory::pack(lanes[k + i]);
      transpose(square);
      for (int i = 0; i < count; ++i)
        Memory::store(to + i * step + 2 * k, square[i]);
    }
  } else if (step == 2 && count == kWidth) {
    for (; k < n; ++k)
      Memory::store(to + k * stride, Memory::pack(lanes[k]));
  }
  for (; k < n; ++k)
    for (int i = 0; i < count; ++i) {
      T *p = to + i * step + k * stride;
      p[0] = (T)lanes[k].re[i];
      p[1] = (T)lanes[k].im[i];
    }
}

// One line alone has the same two.
template <class T> void readLines(const T *from, int64, int64 stride, int64, int64 n, Point *line) {
  for (int64 k = 0; k < n; ++k)
    line[k] = {from[k * stride], from[k * stride + 1]};
}
template <class T> void writeLines(const Point *line, T *to, int64, int64 stride, int64, int64 n) {
  for (int64 k = 0; k < n; ++k) {
    to[k * stride] = (T)line[k].re;
    to[k * stride + 1] = (T)line[k].im;
  }
}

inline double lane(const V &value, int64 i) { return value[i]; }
inline double lane(double value, int64) { return value; }
inline void setReal(Lanes &value, int64 i, double real) {
  value.re[i] = real;
  value.im[i] = 0;
}
inline void setReal(Point &value, int64, double real) { value = {real, 0}; }

//===------------------------------------ jobs -----------------------------------===//

// Lines of `width` (the lanes of a C) at a time: read, transformed by `transformed`, written. The
// inverse is the transform with real and imaginary parts swapped before and after, times a scale.
template <class T, class C, class F>
void eachGroup(const Job &job, int64 width, C *buffer, F transformed) {
  const Line &line = *job.line;
  const int64 n = line.points, length = job.length;
  const bool isHalved = job.kind != Job::Complex && length % 2 == 0;
  const int64 half = length / 2 + 1;
  const auto *from = static_cast<const T *>(job.from);
  auto *to = static_cast<T *>(job.to);
  const int64 fromStep = job.kind == Job::FromReal ? job.fromStep : 2 * job.fromStep;
  const int64 toStep = job.kind == Job::ToReal ? job.toStep : 2 * job.toStep;
  const int64 stride = 2 * job.stride;
  const double scale = job.isInverse ? 1.0 / (double)length : 1.0;
  for (int64 at = 0; at < job.lines; at += width, from += width * fromStep, to += width * toStep) {
    const int64 count = job.lines - at < width ? job.lines - at : width;
    if (job.kind == Job::FromReal && !isHalved) {
      for (int64 k = 0; k < n; ++k)
        for (int64 i = 0; i < width; ++i)
          setReal(buffer[k], i, from[(i < count ? i : count - 1) * fromStep + k]);
    } else {
      readLines(from, fromStep, stride, count, job.kind == Job::ToReal ? half : n, buffer);
      if (job.kind == Job::ToReal && isHalved)
        halfOfSpectrum(buffer, n, line.halfTurns);
      else if (job.kind == Job::ToReal)
        wholeOfSpectrum(buffer, n);
    }
    if (job.isInverse)
      for (int64 k = 0; k < n; ++k)
        buffer[k] = swapped(buffer[k]);
    C *result = transformed(buffer);
    if (job.isInverse)
      for (int64 k = 0; k < n; ++k)
        result[k] = {result[k].im * scale, result[k].re * scale};
    if (job.kind == Job::ToReal && !isHalved) {
      for (int64 k = 0; k < n; ++k)
        for (int64 i = 0; i < count; ++i)
          to[i * toStep + k] = (T)lane(result[k].re, i);
      continue;
    }
    if (job.kind == Job::FromReal && isHalved)
      spectrumOfHalf(result, n, line.halfTurns);
    writeLines(result, to, toStep, stride, count, job.kind == Job::FromReal ? half : n);
  }
}

template <class T> void runJob(const Job &job) {
  const Line &line = *job.line;
  if (line.isTogether) {
    auto *a = static_cast<Lanes *>(job.work);
    Lanes *b = a + (line.convolution ? line.convolution : line.points) + 1;
    eachGroup<T>(job, kWidth, a, [&](Lanes *values) {
      return line.convolution ? convolve(line, values, b) : transform(line.first, values, b);
    });
    return;
  }
  auto *data = static_cast<Point *>(job.work);
  Point *wide = data + line.buffer;
  auto *work = reinterpret_cast<Lanes *>(wide + line.convolutionBuffer);
  eachGroup<T>(job, 1, data, [&](Point *values) {
    if (line.convolution)
      convolveLine(line, values, wide, work);
    else
      transformMatrix(line, &values->re, work);
    return values;
  });
}

void run(const Job &job) {
  if (job.isDouble)
    runJob<double>(job);
  else
    runJob<float>(job);
}

} // namespace tessera::runtime::fft::TESSERA_FFT_ISA
