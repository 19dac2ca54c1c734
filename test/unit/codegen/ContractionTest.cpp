// Products by tiles, at sizes that leave rests in every direction; with operands in either order of
// dimensions, and what follows applied to the tiles, over an operand's own buffer too.
#include "test/unit/codegen/KernelRun.h"

#include "passes/codegen/cpu/Contraction.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <tuple>

namespace tessera::test {
namespace {

std::string shape(int64_t a, int64_t b) {
  return "tensor<" + std::to_string(a) + "x" + std::to_string(b) + "xf32>";
}

void check(int64_t m, int64_t k, int64_t n, bool transposesA, bool transposesB, bool isShared) {
  std::string a = transposesA ? shape(k, m) : shape(m, k),
              b = transposesB ? shape(n, k) : shape(k, n);
  std::string c = shape(m, n);
  Floats x = numbers(m * k), y = numbers(k * n, 2), z = numbers(m * n, 3);
  auto got = runKernel("(%a: " + a + ", %b: " + b + ", %c: " + c + ") -> " + c,
                       "%d = stablehlo.dot_general %a, %b, contracting_dims = [" +
                           std::string(transposesA ? "0" : "1") + "] x [" +
                           (transposesB ? "1" : "0") + "] : (" + a + ", " + b + ") -> " + c +
                           "\n%s = stablehlo.add %d, %c : " + c + "\nexec.yield %s : " + c,
                       {x, y, z}, {isShared ? 2 : -1});
  ASSERT_EQ(got.size(), 1u);
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      double sum = z[i * n + j];
      for (int64_t l = 0; l < k; ++l)
        sum +=
            double(x[transposesA ? l * m + i : i * k + l]) * y[transposesB ? j * k + l : l * n + j];
      ASSERT_NEAR(got[0][i * n + j], sum, 1e-4)
          << m << "x" << k << "x" << n << " at " << i << ", " << j;
    }
}

TEST(Contraction, OddSizes) {
  for (bool transposesA : {false, true})
    for (bool transposesB : {false, true}) {
      check(7, 33, 40, transposesA, transposesB, false);
      check(33, 100, 10, transposesA, transposesB, true);
      check(130, 17, 97, transposesA, transposesB, true);
    }
}

// Three vectors of columns are a tile; of two tiles of two one would be multiplied twice. AVX2 has no
// registers for it.
TEST(Contraction, ThreeVectorsAreATile) {
  codegen::Node product;
  product.kind = codegen::ElementKind::F32;
  auto columnsOf = [&](int64_t n, unsigned bytes) {
    codegen::ContractionPlan plan;
    plan.product = &product;
    plan.mSize = 100, plan.nSize = n;
    codegen::VectorFeatures features;
    features.bytes = bytes;
    chooseTile(plan, features);
    return plan.columns();
  };
  EXPECT_EQ(columnsOf(48, 64), 48);
  EXPECT_EQ(columnsOf(33, 64), 48);
  EXPECT_EQ(columnsOf(32, 64), 32);
  EXPECT_EQ(columnsOf(49, 64), 32);
  EXPECT_EQ(columnsOf(24, 32), 16);
  check(70, 33, 48, false, false, true);
  check(70, 200, 41, false, true, false);
}

// Columns of three vectors, of elements that lie `apart` in memory: of the right operand, which is copied, and of what
// is added to the sums. Small whole numbers, which all types hold.
void checkApart(int64_t n, int64_t apart, const std::string &sums, const std::string &read) {
  constexpr int64_t m = 19, k = 7;
  int64_t wide = (n - 1) * apart + 1;
  auto tensor = [](int64_t a, int64_t b, const std::string &element) {
    return "tensor<" + std::to_string(a) + "x" + std::to_string(b) + "x" + element + ">";
  };
  auto some = [](int64_t count, unsigned seed) {
    Floats values = numbers(count, seed);
    for (float &value : values)
      value = std::trunc(4 * value);
    return values;
  };
  auto taken = [&](const std::string &name, int64_t rows) {
    std::string all = tensor(rows, wide, read), few = tensor(rows, n, read);
    return "%" + name + "s = stablehlo.slice %" + name + " [0:" + std::to_string(rows) +
           ", 0:" + std::to_string(wide) + ":" + std::to_string(apart) + "] : (" + all + ") -> " +
           few + "\n%" + name + "n = stablehlo.convert %" + name + "s : (" + few + ") -> " +
           tensor(rows, n, sums) + "\n";
  };
  std::string a = tensor(m, k, sums), b = tensor(k, n, sums), c = tensor(m, n, sums);
  Floats x = some(m * k, 1), y = some(k * wide, 2), z = some(m * wide, 3);
  auto got = runKernel("(%a: " + a + ", %b: " + tensor(k, wide, read) +
                           ", %c: " + tensor(m, wide, read) + ") -> " + c,
                       taken("b", k) + taken("c", m) +
                           "%d = stablehlo.dot_general %a, %bn, contracting_dims = [1] x [0] : (" +
                           a + ", " + b + ") -> " + c + "\n%r = stablehlo.add %d, %cn : " + c +
                           "\nexec.yield %r : " + c,
                       {x, y, z});
  ASSERT_EQ(got.size(), 1u);
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      float sum = z[i * wide + j * apart];
      for (int64_t l = 0; l < k; ++l)
        sum += x[i * k + l] * y[l * wide + j * apart];
      ASSERT_EQ(got[0][i * n + j], sum) << n << " of " << sums << ", " << apart << " apart, of "
                                        << read << ", at " << i << ", " << j;
    }
}

