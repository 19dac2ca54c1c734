// Large sums over columns are made in two stages: parts of some rows each, which a kernel that goes
// over those rows anyway may make beside its results, and their sum. lib/fusion/ColumnSums.h decides;
// the order of addition, and so the bits, are those of one stage. Passes.td shows an example.
#include "passes/fuse/SplitColumnSums.h"

#include "dialects/stablehlo/Combiner.h"
#include "dialects/stablehlo/Converted.h"
#include "dialects/stablehlo/StablehloOps.h"
#include "dialects/stablehlo/Sums.h"
#include "dialects/stablehlo/TensorTypes.h"
#include "dialects/tessera/GpuTarget.h"
#include "dialects/tessera/Marks.h"
#include "dialects/tessera/SumMarks.h"
#include "lib/fusion/ColumnSums.h"
#include "passes/fuse/BlockGraph.h"
#include "passes/fuse/NotedParts.h"
#include "passes/fuse/Passes.h"

#include "mlir/IR/Builders.h"

namespace tessera {
#define GEN_PASS_DEF_SPLITCOLUMNSUMS
#include "passes/fuse/Passes.h.inc"

using namespace mlir;
using namespace tessera::stablehlo;

// The type that sums of `type` are added in; null where a sum of it stays as it is.
static Type addedAs(Type type) {
  if (type.isF32() || type.isF64())
    return type;
  return type.isBF16() || type.isF16() ? Float32Type::get(type.getContext()) : Type();
}

static Value partsOf(OpBuilder &b, Location loc, Value operand, const fusion::ColumnParts &parts) {
  RankedTensorType type = typeOf(operand);
  Type element = type.getElementType();
  SmallVector<int64_t> shape, padding, ones(type.getRank(), 1);
  for (auto [size, extent] : llvm::zip(type.getShape(), parts.window)) {
    shape.push_back(llvm::divideCeil(size, extent));
    padding.append({0, shape.back() * extent - size});
  }
  auto attr = [&](ArrayRef<int64_t> numbers) { return b.getDenseI64ArrayAttr(numbers); };
  auto padded = DenseIntElementsAttr::get(
      RankedTensorType::get({type.getRank(), 2}, b.getI64Type()), padding);
  auto sums = ReduceWindowOp::create(b, loc, TypeRange{type.clone(shape)}, operand,
                                     zero(b, loc, element), attr(parts.window), attr(parts.window),
                                     attr(ones), attr(ones), padded);
  fillWithSum(b, loc, sums.getBody(), element);
  setSummed(sums, parts.summed);
  return sums.getResult(0);
}

static void split(ReduceOp op) {
  if (op.getInputs().size() != 1 || combinerOf(op.getBody()) != sharding::ReductionKind::Sum)
    return;
  Value operand = op.getInputs().front();
  RankedTensorType type = typeOf(operand), result = typeOf(op->getResult(0));
  Type element = addedAs(type.getElementType());
  if (!element || result.getElementType() != type.getElementType())
    return;
  SmallVector<bool> isSummed(type.getRank(), false);
  for (int64_t dim : op.getDimensions())
    isSummed[dim] = true;
  std::optional<fusion::ColumnParts> parts =
      fusion::columnParts(type.getShape(), isSummed, element.getIntOrFloatBitWidth() / 8);
  if (!parts)
    return;
  OpBuilder b(op);
  Location loc = op.getLoc();
  Value made = partsOf(b, loc, converted(b, loc, operand, element), *parts);
  fuse::noteOf(op, made.getDefiningOp());
  auto sum =
      ReduceOp::create(b, loc, TypeRange{result.clone(element)}, made,
                       converted(b, loc, op.getInitValues().front(), element), op.getDimensions());
  fillWithSum(b, loc, sum.getBody(), element);
  if (parts->summed > 1)
    setSummed(sum, parts->summed);
  Value whole = converted(b, loc, sum->getResult(0), result.getElementType());
  op->replaceAllUsesWith(ValueRange(whole));
  op.erase();
}

void fuse::splitColumnSums(ModuleOp module) {
  if (isForGpu(module)) // whose kernels read what they fold apart
    return;
  forEachBlock(module, [](Block &block) {
    for (ReduceOp op : llvm::make_early_inc_range(block.getOps<ReduceOp>()))
      split(op);
  });
}

namespace {
struct SplitColumnSums : impl::SplitColumnSumsBase<SplitColumnSums> {
  void runOnOperation() override { fuse::splitColumnSums(getOperation()); }
};
} // namespace
} // namespace tessera
