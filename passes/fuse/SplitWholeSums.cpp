// Sums of all elements of a large array, as a gradient's norm is, become sums of its rows' lanes, which all
// processors of a GPU make, and the sum of those. lib/fusion/WholeSums.h decides; the order of addition, and so
// the bits, are those of one stage. Passes.td shows an example.
#include "passes/fuse/SplitWholeSums.h"

#include "dialects/stablehlo/Combiner.h"
#include "dialects/stablehlo/StablehloOps.h"
#include "dialects/stablehlo/Sums.h"
#include "dialects/stablehlo/TensorTypes.h"
#include "dialects/tessera/GpuTarget.h"
#include "lib/fusion/WholeSums.h"
#include "passes/fuse/BlockGraph.h"
#include "passes/fuse/NotedParts.h"
#include "passes/fuse/Passes.h"

#include "mlir/IR/Builders.h"

namespace tessera {
#define GEN_PASS_DEF_SPLITWHOLESUMS
#include "passes/fuse/Passes.h.inc"

using namespace mlir;
using namespace tessera::stablehlo;

// The dimensions of more than one element; empty where not all of them are added up to one number.
static SmallVector<int64_t> summedShape(ReduceOp op) {
  SmallVector<int64_t> shape;
  for (auto [dim, size] : llvm::enumerate(shapeOf(op.getInputs().front()))) {
    if (size == 1)
      continue;
    if (!llvm::is_contained(op.getDimensions(), static_cast<int64_t>(dim)))
      return {};
    shape.push_back(size);
  }
  return shape;
}

static void split(ReduceOp op) {
  if (op.getInputs().size() != 1 || combinerOf(op.getBody()) != sharding::ReductionKind::Sum)
    return;
  Type element = typeOf(op->getResult(0)).getElementType();
  bool isConverted = typeOf(op.getInputs().front()).getElementType() != element; // on the way
  if (isConverted || (!element.isF32() && !element.isF64()))
    return;
  SmallVector<int64_t> shape = summedShape(op);
  SmallVector<size_t, 2> stages =
      fusion::wholeSumStages(shape, element.getIntOrFloatBitWidth() / 8);
  if (stages.empty())
    return;
  shape.back() /= fusion::kSumLanes;
  shape.push_back(fusion::kSumLanes);
  OpBuilder b(op);
  Location loc = op.getLoc();
  Value made =
      ReshapeOp::create(b, loc, RankedTensorType::get(shape, element), op.getInputs().front());
  for (size_t outer : stages) {
    auto within = llvm::seq<int64_t>(outer, typeOf(made).getRank() - 1);
    made = sumOver(b, loc, made, llvm::to_vector(within));
    fuse::noteOf(op, made.getDefiningOp());
  }
  auto all = llvm::to_vector(llvm::seq<int64_t>(0, typeOf(made).getRank()));
  auto sum = ReduceOp::create(b, loc, TypeRange{RankedTensorType::get({}, element)}, made,
                              op.getInitValues().front(), b.getDenseI64ArrayAttr(all));
  fillWithSum(b, loc, sum.getBody(), element);
  Value whole = sum->getResult(0);
  if (whole.getType() != op->getResult(0).getType()) // which has dimensions of one element
    whole = ReshapeOp::create(b, loc, op->getResult(0).getType(), whole);
  op->replaceAllUsesWith(ValueRange(whole));
  op.erase();
}

void fuse::splitWholeSums(ModuleOp module) {
  if (!isForGpu(module)) // a core takes as long for all parts
    return;
  forEachBlock(module, [](Block &block) {
    for (ReduceOp op : llvm::make_early_inc_range(block.getOps<ReduceOp>()))
      split(op);
  });
}

namespace {
struct SplitWholeSums : impl::SplitWholeSumsBase<SplitWholeSums> {
  void runOnOperation() override { fuse::splitWholeSums(getOperation()); }
};
} // namespace
} // namespace tessera