TEST(Contraction, ColumnsApart) {
  for (const char *read : {"f32", "bf16", "f16", "i8"})
    for (int64_t apart = 2; apart <= 8; ++apart) {
      checkApart(41, apart, "f32", read);
      checkApart(48, apart, "f32", read);
      checkApart(23, apart, "f64", read);
      checkApart(24, apart, "f64", read);
    }
}

TEST(Contraction, ThinOnes) {
  check(1, 64, 64, false, false, false);
  check(64, 64, 1, false, false, true);
  check(5, 1, 100, false, false, false);
}

// Longer than one block of k.
TEST(Contraction, LongSums) { check(9, 1500, 33, false, true, false); }

// Large operands whose rows of k are copied block by block: tiles ask for the next one's, of which there is
// less, or none.
TEST(Contraction, BlocksAskForTheNext) {
  check(64, 4640, 64, true, false, false);
  check(65, 4200, 97, true, false, true);
}

// As JAX writes the gradient of a 3x3 filter: the batch is contracted, in blocks that begin and end
// within rows of images.
TEST(Contraction, GradientOfFilters) {
  constexpr int batch = 5, height = 29, width = 31, inputs = 5, outputs = 20;
  Floats x = numbers(batch * height * width * inputs),
         g = numbers(batch * height * width * outputs, 2);
  for (bool channelsFirst : {false, true}) {
    auto image = [&](int channels) {
      auto [b, c, h, w] = std::tuple(std::to_string(batch), std::to_string(channels),
                                     std::to_string(height), std::to_string(width));
      return "tensor<" +
             (channelsFirst ? b + "x" + c + "x" + h + "x" + w : b + "x" + h + "x" + w + "x" + c) +
             "xf32>";
    };
    auto place = [&](int b, int h, int w, int c, int channels) {
      return channelsFirst ? ((b * channels + c) * height + h) * width + w
                           : ((b * height + h) * width + w) * channels + c;
    };
    std::string numbers = channelsFirst ? "[f, b, 0, 1]x[i, o, 0, 1]" : "[f, 0, 1, b]x[i, 0, 1, o]";
    std::string type = "(" + image(inputs) + ", " + image(outputs) + ") -> tensor<3x3x5x20xf32>";
    auto got = runKernel(
        "(%x: " + image(inputs) + ", %g: " + image(outputs) + ") -> tensor<3x3x5x20xf32>",
        "%r = stablehlo.convolution(%x, %g) dim_numbers = " + numbers +
            "->[0, 1, b, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]]} {batch_group_count "
            "= 1 : i64, feature_group_count = 1 : i64} : " +
            type + "\nexec.yield %r : tensor<3x3x5x20xf32>",
        {x, g});
    for (int p = 0; p < 3; ++p)
      for (int q = 0; q < 3; ++q)
        for (int i = 0; i < inputs; ++i)
          for (int o = 0; o < outputs; ++o) {
            double sum = 0;
            for (int b = 0; b < batch; ++b)
              for (int h = std::max(0, 1 - p); h < std::min(height, height + 1 - p); ++h)
                for (int w = std::max(0, 1 - q); w < std::min(width, width + 1 - q); ++w)
                  sum += double(x[place(b, h + p - 1, w + q - 1, i, inputs)]) *
                         g[place(b, h, w, o, outputs)];
            ASSERT_NEAR(got[0][((p * 3 + q) * inputs + i) * outputs + o], sum, 2e-4)
                << channelsFirst << " at " << p << ", " << q << ", " << i << ", " << o;
          }
  }
}

// As JAX writes the gradient of what a strided convolution reads: each result meets one, two or four
// of nine elements of the filter; blocks of 128 terms count those that it doesn't.
TEST(Contraction, GradientOfStridedConvolution) {
  constexpr int inputs = 100, outputs = 20;
  Floats g = numbers(2 * 5 * 4 * inputs), w = numbers(3 * 3 * outputs * inputs, 2);
  auto got =
      runKernel("(%g: tensor<2x5x4x100xf32>, %w: tensor<3x3x20x100xf32>) -> tensor<2x9x8x20xf32>",
                "%r = stablehlo.convolution(%g, %w) dim_numbers = [b, 0, 1, f]x[0, 1, o, i]->[b, "
                "0, 1, f], window = {pad = [[1, 1], [2, 1]], lhs_dilate = [2, 2]} "
                "{batch_group_count = 1 : i64, feature_group_count = 1 : i64} : "
                "(tensor<2x5x4x100xf32>, tensor<3x3x20x100xf32>) -> tensor<2x9x8x20xf32>\n"
                "exec.yield %r : tensor<2x9x8x20xf32>",
                {g, w});
  for (int b = 0; b < 2; ++b)
    for (int h = 0; h < 9; ++h)
      for (int v = 0; v < 8; ++v)
        for (int o = 0; o < outputs; ++o) {
          double sum = 0;
          for (int p = 0; p < 3; ++p)
            for (int q = 0; q < 3; ++q) {
              int y = h + p - 1, x = v + q - 2;
              if (y < 0 || x < 0 || y % 2 || x % 2 || y / 2 >= 5 || x / 2 >= 4)
                continue;
              for (int i = 0; i < inputs; ++i)
                sum += double(g[((b * 5 + y / 2) * 4 + x / 2) * inputs + i]) *
                       w[((p * 3 + q) * outputs + o) * inputs + i];
            }
          ASSERT_NEAR(got[0][((b * 9 + h) * 8 + v) * outputs + o], sum, 1e-4)
              << b << ", " << h << ", " << v << ", " << o;
        }
}

