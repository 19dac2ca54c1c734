// Padding that moves every element out of the result moves it no farther than just outside, so that
// sums of indices stay small. Passes.td shows an example.
#include "passes/import/Passes.h"

#include "dialects/stablehlo/Constraints.h"
#include "dialects/stablehlo/StablehloOps.h"
#include "dialects/stablehlo/TensorTypes.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/TypeSwitch.h"
#include <algorithm>

namespace tessera {
#define GEN_PASS_DEF_BOUNDPADDING
#include "passes/import/Passes.h.inc"

using namespace mlir;
using stablehlo::Wide;
using Numbers = SmallVector<int64_t>;

namespace {

// The amounts of one operation, a dimension each.
struct Padding {
  Numbers sizes, dilations, low, high;
};

LogicalResult bound(Operation *op, Padding &padding) {
  for (size_t d = 0; d < padding.low.size(); ++d) {
    int64_t &low = padding.low[d], &high = padding.high[d];
    Wide span = stablehlo::spanOf(padding.sizes[d], padding.dilations[d]),
         padded = low + span + high;
    if (span > INT64_MAX || padded > INT64_MAX)
      return op->emitError("has more elements along dimension ")
             << d << ", padded and dilated, than 64 bits count";
    if (padded < 0)
      continue; // there is no result
    Wide inside = std::clamp<Wide>(low, -span, padded);
    low = int64_t(inside);
    high = int64_t(padded - span - inside);
  }
  return success();
}

Numbers orOnes(std::optional<ArrayRef<int64_t>> values, size_t count) {
  return values ? Numbers(*values) : Numbers(count, 1);
}

// Of operations that keep low and high side by side in one table.
template <typename Op>
LogicalResult boundTable(Op op, Numbers sizes, std::optional<ArrayRef<int64_t>> dilations) {
  std::optional<DenseIntElementsAttr> table = op.getPadding();
  if (!table)
    return success();
  Padding padding{sizes, orOnes(dilations, sizes.size()), {}, {}};
  for (auto [i, amount] : llvm::enumerate(table->template getValues<int64_t>()))
    (i % 2 ? padding.high : padding.low).push_back(amount);
  if (failed(bound(op, padding)))
    return failure();
  Numbers amounts;
  for (auto [low, high] : llvm::zip_equal(padding.low, padding.high))
    amounts.append({low, high});
  op.setPaddingAttr(DenseIntElementsAttr::get(table->getType(), ArrayRef<int64_t>(amounts)));
  return success();
}

LogicalResult boundPad(stablehlo::PadOp pad) {
  Numbers sizes(pad.getOperand().getType().getShape()), dilations(sizes.size(), 1);
  for (auto [d, interior] : llvm::enumerate(pad.getInteriorPadding()))
    if (sizes[d] > 1) // else nothing lies between
      dilations[d] = interior + 1;
  Padding padding{sizes, dilations, Numbers(pad.getEdgePaddingLow()),
                  Numbers(pad.getEdgePaddingHigh())};
  if (failed(bound(pad, padding)))
    return failure();
  pad.setEdgePaddingLow(padding.low);
  pad.setEdgePaddingHigh(padding.high);
  for (int64_t &dilation : dilations)
    --dilation;
  pad.setInteriorPadding(dilations);
  return success();
}

LogicalResult boundConvolution(stablehlo::ConvolutionOp convolution) {
  Numbers sizes;
  for (int64_t d : convolution.getDimensionNumbers().getInputSpatialDimensions())
    sizes.push_back(convolution.getLhs().getType().getDimSize(d));
  return boundTable(convolution, sizes, convolution.getLhsDilation());
}

LogicalResult boundPadding(Operation *op) {
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case(boundPad)
      .Case(boundConvolution)
      .Case([&](stablehlo::ReduceWindowOp window) {
        return boundTable(window, Numbers(shapeOf(window.getInputs()[0])),
                          window.getBaseDilations());
      })
      .Case([&](stablehlo::SelectAndScatterOp scatter) {
        return boundTable(scatter, Numbers(shapeOf(scatter.getOperand())), std::nullopt);
      })
      .Default(success());
}

struct BoundPadding : impl::BoundPaddingBase<BoundPadding> {
  void runOnOperation() override {
    WalkResult result = getOperation().walk([](Operation *op) {
      return failed(boundPadding(op)) ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace
} // namespace tessera
