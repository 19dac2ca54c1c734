// Kernels that are functions of an index, at sizes that leave rests of vectors.
#include "test/unit/codegen/KernelRun.h"

#include <array>
#include <bit>
#include <cmath>
#include <gtest/gtest.h>

namespace tessera::test {
namespace {

std::string tensor(std::initializer_list<int64_t> shape, const char *element = "f32") {
  std::string text = "tensor<";
  for (int64_t size : shape)
    text += std::to_string(size) + "x";
  return text + element + ">";
}

// Tails are masked: nothing is left out and nothing past the end is touched. The last goes past the caches.
TEST(Elemental, EverySizeIsCovered) {
  for (int64_t n : {0, 1, 7, 33, 64, 1000, 100'003, 8'400'077}) {
    std::string t = tensor({n});
    Floats x = numbers(n);
    auto out = runKernel("(%x: " + t + ") -> " + t,
                         "%e = stablehlo.exponential %x : " + t + "\nexec.yield %e : " + t, {x});
    for (int64_t i = 0; i < n; ++i)
      ASSERT_NEAR(out[0][i], std::exp(x[i]), 1e-6 * std::exp(x[i])) << n << " at " << i;
  }
}

// To nearest, ties to even; NaN stays NaN, and what is too large becomes infinite. By registers, halves of them and rests.
TEST(Elemental, RoundsToBf16) {
  auto rounded = [](float x) {
    auto bits = std::bit_cast<uint32_t>(x);
    if (std::isnan(x))
      return x;
    return std::bit_cast<float>((bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000);
  };
  for (int64_t n : {1, 8, 16, 31, 32, 33, 48, 64, 100, 4099}) {
    std::string t = tensor({n}), narrow = tensor({n}, "bf16");
    Floats x = numbers(n);
    constexpr std::array<uint32_t, 12> corners = {0x3f808000, 0x3f818000, 0x3f808001, 0x3f817fff,
                                                  0x7f7fffff, 0xff7f8000, 0x7f800000, 0xff800000,
                                                  0x7fc00000, 0xffc00001, 0x80000000, 0x00ffffff};
    for (int64_t i = 0; i < n; i += 2)
      x[i] = std::bit_cast<float>(corners[i / 2 % corners.size()]);
    auto out =
        runKernel("(%x: " + t + ") -> " + t,
                  "%n = stablehlo.convert %x : (" + t + ") -> " + narrow +
                      "\n%m = stablehlo.negate %n : " + narrow + "\n%w = stablehlo.convert %m : (" +
                      narrow + ") -> " + t + "\nexec.yield %w : " + t,
                  {x});
    for (int64_t i = 0; i < n; ++i) {
      if (std::isnan(x[i]))
        ASSERT_TRUE(std::isnan(out[0][i])) << n << " at " << i;
      else
        ASSERT_EQ(std::bit_cast<uint32_t>(out[0][i]), std::bit_cast<uint32_t>(-rounded(x[i])))
            << n << " at " << i;
    }
  }
}

TEST(Elemental, TransposeAndBroadcast) {
  for (auto [rows, columns] : {std::pair<int64_t, int64_t>{1, 5},
                               {17, 40},
                               {8, 300},
                               {64, 64},
                               {33, 100},
                               {130, 65},
                               {1024, 640},
                               {701, 803}}) {
    std::string in = tensor({rows, columns}), out = tensor({columns, rows}), v = tensor({rows});
    Floats x = numbers(rows * columns), bias = numbers(rows, 2);
    auto got =
        runKernel("(%x: " + in + ", %b: " + v + ") -> " + out,
                  "%t = stablehlo.transpose %x, dims = [1, 0] : (" + in + ") -> " + out +
                      "\n%c = stablehlo.broadcast_in_dim %b, dims = [1] : (" + v + ") -> " + out +
                      "\n%s = stablehlo.add %t, %c : " + out + "\nexec.yield %s : " + out,
                  {x, bias});
    for (int64_t i = 0; i < columns; ++i)
      for (int64_t j = 0; j < rows; ++j)
        ASSERT_EQ(got[0][i * rows + j], x[j * columns + i] + bias[j]);
  }
}

// Vectors go across the ends of rows of a few elements: what lies as the result does, one element for each
// row, one for each column, and every second one of an array for the columns.
TEST(Elemental, ShortRows) {
  for (int64_t columns = 2; columns <= 9; ++columns)
    for (int64_t rows : {15, 16, 17, 64, 77, 1000, 50'003}) {
      std::string out = tensor({rows, columns}), row = tensor({rows}), column = tensor({columns}),
                  wide = tensor({2 * columns});
      Floats x = numbers(rows * columns), r = numbers(rows, 2), c = numbers(columns, 3),
             w = numbers(2 * columns, 4);
      auto broadcast = [&](const std::string &name, const std::string &from, int dim) {
        return "%" + name + "b = stablehlo.broadcast_in_dim %" + name + ", dims = [" +
               std::to_string(dim) + "] : (" + from + ") -> " + out + "\n";
      };
      auto got = runKernel(
          "(%x: " + out + ", %r: " + row + ", %c: " + column + ", %w: " + wide + ") -> " + out,
          "%s = stablehlo.slice %w [1:" + std::to_string(2 * columns) + ":2] : (" + wide + ") -> " +
              column + "\n" + broadcast("r", row, 0) + broadcast("c", column, 1) +
              broadcast("s", column, 1) + "%i = stablehlo.iota dim = 0 : " + out +
              "\n%1 = stablehlo.multiply %x, %rb : " + out + "\n%2 = stablehlo.add %1, %cb : " +
              out + "\n%3 = stablehlo.subtract %sb, %2 : " + out +
              "\n%4 = stablehlo.maximum %3, %i : " + out + "\nexec.yield %4 : " + out,
          {x, r, c, w});
      for (int64_t i = 0; i < rows; ++i)
        for (int64_t j = 0; j < columns; ++j) {
          float product = x[i * columns + j] * r[i];
          ASSERT_EQ(got[0][i * columns + j], std::max(w[2 * j + 1] - (product + c[j]), float(i)))
              << rows << "x" << columns << " at " << i << ", " << j;
        }
    }
}

// Pieces of a concatenation and the edge of a padding fall in the middle of vectors.
TEST(Elemental, ConcatenateAndPad) {
  Floats x = numbers(5 * 30), y = numbers(5 * 7, 2), pad{9};
  auto got =
      runKernel("(%x: tensor<5x30xf32>, %y: tensor<5x7xf32>, %p: tensor<f32>) -> tensor<6x40xf32>",
                "%c = stablehlo.concatenate %x, %y, dim = 1 : (tensor<5x30xf32>, tensor<5x7xf32>)"
                " -> tensor<5x37xf32>\n"
                "%r = stablehlo.pad %c, %p, low = [0, 2], high = [1, 1], interior = [0, 0] : "
                "(tensor<5x37xf32>, tensor<f32>) -> tensor<6x40xf32>\n"
                "exec.yield %r : tensor<6x40xf32>",
                {x, y, pad});
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 40; ++j) {
      int k = j - 2;
      float want = i == 5 || k < 0 || k >= 37 ? 9 : k < 30 ? x[i * 30 + k] : y[i * 7 + k - 30];
      ASSERT_EQ(got[0][i * 40 + j], want) << i << " " << j;
    }
}

// A start beyond the end is moved back, so that the whole slice is inside.
TEST(Elemental, DynamicUpdateSliceInAndOutOfPlace) {
  for (bool isShared : {false, true}) {
    Floats x = numbers(20 * 30), u = numbers(3 * 10, 2);
    auto got =
        runKernel("(%x: tensor<20x30xf32>, %u: tensor<3x10xf32>, %i: tensor<i32>, %j: tensor<i32>)"
                  " -> tensor<20x30xf32>",
                  "%r = stablehlo.dynamic_update_slice %x, %u, %i, %j : (tensor<20x30xf32>, "
                  "tensor<3x10xf32>, tensor<i32>, tensor<i32>) -> tensor<20x30xf32>\n"
                  "exec.yield %r : tensor<20x30xf32>",
                  {x, u, {5}, {99}}, {isShared ? 0 : -1});
    for (int i = 0; i < 20; ++i)
      for (int j = 0; j < 30; ++j) {
        bool isNew = i >= 5 && i < 8 && j >= 20;
        ASSERT_EQ(got[0][i * 30 + j], isNew ? u[(i - 5) * 10 + j - 20] : x[i * 30 + j]);
      }
  }
}

TEST(Reduction, RowsColumnsAndAll) {
  for (auto [rows, columns] : {std::pair<int64_t, int64_t>{1, 1}, {7, 33}, {50, 1000}, {3, 64}}) {
    std::string in = tensor({rows, columns});
    Floats x = numbers(rows * columns);
    auto reduce = [&](const std::string &name, const std::string &dims, const std::string &out) {
      return "%" + name +
             " = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = " + dims +
             " : (" + in + ", tensor<f32>) -> " + out + "\n";
    };
    std::string r = tensor({rows}), c = tensor({columns});
    auto got = runKernel("(%x: " + in + ", %z: tensor<f32>) -> (" + r + ", " + c + ", tensor<f32>)",
                         reduce("r", "[1]", r) + reduce("c", "[0]", c) +
                             reduce("a", "[0, 1]", "tensor<f32>") + "exec.yield %r, %c, %a : " + r +
                             ", " + c + ", tensor<f32>",
                         {x, {0.5f}});
    double all = 0.5;
    std::vector<double> byColumn(columns, 0.5);
    for (int64_t i = 0; i < rows; ++i) {
      double sum = 0.5;
      for (int64_t j = 0; j < columns; ++j) {
        sum += x[i * columns + j];
        byColumn[j] += x[i * columns + j];
        all += x[i * columns + j];
      }
      ASSERT_NEAR(got[0][i], sum, 1e-4);
    }
    for (int64_t j = 0; j < columns; ++j)
      ASSERT_NEAR(got[1][j], byColumn[j], 1e-4);
    ASSERT_NEAR(got[2][0], all, 1e-3);
  }
}

// Rows staged between reductions: the maximum is subtracted before exp, so nothing overflows.
TEST(Reduction, SoftmaxOfLargeNumbers) {
  Floats x = numbers(5 * 100);
  for (float &value : x)
    value = 1000 + 10 * value;
  auto got = runKernel(
      "(%x: tensor<5x100xf32>) -> tensor<5x100xf32>",
      "%low = stablehlo.constant dense<0xFF800000> : tensor<f32>\n"
      "%z = stablehlo.constant dense<0.0> : tensor<f32>\n"
      "%m = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [1] : "
      "(tensor<5x100xf32>, tensor<f32>) -> tensor<5xf32>\n"
      "%mb = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<5xf32>) -> tensor<5x100xf32>\n"
      "%d = stablehlo.subtract %x, %mb : tensor<5x100xf32>\n"
      "%e = stablehlo.exponential %d : tensor<5x100xf32>\n"
      "%s = stablehlo.reduce(%e init: %z) applies stablehlo.add across dimensions = [1] : "
      "(tensor<5x100xf32>, tensor<f32>) -> tensor<5xf32>\n"
      "%sb = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<5xf32>) -> tensor<5x100xf32>\n"
      "%r = stablehlo.divide %e, %sb : tensor<5x100xf32>\nexec.yield %r : tensor<5x100xf32>",
      {x});
  for (int i = 0; i < 5; ++i) {
    double sum = 0;
    for (int j = 0; j < 100; ++j)
      sum += std::exp(double(x[i * 100 + j]) - 1000);
    for (int j = 0; j < 100; ++j)
      ASSERT_NEAR(got[0][i * 100 + j], std::exp(double(x[i * 100 + j]) - 1000) / sum, 1e-6);
  }
}

// Columns of short rows that are pieces of a concatenation, moved and computed by turns, of columns that lie
// as far apart: by whole registers. A padding goes around them.
TEST(Elemental, ColumnsOfShortRows) {
  for (int64_t columns = 2; columns <= 9; ++columns)
    for (int64_t rows : {1, 15, 16, 17, 64, 77, 1000, 50'003}) {
      std::string out = tensor({rows, columns}), row = tensor({rows, 1}),
                  padded = tensor({rows, columns + 2}), body, pieces, types;
      for (int64_t j = 0; j < columns; ++j) {
        std::string number = std::to_string(j), piece = "%s" + number;
        int64_t from = columns - 1 - j;
        body += piece + " = stablehlo.slice %x [0:" + std::to_string(rows) + ", " +
                std::to_string(from) + ":" + std::to_string(from + 1) + "] : (" + out + ") -> " +
                row + "\n";
        if (j % 2) {
          body += "%p" + number + " = stablehlo.multiply " + piece + ", %y : " + row + "\n";
          piece = "%p" + number;
        }
        pieces += (j ? ", " : "") + piece;
        types += (j ? ", " : "") + row;
      }
      body += "%c = stablehlo.concatenate " + pieces + ", dim = 1 : (" + types + ") -> " + out +
              "\n%q = stablehlo.pad %c, %z, low = [0, 1], high = [0, 1], interior = [0, 0] : (" +
              out + ", tensor<f32>) -> " + padded + "\nexec.yield %c, %q : " + out + ", " + padded;
      Floats x = numbers(rows * columns), y = numbers(rows, 2);
      auto got = runKernel("(%x: " + out + ", %y: " + row + ", %z: tensor<f32>) -> (" + out + ", " +
                               padded + ")",
                           body, {x, y, {9}});
      for (int64_t i = 0; i < rows; ++i)
        for (int64_t j = 0; j < columns + 2; ++j) {
          bool isEdge = j == 0 || j == columns + 1;
          float want = isEdge ? 9 : x[i * columns + columns - j] * (j % 2 ? 1 : y[i]);
          ASSERT_EQ(got[1][i * (columns + 2) + j], want)
              << rows << "x" << columns << " padded, at " << i << ", " << j;
          if (!isEdge)
            ASSERT_EQ(got[0][i * columns + j - 1], want)
                << rows << "x" << columns << " at " << i << ", " << j - 1;
        }
    }
}

// Of several rows at once: the first of equal ones, or of those that are no numbers.
TEST(Reduction, BestOfShortRows) {
  for (int64_t columns = 3; columns <= 9; ++columns)
    for (int64_t rows : {1, 15, 16, 17, 77, 1000}) {
      std::string in = tensor({rows, columns}), places = tensor({rows, columns}, "i32"),
                  out = tensor({rows}), places1 = tensor({rows}, "i32");
      Floats x = numbers(rows * columns);
      for (size_t i = 0; i < x.size(); ++i)
        x[i] = i % 23 == 5 ? std::nanf("") : std::round(3 * x[i]);
      auto got = runKernel(
          "(%x: " + in + ") -> (" + out + ", " + out + ")",
          "%low = stablehlo.constant dense<0xFF800000> : tensor<f32>\n"
          "%zero = stablehlo.constant dense<0> : tensor<i32>\n"
          "%i = stablehlo.iota dim = 1 : " +
              places +
              "\n%r:2 = stablehlo.reduce(%x init: %low), (%i init: %zero) across dimensions = [1] "
              ": "
              "(" +
              in + ", " + places + ", tensor<f32>, tensor<i32>) -> (" + out + ", " + places1 +
              ") reducer(%a: tensor<f32>, %b: tensor<f32>) (%c: tensor<i32>, %d: tensor<i32>) {\n"
              "%0 = stablehlo.compare GT, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> "
              "tensor<i1>\n"
              "%1 = stablehlo.compare NE, %a, %a, FLOAT : (tensor<f32>, tensor<f32>) -> "
              "tensor<i1>\n"
              "%2 = stablehlo.or %0, %1 : tensor<i1>\n"
              "%3 = stablehlo.compare EQ, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> "
              "tensor<i1>\n"
              "%4 = stablehlo.compare LT, %c, %d, SIGNED : (tensor<i32>, tensor<i32>) -> "
              "tensor<i1>\n"
              "%5 = stablehlo.and %3, %4 : tensor<i1>\n"
              "%6 = stablehlo.or %2, %5 : tensor<i1>\n"
              "%7 = stablehlo.select %2, %a, %b : tensor<i1>, tensor<f32>\n"
              "%8 = stablehlo.select %6, %c, %d : tensor<i1>, tensor<i32>\n"
              "stablehlo.return %7, %8 : tensor<f32>, tensor<i32>\n}\n"
              "%f = stablehlo.convert %r#1 : (" +
              places1 + ") -> " + out + "\nexec.yield %r#0, %f : " + out + ", " + out,
          {x});
      for (int64_t i = 0; i < rows; ++i) {
        int64_t best = 0;
        for (int64_t j = 1; j < columns; ++j) {
          float old = x[i * columns + best], fresh = x[i * columns + j];
          if (!std::isnan(old) && (std::isnan(fresh) || fresh > old))
            best = j;
        }
        float number = x[i * columns + best];
        ASSERT_EQ(got[1][i], best) << rows << "x" << columns << " at " << i;
        ASSERT_TRUE(got[0][i] == number || (std::isnan(number) && std::isnan(got[0][i])))
            << rows << "x" << columns << " at " << i;
      }
    }
}

} // namespace
} // namespace tessera::test