TEST(Contraction, ConvolutionWithPaddingAndStride) {
  Floats x = numbers(1 * 6 * 5 * 3), w = numbers(3 * 3 * 3 * 16, 2);
  auto got =
      runKernel("(%x: tensor<1x6x5x3xf32>, %w: tensor<3x3x3x16xf32>) -> tensor<1x3x3x16xf32>",
                "%r = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, "
                "0, 1, f], window "
                "= {stride = [2, 2], pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, "
                "feature_group_count = 1 "
                ": i64} : (tensor<1x6x5x3xf32>, tensor<3x3x3x16xf32>) -> tensor<1x3x3x16xf32>\n"
                "exec.yield %r : tensor<1x3x3x16xf32>",
                {x, w});
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      for (int o = 0; o < 16; ++o) {
        double sum = 0;
        for (int p = 0; p < 3; ++p)
          for (int q = 0; q < 3; ++q)
            for (int f = 0; f < 3; ++f) {
              int u = 2 * i + p - 1, v = 2 * j + q - 1;
              if (u >= 0 && u < 6 && v >= 0 && v < 5)
                sum += double(x[(u * 5 + v) * 3 + f]) * w[((p * 3 + q) * 3 + f) * 16 + o];
            }
        ASSERT_NEAR(got[0][(i * 3 + j) * 16 + o], sum, 1e-5);
      }
}

// Of bf16, which processors with tiles for it add in another order: the same bits by tiles and in a
// kernel that holds a second product, where they don't suit.
void checkBf16(int64_t m, int64_t k, int64_t n, bool transposesA, bool transposesB) {
  std::string a = transposesA ? shape(k, m) : shape(m, k),
              b = transposesB ? shape(n, k) : shape(k, n), c = shape(m, n);
  auto narrow = [](std::string type) { return type.replace(type.find("f32"), 3, "bf16"); };
  std::string na = narrow(a), nb = narrow(b);
  auto product = [&](const char *name, const char *right) {
    return std::string(name) + " = stablehlo.dot_general %na, " + right + ", contracting_dims = [" +
           (transposesA ? "0" : "1") + "] x [" + (transposesB ? "1" : "0") + "] : (" + na + ", " +
           nb + ") -> " + c + "\n";
  };
  std::string signature = "(%a: " + a + ", %b: " + b + ") -> " + c;
  std::string body = "%na = stablehlo.convert %a : (" + a + ") -> " + na +
                     "\n%nb = stablehlo.convert %b : (" + b + ") -> " + nb + "\n" +
                     product("%p", "%nb");
  Floats x = numbers(m * k), y = numbers(k * n, 2);
  auto alone = runKernel(signature, body + "exec.yield %p : " + c, {x, y});
  auto beside =
      runKernel(signature,
                body + "%z = stablehlo.constant dense<0.0> : " + nb + "\n" + product("%q", "%z") +
                    "%s = stablehlo.add %p, %q : " + c + "\nexec.yield %s : " + c,
                {x, y});
  EXPECT_EQ(alone[0], beside[0]) << m << "x" << k << "x" << n;
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (int64_t l = 0; l < k; ++l)
        sum +=
            double(x[transposesA ? l * m + i : i * k + l]) * y[transposesB ? j * k + l : l * n + j];
      // Two roundings of 2^-9 a term.
      ASSERT_NEAR(alone[0][i * n + j], sum, 0.02 + 0.004 * std::sqrt(double(k)))
          << m << "x" << k << "x" << n << " at " << i << ", " << j;
    }
}

TEST(Contraction, OfBf16) {
  for (bool transposesA : {false, true})
    for (bool transposesB : {false, true}) {
      checkBf16(7, 33, 40, transposesA, transposesB);
      checkBf16(33, 96, 10, transposesA, transposesB);
      checkBf16(70, 64, 97, transposesA, transposesB);
    }
  checkBf16(5, 4200, 20, false, false); // several blocks of k
  for (bool transposesA : {false, true})
    for (bool transposesB : {false, true}) {
      checkBf16(9, 1058, 130, transposesA, transposesB); // whose last is no whole square of pairs
      checkBf16(9, 1056, 130, transposesA, transposesB);
    }
}

} // namespace
} // namespace tessera::test
