// Takes arrays without elements out of a program: a value of size 0 is a constant, and what is
// computed from one alone is known. Passes.td shows an example.
#include "passes/import/Passes.h"

#include "dialects/comm/CommOps.h"
#include "dialects/stablehlo/Constraints.h"
#include "dialects/stablehlo/Converted.h"
#include "dialects/stablehlo/ShapeInference.h"
#include "dialects/stablehlo/StablehloOps.h"
#include "dialects/stablehlo/Sums.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "passes/import/types/DropValues.h"
#include "llvm/ADT/TypeSwitch.h"

namespace tessera {
#define GEN_PASS_DEF_FOLDEMPTYVALUES
#include "passes/import/Passes.h.inc"

using namespace mlir;

namespace {

bool isEmpty(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.hasStaticShape() && tensor.getNumElements() == 0;
}

Value zeros(OpBuilder &b, Location loc, Type type) {
  return stablehlo::zeros(b, loc, cast<RankedTensorType>(type));
}

Value splat(OpBuilder &b, Location loc, Type type, Value scalar) {
  // A computation may be in a wider type than the values that it starts from.
  scalar = stablehlo::converted(b, loc, scalar, getElementTypeOrSelf(type));
  return stablehlo::BroadcastInDimOp::create(b, loc, type, scalar, ArrayRef<int64_t>());
}

using Values = SmallVector<Value>;

// Every window sees initial values only.
Values ofWindows(OpBuilder &b, stablehlo::ReduceWindowOp op) {
  auto type = cast<RankedTensorType>(op->getOperand(0).getType());
  stablehlo::Shape shape, padding = stablehlo::paddingOf(op.getPadding(), type.getRank());
  for (auto [d, size] : llvm::enumerate(type.getShape()))
    shape.push_back(stablehlo::paddedSize(size,
                                          op.getBaseDilations() ? (*op.getBaseDilations())[d] : 1,
                                          padding[2 * d], padding[2 * d + 1]));
  size_t count = op->getNumOperands() / 2;
  auto made = cast<stablehlo::ReduceWindowOp>(b.clone(*op));
  made.removePaddingAttr();
  made.removeBaseDilationsAttr();
  b.setInsertionPoint(made);
  for (size_t i = 0; i < count; ++i) {
    Value initial = op->getOperand(count + i);
    auto element = cast<RankedTensorType>(initial.getType()).getElementType();
    made->setOperand(i, splat(b, op.getLoc(), RankedTensorType::get(shape, element), initial));
  }
  return Values(made->getResults());
}

// The results of an operation that reads arrays without elements though its results have some;
// empty when nothing is known.
Values results(OpBuilder &b, Operation *op) {
  Location loc = op->getLoc();
  auto initials = [&](ValueRange scalars) {
    Values made;
    for (auto [scalar, type] : llvm::zip(scalars, op->getResultTypes()))
      made.push_back(splat(b, loc, type, scalar));
    return made;
  };
  auto allZeros = [&] {
    Values made;
    for (Type type : op->getResultTypes())
      made.push_back(zeros(b, loc, type));
    return made;
  };
  return TypeSwitch<Operation *, Values>(op)
      .Case([&](stablehlo::ReduceOp) {
        return initials(op->getOperands().drop_front(op->getNumOperands() / 2));
      })
      .Case([&](stablehlo::ReduceWindowOp window) { return ofWindows(b, window); })
      .Case<stablehlo::DotGeneralOp, stablehlo::ConvolutionOp>([&](auto) { return allZeros(); })
      .Case([&](stablehlo::GatherOp) { // indices without elements start at 0
        return isEmpty(op->getOperand(0).getType()) ? allZeros() : Values();
      })
      .Case([&](stablehlo::PadOp pad) { return initials(pad.getPaddingValue()); })
      .Case([&](stablehlo::SelectAndScatterOp) { return initials(op->getOperand(2)); })
      .Case([&](stablehlo::DynamicUpdateSliceOp update) { return Values{update.getOperand()}; })
      .Case([&](stablehlo::ScatterOp) {
        Value update = op->getOperands().back();
        Values inputs;
        if (isEmpty(update.getType()))
          for (auto [input, type] : llvm::zip(op->getOperands(), op->getResultTypes()))
            inputs.push_back(stablehlo::converted(b, loc, input, getElementTypeOrSelf(type)));
        return inputs;
      })
      .Case([&](stablehlo::ConcatenateOp concatenate) {
        Values parts;
        for (Value part : op->getOperands())
          if (!isEmpty(part.getType()))
            parts.push_back(part);
        return Values{stablehlo::ConcatenateOp::create(b, loc, concatenate.getType(), parts,
                                                       concatenate.getDimension())};
      })
      .Case([&](stablehlo::CustomCallOp call) {
        // LAPACK's functions on matrices of size 0 succeed: info is 0.
        return call.getCallTargetName().starts_with("lapack_") ? allZeros() : Values();
      })
      .Default([](Operation *) { return Values(); });
}

struct FoldEmptyValuesPass : impl::FoldEmptyValuesBase<FoldEmptyValuesPass> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      SmallVector<Operation *> readers;
      bool found = false;
      function.walk([&](Operation *op) {
        bool reads = llvm::any_of(op->getOperandTypes(), isEmpty);
        found |= reads || llvm::any_of(op->getResultTypes(), isEmpty);
        if (reads && op->getNumResults() && !llvm::any_of(op->getResultTypes(), isEmpty))
          readers.push_back(op);
      });
      if (!found)
        continue;
      for (Operation *op : readers) {
        OpBuilder b(op);
        if (Values values = results(b, op); !values.empty()) {
          op->replaceAllUsesWith(values);
          op->erase();
        }
      }
      foldBits(function);
      import::dropValues(function, isEmpty, zeros);
    }
  }

  // No bits are taken: the state stays.
  static void foldBits(func::FuncOp function) {
    function.walk([](stablehlo::RngBitGeneratorOp op) {
      if (isEmpty(op.getOutput().getType()))
        op.getOutputState().replaceAllUsesWith(op.getInitialState());
    });
  }
};

} // namespace
} // namespace tessera
