#include "dialects/stablehlo/RunningReduction.h"

#include "dialects/stablehlo/Computations.h"
#include "dialects/stablehlo/ShapeInference.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tessera::stablehlo {

// Parts take it more often than one pass does: it must be what changes nothing.
static bool isNeutral(Value init, Block &body) {
  while (isa_and_nonnull<BroadcastInDimOp, ReshapeOp, ConvertOp>(init.getDefiningOp()))
    init = init.getDefiningOp()->getOperand(0);
  if (!llvm::hasNItems(body, 2)) // a computation and its constant form a monoid by specification
    return matchPattern(init, m_Constant());
  Operation &only = body.front();
  if (only.getNumOperands() != 2 || only.getOperand(0) == only.getOperand(1))
    return false;
  if (isa<AddOp, XorOp>(only))
    return matchPattern(init, m_Zero()) || matchPattern(init, m_AnyZeroFloat());
  if (isa<MulOp>(only))
    return matchPattern(init, m_One()) || matchPattern(init, m_OneFloat());
  return isa<MaxOp, MinOp, AndOp, OrOp>(only);
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

bool isSplittable(ReduceWindowOp op) {
  Block &body = op.getBody().front();
  return isElementwise(body) &&
         llvm::all_of(op.getInitValues(), [&](Value init) { return isNeutral(init, body); });
}

} // namespace tessera::stablehlo
