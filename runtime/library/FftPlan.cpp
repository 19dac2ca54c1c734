#include "runtime/library/FftPlan.h"
#include "include/tessera/library.h"
#include "runtime/VectorSet.h"
#include <cmath>
#include <memory>
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

const double *pairs(const std::vector<Complex> &table) {
  return reinterpret_cast<const double *>(table.data());
}

} // namespace

fft::Passes FftPlan::PassTables::make(int64_t length) {
  int64_t rest = length;
  int twos = 0;
  for (; rest % 2 == 0; rest /= 2)
    ++twos;
  for (; twos >= 3 && twos != 4; twos -= 3)
    radices.push_back(8);
  for (; twos >= 2; twos -= 2)
    radices.push_back(4);
  if (twos)
    radices.push_back(2);
  for (int radix = 3; rest > 1; radix += 2)
    for (; rest % radix == 0; rest /= radix)
      radices.push_back(radix);
  roots.reserve(length);
  for (int64_t k = 0; k < length; ++k)
    roots.push_back(root(k, length));
  return {length, radices.data(), static_cast<int>(radices.size()), pairs(roots)};
}

// A long line as a matrix.
void FftPlan::split(int64_t points) {
  int64_t rows = library::Fft::splitRows(points), columns = points / rows;
  line_.first = first_.make(rows);
  line_.second = second_.make(columns);
  line_.pitch = library::Fft::vectors(columns);
  turns_.resize(2 * rows * line_.pitch);
  line_.turns = turns_.data();
  line_.turnsImaginary = turns_.data() + rows * line_.pitch;
  for (int64_t k = 0; k < rows; ++k)
    for (int64_t column = 0; column < columns; ++column) {
      Complex turn = root(k * column, points);
      turns_[k * line_.pitch + column] = turn.real();
      turns_[(rows + k) * line_.pitch + column] = turn.imag();
    }
}

FftPlan::FftPlan(int64_t length, bool isReal, bool isAcross) {
  using library::Fft;
  int64_t points = line_.points = Fft::pointsOf(length, isReal);
  line_.isTogether = Fft::isTogether(points, isAcross);
  line_.buffer = Fft::lineBuffer(points);
  int64_t direct = points;
  if (Fft::largeFactor(points) != 1) {
    direct = line_.convolution = Fft::convolutionLength(points);
    line_.convolutionBuffer = Fft::lineBuffer(direct);
  }
  if (line_.isTogether)
    line_.first = first_.make(direct);
  else
    split(direct);
  if (points != length) {
    for (int64_t k = 0; 2 * k <= points; ++k)
      halfTurns_.push_back(root(k, length));
    line_.halfTurns = pairs(halfTurns_);
  }
  if (!line_.convolution)
    return;
  chirp_.resize(points);
  for (int64_t k = 0; k < points; ++k) {
    auto square = static_cast<int64_t>(static_cast<unsigned __int128>(k) * k %
                                       static_cast<unsigned __int128>(2 * points));
    chirp_[k] = root(square, 2 * points);
  }
  line_.chirp = pairs(chirp_);
  kernel_.resize(direct);
  for (int64_t k = 0; k < points; ++k)
    kernel_[k] = kernel_[(direct - k) % direct] = std::conj(chirp_[k]);
  // The loops themselves transform it.
  fft::Line line = line_;
  line.points = direct;
  line.convolution = line.convolutionBuffer = 0;
  line.buffer = Fft::lineBuffer(direct);
  std::vector<Complex> work(Fft::lineWork(direct, false) + 4);
  void *aligned = work.data();
  size_t bytes = work.size() * sizeof(Complex);
  fft::Job job;
  job.line = &line;
  job.isDouble = true;
  job.length = direct;
  job.from = job.to = kernel_.data();
  job.lines = 1;
  job.work = std::align(64, bytes - 64, aligned, bytes);
  runFftJob(job);
  line_.kernel = pairs(kernel_);
}

void runFftJob(const fft::Job &job) {
#if defined(__x86_64__)
  if (vectorSet() == VectorSet::Avx512)
    return fft::avx512::run(job);
  if (vectorSet() == VectorSet::Avx2)
    return fft::avx2::run(job);
#endif
  fft::baseline::run(job);
}

} // namespace tessera::runtime
