// Triangular solves by the runtime's library kernel: every side, triangle, transpose and type beside
// the product with the result, and the same bits from each instruction set's loops, however a grid
// is divided, and for a right-hand side alone.
#include "runtime/VectorSet.h"
#include "runtime/library/Library.h"
#include "runtime/library/SolveTables.h"
#include <complex>
#include <cstring>
#include <gtest/gtest.h>
#include <random>

using namespace tessera::runtime;
using tessera::library::Element;
using tessera::library::TriangularSolve;

namespace {

struct alignas(64) Aligned {
  char bytes[64];
};

template <typename T> struct Wide {
  using type = double;
  static T make(double re, double) { return static_cast<T>(re); }
};
template <typename T> struct Wide<std::complex<T>> {
  using type = std::complex<double>;
  static std::complex<T> make(double re, double im) {
    return {static_cast<T>(re), static_cast<T>(im)};
  }
};
double conjugate(double x) { return x; }
std::complex<double> conjugate(std::complex<double> x) { return std::conj(x); }

template <typename T>
std::vector<T> call(const TriangularSolve &solve, std::vector<T> a, std::vector<T> b,
                    bool byCells = false) {
  auto kernel = findTriangularSolve(solve.call());
  EXPECT_TRUE(kernel.ok());
  std::vector<Aligned> scratch((*kernel).scratchBytes / 64 + 1);
  void *buffers[] = {a.data(), b.data(), b.data()}; // in place
  TesseraKernelArgs args{buffers, scratch.data(), (*kernel).plan.get()};
  uint32_t step = byCells ? 1 : (*kernel).grid;
  for (uint32_t cell = 0; cell < (*kernel).grid; cell += step)
    (*kernel).function(&args, cell, cell + step);
  return b;
}

// What is not read (the other triangle, a unit diagonal) is NaN.
template <typename T> void check(Element element, double epsilon) {
  using Sum = typename Wide<T>::type;
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal;
  auto draw = [&] { return Wide<T>::make(normal(random), normal(random)); };
  for (int64_t flags = 0; flags < 24; ++flags)
    for (auto [n, sides] :
         {std::pair<int64_t, int64_t>{1, 2}, {5, 33}, {8, 1}, {19, 70}, {41, 17}}) {
      TriangularSolve solve;
      solve.element = static_cast<int64_t>(element);
      solve.batch = 2;
      solve.leftSide = flags % 2;
      solve.lower = flags / 2 % 2;
      solve.unitDiagonal = flags / 4 % 2;
      solve.transpose = flags / 8;
      solve.rows = solve.leftSide ? n : sides;
      solve.columns = solve.leftSide ? sides : n;
      std::vector<T> a(2 * n * n), b(2 * n * sides);
      for (int64_t i = 0; i < 2 * n * n; ++i) {
        int64_t row = i / n % n, column = i % n;
        bool isRead = row == column ? !solve.unitDiagonal : (row > column) == (solve.lower != 0);
        T value = draw();
        a[i] = !isRead         ? T(std::numeric_limits<double>::quiet_NaN())
               : row == column ? T(4) + value / T(4)
                               : value / T(4);
      }
      for (T &value : b)
        value = draw();
      std::vector<T> x = call(solve, a, b);
      EXPECT_EQ(call(solve, a, b, /*byCells=*/true), x);
      auto factor = [&](int64_t problem, int64_t i, int64_t j) -> Sum { // of op(a)
        if (solve.transpose != TriangularSolve::None)
          std::swap(i, j);
        if (i == j && solve.unitDiagonal)
          return 1;
        if (i != j && (i > j) != (solve.lower != 0))
          return 0;
        Sum value(a[(problem * n + i) * n + j]);
        return solve.transpose == TriangularSolve::Adjoint ? Sum(conjugate(value)) : value;
      };
      for (int64_t problem = 0; problem < 2; ++problem)
        for (int64_t row = 0; row < solve.rows; ++row)
          for (int64_t column = 0; column < solve.columns; ++column) {
            Sum sum = 0;
            double size = 0;
            for (int64_t k = 0; k < n; ++k) {
              int64_t at = solve.leftSide ? k * solve.columns + column : row * solve.columns + k;
              Sum term = Sum(x[problem * n * sides + at]) *
                         (solve.leftSide ? factor(problem, row, k) : factor(problem, k, column));
              sum += term;
              size += std::abs(term);
            }
            Sum given(b[problem * n * sides + row * solve.columns + column]);
            ASSERT_LE(std::abs(sum - given), 3 * epsilon * static_cast<double>(n + 3) * size)
                << "flags " << flags << ", order " << n;
          }
    }
}

TEST(TriangularSolve, isStable) {
  check<float>(Element::F32, std::numeric_limits<float>::epsilon());
  check<double>(Element::F64, std::numeric_limits<double>::epsilon());
  check<std::complex<float>>(Element::C64, std::numeric_limits<float>::epsilon());
  check<std::complex<double>>(Element::C128, std::numeric_limits<double>::epsilon());
}

TEST(TriangularSolve, aSideAloneHasTheSameBits) {
  std::mt19937_64 random(5);
  std::normal_distribution<float> normal;
  constexpr int64_t n = 37, sides = 45;
  std::vector<float> a(n * n), b(n * sides), column(n);
  for (float &value : a)
    value = normal(random) + 3;
  for (float &value : b)
    value = normal(random);
  std::vector<float> all = call(TriangularSolve{0, 1, n, sides, 1, 1, 0, 0}, a, b);
  for (int64_t side = 0; side < sides; ++side) {
    for (int64_t i = 0; i < n; ++i)
      column[i] = b[i * sides + side];
    std::vector<float> alone = call(TriangularSolve{0, 1, n, 1, 1, 1, 0, 0}, a, column);
    for (int64_t i = 0; i < n; ++i)
      EXPECT_EQ(alone[i], all[i * sides + side]);
  }
}

#if defined(__x86_64__)
TEST(TriangularSolve, bitsDontDependOnTheInstructionSet) {
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal;
  constexpr int64_t n = 29, sides = 9;
  for (bool isDouble : {false, true})
    for (bool isComplex : {false, true}) {
      std::vector<double> a(2 * n * n), b(2 * n * sides);
      auto fill = [&](std::vector<double> &values) {
        for (size_t i = 0; i < values.size(); ++i) {
          double value = normal(random) + 3;
          if (isDouble)
            values[i] = value;
          else
            reinterpret_cast<float *>(values.data())[i] = static_cast<float>(value);
        }
      };
      fill(a);
      fill(b);
      std::vector<Aligned> panel(n * solve::kPanelBytes * 2 / 64);
      solve::Job job;
      job.isDouble = isDouble;
      job.isComplex = job.isConjugate = isComplex;
      job.order = n;
      job.matrix = a.data();
      job.lineStep = n;
      job.termStep = 1;
      job.from = b.data();
      job.sides = sides;
      job.sideStep = 1;
      job.sideLineStep = sides;
      job.panel = panel.data();
      auto by = [&](void (*run)(const solve::Job &)) {
        std::vector<double> out(b.size());
        job.to = out.data();
        run(job);
        return out;
      };
      std::vector<double> expected = by(solve::baseline::run);
      auto same = [&](const std::vector<double> &out) {
        return std::memcmp(out.data(), expected.data(), out.size() * sizeof(double)) == 0;
      };
      if (vectorSet() != VectorSet::Baseline)
        EXPECT_TRUE(same(by(solve::avx2::run)));
      if (vectorSet() == VectorSet::Avx512)
        EXPECT_TRUE(same(by(solve::avx512::run)));
    }
}
#endif

} // namespace
