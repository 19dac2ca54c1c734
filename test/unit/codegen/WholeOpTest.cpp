// Operations that are kernels of their own.
#include "test/unit/codegen/KernelRun.h"

#include <algorithm>
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

} // namespace
} // namespace tessera::test
