// Fourier transforms by the runtime's library kernel: beside the definition, and the same bits from
// each instruction set's loops and however a grid is divided.
#include "runtime/VectorSet.h"
#include "runtime/library/FftPlan.h"
#include "runtime/library/Library.h"
#include <cstring>
#include <gtest/gtest.h>
#include <random>

using namespace tessera::runtime;
using tessera::library::Fft;

namespace {

struct alignas(64) Aligned {
  char bytes[64];
};

// One call of the kernel, cell by cell where so asked.
std::vector<double> call(const Fft &fft, const std::vector<double> &in, bool byCells) {
  auto kernel = findFft(fft.call());
  EXPECT_TRUE(kernel.ok());
  (*kernel).prepare((*kernel).plan.get());
  std::vector<double> out(static_cast<size_t>((fft.batch * fft.outputBytes() + 7) / 8));
  std::vector<Aligned> scratch((*kernel).scratchBytes / 64 + 1);
  void *buffers[] = {const_cast<double *>(in.data()), out.data()};
  TesseraKernelArgs args{buffers, scratch.data(), (*kernel).plan.get()};
  uint32_t step = byCells ? 1 : (*kernel).grid;
  for (uint32_t cell = 0; cell < (*kernel).grid; cell += step)
    (*kernel).function(&args, cell, cell + step);
  return out;
}

std::vector<double> numbers(int64_t count) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal;
  std::vector<double> values(static_cast<size_t>(count));
  for (double &value : values)
    value = normal(random);
  return values;
}

// Every radix, two ways of a long line, both of a convolution.
constexpr int64_t kLengths[] = {1,  2,  3,  4,  5,  6,  7,   8,   9,   11,  16,   30,   31,
                                32, 37, 64, 74, 97, 49, 128, 243, 256, 510, 1024, 2025, 1031};

std::vector<std::complex<long double>> rootsOf(int64_t n) {
  std::vector<std::complex<long double>> roots;
  for (int64_t k = 0; k < n; ++k) {
    long double angle = -2 * 3.14159265358979323846264338327950288L * static_cast<long double>(k) /
                        static_cast<long double>(n);
    roots.emplace_back(std::cos(angle), std::sin(angle));
  }
  return roots;
}

TEST(Fft, linesAreTheDefinition) {
  for (int64_t n : kLengths) {
    std::vector<std::complex<long double>> roots = rootsOf(n);
    Fft fft{Fft::Forward, 1, 3, {n}};
    std::vector<double> in = numbers(3 * 2 * n), out = call(fft, in, false);
    fft.kind = Fft::Inverse;
    std::vector<double> back = call(fft, out, false);
    fft.kind = Fft::RealForward;
    std::vector<double> half = call(fft, in, false);
    fft.kind = Fft::RealInverse;
    std::vector<double> real = call(fft, half, false);
    for (int64_t line = 0; line < 3; ++line)
      for (int64_t k = 0; k < n; ++k) {
        std::complex<long double> sum, realSum;
        for (int64_t j = 0; j < n; ++j) {
          const double *x = &in[2 * (line * n + j)];
          sum += std::complex<long double>(x[0], x[1]) * roots[j * k % n];
          realSum += std::complex<long double>(in[line * n + j]) * roots[j * k % n];
        }
        double bound = 4e-15 * std::sqrt(static_cast<double>(n)) * std::log2(n + 1.0);
        int64_t at = 2 * (line * n + k), pitch = n / 2 + 1;
        EXPECT_NEAR(out[at], static_cast<double>(sum.real()), bound) << n;
        EXPECT_NEAR(out[at + 1], static_cast<double>(sum.imag()), bound) << n;
        EXPECT_NEAR(back[at], in[at], bound) << n;
        EXPECT_NEAR(back[at + 1], in[at + 1], bound) << n;
        EXPECT_NEAR(real[line * n + k], in[line * n + k], bound) << n;
        if (k < pitch) {
          EXPECT_NEAR(half[2 * (line * pitch + k)], static_cast<double>(realSum.real()), bound);
          EXPECT_NEAR(half[2 * (line * pitch + k) + 1], static_cast<double>(realSum.imag()), bound);
        }
      }
  }
}

TEST(Fft, bitsDontDependOnTheGrid) {
  for (int64_t isDouble : {0, 1})
    for (int64_t kind : {Fft::Forward, Fft::Inverse, Fft::RealForward, Fft::RealInverse})
      for (const std::vector<int64_t> &lengths :
           {std::vector<int64_t>{30}, {37}, {2048}, {16, 12}, {5, 9}, {4, 6, 10}}) {
        Fft fft{kind, isDouble, 21, lengths};
        std::vector<double> in = numbers(fft.batch * fft.inputBytes() / (isDouble ? 8 : 4));
        if (!isDouble) { // floats in the same place
          std::vector<float> narrow(in.begin(), in.end());
          std::memcpy(in.data(), narrow.data(), narrow.size() * sizeof(float));
        }
        EXPECT_EQ(call(fft, in, true), call(fft, in, false));
      }
}

TEST(Fft, whatMustBeRealIsTakenAsReal) {
  for (int64_t n : {9, 10, 2048}) {
    Fft fft{Fft::RealInverse, 1, 1, {n}};
    std::vector<double> in = numbers(2 * (n / 2 + 1)), expected = in;
    expected[1] = 0;
    in[1] = std::numeric_limits<double>::infinity();
    if (n % 2 == 0) {
      expected[n + 1] = 0;
      in[n + 1] = std::numeric_limits<double>::quiet_NaN();
    }
    EXPECT_EQ(call(fft, in, false), call(fft, expected, false));
  }
}

#if defined(__x86_64__)
TEST(Fft, bitsDontDependOnTheInstructionSet) {
  for (int64_t n : kLengths)
    for (bool isAcross : {false, true}) {
      FftPlan plan(n, /*isReal=*/false, isAcross);
      constexpr int64_t lines = 13;
      std::vector<double> in = numbers(2 * lines * n);
      std::vector<Aligned> scratch(Fft::lineWork(n, isAcross) / 4 + 1);
      fft::Job job;
      job.line = &plan.line();
      job.isDouble = true;
      job.length = n;
      job.lines = lines;
      job.stride = isAcross ? lines : 1;
      job.fromStep = job.toStep = isAcross ? 1 : n;
      job.from = in.data();
      job.work = scratch.data();
      auto by = [&](void (*run)(const fft::Job &)) {
        std::vector<double> out(in.size());
        job.to = out.data();
        run(job);
        return out;
      };
      std::vector<double> expected = by(fft::baseline::run);
      if (vectorSet() != VectorSet::Baseline)
        EXPECT_EQ(by(fft::avx2::run), expected) << n;
      if (vectorSet() == VectorSet::Avx512)
        EXPECT_EQ(by(fft::avx512::run), expected) << n;
    }
}
#endif

} // namespace
