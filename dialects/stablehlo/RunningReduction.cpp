#include "dialects/stablehlo/RunningReduction.h"

#include "dialects/stablehlo/Combiner.h"
#include "dialects/stablehlo/Computations.h"
#include "dialects/stablehlo/ShapeInference.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tessera::stablehlo {

// Parts take the start more often than one pass does: it must be what changes nothing.
static bool mayRepeatStarts(ReduceWindowOp op) {
  auto origin = [](Value init) {
    while (isa_and_nonnull<BroadcastInDimOp, ReshapeOp, ConvertOp>(init.getDefiningOp()))
      init = init.getDefiningOp()->getOperand(0);
    return init;
  };
  SmallVector<sharding::ReductionKind> kinds = runningKinds(op);
  if (kinds.empty()) // a computation and its constant form a monoid by specification
    return !llvm::hasNItems(op.getBody().front(), 2) &&
           llvm::all_of(op.getInitValues(),
                        [&](Value init) { return matchPattern(origin(init), m_Constant()); });
  return llvm::all_of(llvm::zip_equal(op.getInitValues(), kinds), [&](auto each) {
    return mayRepeat(origin(std::get<0>(each)), std::get<1>(each));
  });
}

SmallVector<sharding::ReductionKind> runningKinds(ReduceWindowOp op) {
  SmallVector<sharding::ReductionKind> kinds = combinersOf(op.getBody());
  Block &body = op.getBody().front();
  if (kinds.empty() && llvm::hasNItems(body, 2) && isa<XorOp>(body.front()) &&
      body.front().getOperand(0) != body.front().getOperand(1))
    kinds.push_back(sharding::ReductionKind::Sum);
  return kinds;
}

SmallVector<RunningDim> runningDims(ReduceWindowOp op) {
  auto isOne = [](std::optional<ArrayRef<int64_t>> list, size_t d) {
    return !list || (*list)[d] == 1;
  };
  ArrayRef<int64_t> shape = shapeOf(op.getInputs()[0]);
  Shape padding = paddingOf(op.getPadding(), shape.size());
  SmallVector<RunningDim> dims;
  for (auto [d, window] : llvm::enumerate(op.getWindowDimensions())) {
    int64_t low = padding[2 * d], high = padding[2 * d + 1];
    if (window > 1 && window == shape[d] && low + high == window - 1 && (low == 0 || high == 0) &&
        isOne(op.getWindowStrides(), d) && isOne(op.getBaseDilations(), d) &&
        isOne(op.getWindowDilations(), d))
      dims.push_back({int64_t(d), high == 0});
  }
  return dims;
}

std::optional<RunningDim> onlyRunningDim(ReduceWindowOp op) {
  SmallVector<RunningDim> dims = runningDims(op);
  if (dims.size() != 1)
    return std::nullopt;
  auto allOne = [](std::optional<ArrayRef<int64_t>> list) {
    return !list || llvm::all_of(*list, [](int64_t n) { return n == 1; });
  };
  bool plain = allOne(op.getWindowStrides()) && allOne(op.getBaseDilations()) &&
               allOne(op.getWindowDilations());
  Shape padding = paddingOf(op.getPadding(), op.getWindowDimensions().size());
  for (auto [d, window] : llvm::enumerate(op.getWindowDimensions()))
    plain &= int64_t(d) == dims[0].dim ||
             (window == 1 && padding[2 * d] == 0 && padding[2 * d + 1] == 0);
  return plain ? std::optional(dims[0]) : std::nullopt;
}

bool isSplittable(ReduceWindowOp op) {
  return isElementwise(op.getBody().front()) && mayRepeatStarts(op);
}

} // namespace tessera::stablehlo
