// Adds up in f32 what a program adds up in floats of 8 bits and fewer, and rounds each sum to them.
// Passes.td shows an example.
#include "passes/import/Passes.h"

#include "dialects/sdy/KeepSharding.h"
#include "dialects/sdy/PlainData.h"
#include "dialects/stablehlo/Combiner.h"
#include "dialects/stablehlo/Converted.h"
#include "dialects/stablehlo/StablehloOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/TypeUtilities.h"

namespace tessera {
#define GEN_PASS_DEF_WIDENSUMS
#include "passes/import/Passes.h.inc"

using namespace mlir;
using namespace tessera::stablehlo;
using sharding::ReductionKind;

namespace {

// f8E8M0FNU has no negative numbers: a part of a sum is not larger than the sum.
bool isNarrow(Type type) {
  auto real = dyn_cast<FloatType>(getElementTypeOrSelf(type));
  return real && real.getWidth() <= 8 && !isa<Float8E8M0FNUType>(real);
}

void widen(Value value) {
  value.setType(
      cast<RankedTensorType>(value.getType()).clone(Float32Type::get(value.getContext())));
}

// Computes a result in f32, and rounds it for all of its readers.
void round(OpBuilder &b, Value result) {
  Type narrow = getElementTypeOrSelf(result.getType());
  widen(result);
  Value rounded = stablehlo::converted(b, result.getLoc(), result, narrow);
  sdy::keepSharding(result, rounded);
  result.replaceAllUsesExcept(rounded, rounded.getDefiningOp());
}

bool isPartial(Value result) {
  sdy::TensorShardingAttr said = sdy::getSharding(result);
  return said && !said.getUnreducedAxes().empty();
}

// Sums and products of a reduction, of which others may be extrema.
void widenReduction(Operation *op) {
  SmallVector<ReductionKind> kinds = combinersOf(op->getRegion(0));
  Block &computation = op->getRegion(0).front();
  unsigned count = kinds.size();
  OpBuilder before(op), after(op->getContext());
  after.setInsertionPointAfter(op);
  for (auto [i, kind] : llvm::enumerate(kinds)) {
    Value result = op->getResult(i);
    if ((kind != ReductionKind::Sum && kind != ReductionKind::Product) || isPartial(result) ||
        !isNarrow(result.getType()) || !isNarrow(op->getOperand(i).getType()))
      continue;
    for (unsigned at : {unsigned(i), unsigned(i) + count}) {
      op->setOperand(
          at, stablehlo::converted(before, op->getLoc(), op->getOperand(at), before.getF32Type()));
      widen(computation.getArgument(at));
    }
    widen(computation.getTerminator()->getOperand(i));
    round(after, result);
  }
}

struct WidenSumsPass : impl::WidenSumsBase<WidenSumsPass> {
  void runOnOperation() override {
    SmallVector<Operation *> contractions, reductions;
    getOperation().walk([&](Operation *op) {
      if (isa<DotGeneralOp, ConvolutionOp>(op) && isNarrow(op->getResult(0).getType()) &&
          !isPartial(op->getResult(0)))
        contractions.push_back(op);
      if (isa<ReduceOp, ReduceWindowOp>(op))
        reductions.push_back(op);
    });
    for (Operation *op : contractions) {
      OpBuilder b(op->getContext());
      b.setInsertionPointAfter(op);
      round(b, op->getResult(0));
    }
    llvm::for_each(reductions, widenReduction);
  }
};

} // namespace
} // namespace tessera
