// Which results of a row are written beside a pass over the next one.
#include "passes/codegen/kernel/RowBehind.h"

#include "passes/codegen/kernel/NestGraph.h"
#include "test/unit/codegen/KernelText.h"

namespace tessera::codegen {
namespace {

// How many numbers of its row %y needs, in rows of 512 elements; none: it is not written so. `body`
// may read the row's sum %s of %e = exp(%x), and %b, that sum for each element.
std::optional<size_t> carriedBy(const std::string &body) {
  test::KernelText text("(%x: tensor<64x512xf32>) -> tensor<64x512xf32>", R"(
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %e = stablehlo.exponential %x : tensor<64x512xf32>
    %s = stablehlo.reduce(%e init: %z) applies stablehlo.add across dimensions = [1] : (tensor<64x512xf32>, tensor<f32>) -> tensor<64xf32>
    %b = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<64xf32>) -> tensor<64x512xf32>
)" + body + "\n    exec.yield %y : tensor<64x512xf32>");
  exec::KernelOp kernel = text.kernel();
  if (!kernel)
    return std::nullopt;
  KernelSource source = sourceOf(kernel);
  unsigned outputs[] = {0};
  NestGraph nest(source, outputs, /*update=*/false);
  if (!nest.build())
    return std::nullopt;
  LoopGroup rows{nest.dims[0]}, columns{nest.dims[1]};
  auto behind = rowBehind(nest.g->graph, Graph::reachable(nest.rootNodes()), nest.rootNodes(),
                          setOf(rows), rows, columns);
  return behind ? std::optional(behind->carried.size()) : std::nullopt;
}

TEST(RowBehind, OfWhatIsKeptAndOfTheOperand) {
  EXPECT_EQ(carriedBy("%y = stablehlo.multiply %e, %b : tensor<64x512xf32>"), 1);
  EXPECT_EQ(carriedBy("%y = stablehlo.multiply %x, %b : tensor<64x512xf32>"), 1);
}

// The pass over the next row has overwritten what would be read.
TEST(RowBehind, NotBackwards) {
  EXPECT_EQ(carriedBy(R"(
    %r = stablehlo.reverse %e, dims = [1] : tensor<64x512xf32>
    %y = stablehlo.multiply %r, %b : tensor<64x512xf32>)"),
            std::nullopt);
}

// The first of two passes stores exponentials, and would overwrite them before the second.
TEST(RowBehind, NotWhatAnotherPassStores) {
  EXPECT_EQ(carriedBy(R"(
    %p = stablehlo.multiply %e, %b : tensor<64x512xf32>
    %q = stablehlo.multiply %p, %x : tensor<64x512xf32>
    %t = stablehlo.reduce(%q init: %z) applies stablehlo.add across dimensions = [1] : (tensor<64x512xf32>, tensor<f32>) -> tensor<64xf32>
    %c = stablehlo.broadcast_in_dim %t, dims = [0] : (tensor<64xf32>) -> tensor<64x512xf32>
    %y = stablehlo.multiply %e, %c : tensor<64x512xf32>)"),
            std::nullopt);
}

TEST(RowBehind, NotFunctions) {
  EXPECT_EQ(carriedBy(R"(
    %p = stablehlo.multiply %x, %b : tensor<64x512xf32>
    %y = stablehlo.tanh %p : tensor<64x512xf32>)"),
            std::nullopt);
}

TEST(RowBehind, PaysForLittleOfShortRows) {
  EXPECT_TRUE(paysBehind({.operations = 3, .bytes = 16 << 10}));
  EXPECT_FALSE(paysBehind({.operations = 30, .bytes = 16 << 10}));
  EXPECT_FALSE(paysBehind({.operations = 3, .bytes = 1 << 20}));
  EXPECT_FALSE(paysBehind({.operations = 3, .hasFunctions = true, .bytes = 16 << 10}));
}

} // namespace
} // namespace tessera::codegen
