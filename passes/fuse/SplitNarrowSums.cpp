// Sums of bf16 or f16, which are rounded after each addition, are made of sums of blocks:
//
//   %s = stablehlo.reduce(%x init: %0) applies stablehlo.add across dimensions = [1]
//       : tensor<8x192xbf16>
// becomes
//   %r = stablehlo.reshape %x : tensor<8x192xbf16> -> tensor<8x6x32xbf16>
//   %b = stablehlo.reduce(%r init: %0) applies stablehlo.add across dimensions = [2]
//   %s = stablehlo.reduce(%b init: %0) applies stablehlo.add across dimensions = [1]
//
// again and again until no dimension is longer than a block; dimensions that are no multiple of 32
// get zeros on both sides. A running sum in 8 bits stops growing after some hundred terms; this one
// does not, and many blocks are added side by side. The length and the zeros are XLA:CPU's, so
// results are JAX's to the bit. See docs/rationale/narrow-floats.md.
#include "dialects/stablehlo/StablehloOps.h"
#include "passes/fuse/Passes.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"

namespace tessera {
#define GEN_PASS_DEF_SPLITNARROWSUMS
#include "passes/fuse/Passes.h.inc"

using namespace mlir;

static constexpr int64_t block = 32;

static bool isNarrowSum(stablehlo::ReduceOp reduce) {
  Block &body = reduce.getBody().front();
  return reduce.getInputs().size() == 1 &&
         isa<BFloat16Type, Float16Type>(
             cast<ShapedType>(reduce.getInputs()[0].getType()).getElementType()) &&
         isa<stablehlo::AddOp>(body.front()) && llvm::hasNItems(body, 2);
}

static stablehlo::ReduceOp sum(OpBuilder &b, stablehlo::ReduceOp like, Value input, Value init,
                               RankedTensorType type, ArrayRef<int64_t> dims) {
  auto reduce = stablehlo::ReduceOp::create(b, like.getLoc(), TypeRange{type}, input, init, dims);
  IRMapping mapping;
  like.getBody().cloneInto(&reduce.getBody(), mapping);
  return reduce;
}

// Sums of the blocks, and the reduction of those; nothing when each dimension is one block.
static stablehlo::ReduceOp split(stablehlo::ReduceOp reduce) {
  OpBuilder b(reduce);
  Value input = reduce.getInputs()[0];
  auto type = cast<RankedTensorType>(input.getType());
  Value zero = stablehlo::ConstantOp::create(
      b, reduce.getLoc(),
      DenseElementsAttr::get(RankedTensorType::get({}, type.getElementType()),
                             b.getFloatAttr(type.getElementType(), 0)));
  SmallVector<int64_t> low, high, padded, shape, blocks, within, between;
  for (auto [d, size] : llvm::enumerate(type.getShape())) {
    bool isReduced = llvm::is_contained(reduce.getDimensions(), static_cast<int64_t>(d));
    bool isSplit = isReduced && size > block;
    int64_t count = isSplit ? llvm::divideCeil(size, block) : 1;
    int64_t zeros = isSplit ? count * block - size : 0;
    low.push_back(zeros / 2);
    high.push_back(zeros - zeros / 2);
    padded.push_back(size + zeros);
    if (isSplit) {
      between.push_back(blocks.size());
      blocks.push_back(count);
      shape.push_back(count);
    }
    if (isReduced)
      within.push_back(shape.size());
    else
      blocks.push_back(size);
    shape.push_back(isSplit ? block : size);
  }
  if (between.empty())
    return {};
  if (ArrayRef<int64_t>(padded) != type.getShape())
    input = stablehlo::PadOp::create(b, reduce.getLoc(), type.clone(padded), input, zero, low, high,
                                     SmallVector<int64_t>(low.size(), 0));
  input = stablehlo::ReshapeOp::create(b, reduce.getLoc(), type.clone(shape), input);
  Value sums = sum(b, reduce, input, zero, type.clone(blocks), within).getResult(0);
  auto total = sum(b, reduce, sums, reduce.getInitValues()[0],
                   cast<RankedTensorType>(reduce.getResult(0).getType()), between);
  reduce->replaceAllUsesWith(total);
  reduce.erase();
  return total;
}

namespace {
struct SplitNarrowSums : impl::SplitNarrowSumsBase<SplitNarrowSums> {
  void runOnOperation() override {
    SmallVector<stablehlo::ReduceOp> sums;
    getOperation().walk([&](stablehlo::ReduceOp reduce) {
      if (isNarrowSum(reduce))
        sums.push_back(reduce);
    });
    for (stablehlo::ReduceOp reduce : sums)
      while (reduce)
        reduce = split(reduce);
  }
};
} // namespace
} // namespace tessera
