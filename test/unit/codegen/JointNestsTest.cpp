// Nests of several results in one graph, of which later ones go over loops of the first.
#include "passes/codegen/kernel/JointNests.h"

#include "test/unit/codegen/KernelText.h"

namespace tessera::codegen {
namespace {

// Sums that are there twice, as where one was computed again: the first result adds both, %b first.
bool buildsWith(const std::string &second) {
  test::KernelText text("(%x: tensor<8x32xf32>) -> (tensor<8xf32>, tensor<8xf32>)", R"(
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %a = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [1] : (tensor<8x32xf32>, tensor<f32>) -> tensor<8xf32>
    %b = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [1] : (tensor<8x32xf32>, tensor<f32>) -> tensor<8xf32>
    %s = stablehlo.add %b, %a : tensor<8xf32>
    exec.yield %s, )" + second + " : tensor<8xf32>, tensor<8xf32>");
  exec::KernelOp kernel = text.kernel();
  if (!kernel)
    return false;
  KernelSource source = sourceOf(kernel);
  JointNests nests(source);
  return nests.build();
}

TEST(JointNests, ResultsShareTheLoopsOfTheFirst) { EXPECT_TRUE(buildsWith("%a")); }

// The loop of %b would be that of %a, which the first result comes to later: refused, not a crash.
TEST(JointNests, WhatIsSharedIsThereBefore) { EXPECT_FALSE(buildsWith("%b")); }

} // namespace
} // namespace tessera::codegen
