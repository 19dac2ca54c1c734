// Operations that are kernels of their own.
#include "test/unit/codegen/KernelRun.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <numeric>

namespace tessera::test {
namespace {

// Updates of the same row add up; one outside is dropped.
TEST(Scatter, AddsRows) {
  for (bool isShared : {false, true}) {
    Floats x = numbers(10 * 33), index{3, 3, -1, 9, 10, 0}, u = numbers(6 * 33, 2);
    auto got = runKernel(
        "(%x: tensor<10x33xf32>, %i: tensor<6x1xi32>, %u: tensor<6x33xf32>) -> tensor<10x33xf32>",
        "%r = \"stablehlo.scatter\"(%x, %i, %u) <{scatter_dimension_numbers = "
        "#stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], "
        "scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({\n"
        "^bb0(%a: tensor<f32>, %b: tensor<f32>):\n  %s = stablehlo.add %a, %b : tensor<f32>\n"
        "  stablehlo.return %s : tensor<f32>\n"
        "}) : (tensor<10x33xf32>, tensor<6x1xi32>, tensor<6x33xf32>) -> tensor<10x33xf32>\n"
        "exec.yield %r : tensor<10x33xf32>",
        {x, index, u}, {isShared ? 0 : -1});
    Floats want = x;
    for (int k = 0; k < 6; ++k)
      for (int j = 0; j < 33; ++j)
        if (index[k] >= 0 && index[k] < 10)
          want[int(index[k]) * 33 + j] += u[k * 33 + j];
    ASSERT_EQ(got[0], want);
  }
}

// Equal keys keep their order.
TEST(Sort, IsStableWithASecondOperand) {
  for (int64_t n : {1, 2, 7, 100}) {
    Floats keys(n), places(n);
    for (int64_t i = 0; i < n; ++i)
      keys[i] = static_cast<float>((i * 7) % 5);
    std::iota(places.begin(), places.end(), 0.0f);
    std::string t = "tensor<" + std::to_string(n) + "xf32>";
    auto got = runKernel(
        "(%k: " + t + ", %p: " + t + ") -> (" + t + ", " + t + ")",
        "%a, %b = \"stablehlo.sort\"(%k, %p) <{dimension = 0 : i64, is_stable = true}> ({\n"
        "^bb0(%x: tensor<f32>, %y: tensor<f32>, %u: tensor<f32>, %v: tensor<f32>):\n"
        "  %c = stablehlo.compare LT, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>\n"
        "  stablehlo.return %c : tensor<i1>\n}) : (" +
            t + ", " + t + ") -> (" + t + ", " + t + ")\nexec.yield %a, %b : " + t + ", " + t,
        {keys, places});
    Floats order = places;
    std::stable_sort(order.begin(), order.end(),
                     [&](float i, float j) { return keys[i] < keys[j]; });
    ASSERT_EQ(got[1], order) << n;
  }
}

// By two digits, stably: zeros of both signs are equal.
TEST(Sort, GoesByDigits) {
  Floats keys(3000);
  for (size_t i = 0; i < keys.size(); ++i)
    keys[i] =
        i % 7 == 0 ? (i % 2 == 0 ? -0.0f : 0.0f) : static_cast<float>(int(i * 37 % 1009) - 500);
  auto got =
      runKernel("(%k: tensor<3000xf32>) -> tensor<3000xf32>",
                "%a = \"stablehlo.sort\"(%k) <{dimension = 0 : i64, is_stable = true}> ({\n"
                "^bb0(%x: tensor<f32>, %y: tensor<f32>):\n"
                "  %c = stablehlo.compare GT, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>\n"
                "  stablehlo.return %c : tensor<i1>\n}) : (tensor<3000xf32>) -> tensor<3000xf32>\n"
                "exec.yield %a : tensor<3000xf32>",
                {keys});
  std::stable_sort(keys.begin(), keys.end(), std::greater<>());
  for (size_t i = 0; i < keys.size(); ++i) {
    ASSERT_EQ(got[0][i], keys[i]) << i;
    ASSERT_EQ(std::signbit(got[0][i]), std::signbit(keys[i])) << i;
  }
}

// Of many rows the first ones alone, where each is before all that came earlier.
TEST(Sort, FindsTheFirstRows) {
  constexpr int64_t n = 5000, kept = 20;
  for (bool isRising : {false, true}) {
    Floats keys = numbers(n);
    if (isRising)
      std::sort(keys.begin(), keys.end());
    auto got = runKernel(
        "(%k: tensor<5000xf32>) -> tensor<20xf32>",
        "%a = \"stablehlo.sort\"(%k) <{dimension = 0 : i64, is_stable = true}> ({\n"
        "^bb0(%x: tensor<f32>, %y: tensor<f32>):\n"
        "  %c = stablehlo.compare GT, %x, %y, TOTALORDER : (tensor<f32>, tensor<f32>) -> "
        "tensor<i1>\n"
        "  stablehlo.return %c : tensor<i1>\n}) : (tensor<5000xf32>) -> tensor<5000xf32>\n"
        "%s = stablehlo.slice %a [0:20] : (tensor<5000xf32>) -> tensor<20xf32>\n"
        "exec.yield %s : tensor<20xf32>",
        {keys});
    std::sort(keys.begin(), keys.end(), std::greater<>());
    keys.resize(kept);
    ASSERT_EQ(got[0], keys);
  }
}

// Within blocks of sixteen one after the other, then sums of blocks.
TEST(Running, AddsByBlocks) {
  for (int64_t columns : {1, 300, 14'336}) {
    constexpr int64_t n = 600;
    Floats x = numbers(n * columns), want(x);
    std::string t = "tensor<600x" + std::to_string(columns) + "xf32>";
    auto got = runKernel(
        "(%x: " + t + ") -> " + t,
        "%z = stablehlo.constant dense<0.0> : tensor<f32>\n"
        "%r = \"stablehlo.reduce_window\"(%x, %z) <{window_dimensions = array<i64: 600, 1>, "
        "padding = dense<[[599, 0], [0, 0]]> : tensor<2x2xi64>}> ({\n"
        "^bb0(%a: tensor<f32>, %b: tensor<f32>):\n  %s = stablehlo.add %a, %b : tensor<f32>\n"
        "  stablehlo.return %s : tensor<f32>\n}) : (" +
            t + ", tensor<f32>) -> " + t + "\nexec.yield %r : " + t,
        {x});
    for (int64_t c = 0; c < columns; ++c) {
      // What came before the block, of sixteen blocks, and of the blocks of these.
      float before = 0, blocks = 0, beforeBlocks = 0, within = 0;
      for (int64_t i = 0; i < n; ++i) {
        float value = x[i * columns + c];
        within = i % 16 == 0 ? value : within + value;
        want[i * columns + c] = i < 16 ? within : before + within;
        if (i % 16 != 15)
          continue;
        blocks = i % 256 == 15 ? within : blocks + within;
        before = i < 256 ? blocks : beforeBlocks + blocks;
        if (i % 256 == 255)
          beforeBlocks = before;
      }
    }
    ASSERT_EQ(got[0], want) << columns;
  }
}

} // namespace
} // namespace tessera::test
