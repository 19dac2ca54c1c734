// A computation on elements takes the scalars around it that it uses as operands, as large as the
// others. Passes.td shows an example.
#include "passes/import/Passes.h"

#include "dialects/sdy/KeepSharding.h"
#include "dialects/stablehlo/StablehloOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/TypeSwitch.h"

namespace tessera {
#define GEN_PASS_DEF_CLOSECOMPUTATIONS
#include "passes/import/Passes.h.inc"

using namespace mlir;
using namespace tessera::stablehlo;

namespace {

// What the regions use from outside, without constants.
SmallVector<Value> usedFromOutside(Operation *op) {
  llvm::SetVector<Value> used;
  getUsedValuesDefinedAbove(op->getRegions(), used);
  SmallVector<Value> values;
  for (Value value : used)
    if (!value.getDefiningOp<ConstantOp>())
      values.push_back(value);
  return values;
}

Value spread(OpBuilder &b, Location loc, Value scalar, Value like) {
  auto type = cast<RankedTensorType>(like.getType())
                  .clone(cast<RankedTensorType>(scalar.getType()).getElementType());
  return BroadcastInDimOp::create(b, loc, type, scalar, ArrayRef<int64_t>{});
}

// The operation with `added` operands of each of its kinds behind the others of that kind.
class Closing {
public:
  Closing(Operation *op, ArrayRef<Value> outside) : op(op), outside(outside), b(op) {}

  void spreadOver(Value like) {
    for (Value value : outside)
      operands.push_back(spread(b, op->getLoc(), value, like));
  }
  void keep(ValueRange values) { llvm::append_range(operands, values); }
  void scalars() { llvm::append_range(operands, outside); }

  // `kinds` arguments of the block stand for each operand, one after the other (a0 b0 a1 b1) where
  // `paired`, else kind by kind. Each of the outside values is read from its last argument.
  void finish(unsigned kinds, bool paired, bool returnsAll, unsigned results) {
    Block &block = op->getRegion(0).front();
    unsigned each = block.getNumArguments() / kinds;
    Operation *terminator = block.getTerminator();
    for (unsigned i = 0; i < outside.size(); ++i) {
      Value value = outside[i];
      BlockArgument last;
      for (unsigned kind = 0; kind < kinds; ++kind) {
        unsigned at = paired ? block.getNumArguments() : kind * (each + i + 1) + each + i;
        last = block.insertArgument(at, value.getType(), op->getLoc());
      }
      value.replaceUsesWithIf(last, [&](OpOperand &use) {
        return op->getRegion(0).isAncestor(use.getOwner()->getParentRegion());
      });
      if (returnsAll)
        terminator->insertOperands(terminator->getNumOperands(), last);
    }
    SmallVector<Type> types(op->getResultTypes());
    for (unsigned i = 0; i < results; ++i)
      types.push_back(cast<RankedTensorType>(types.front())
                          .clone(cast<RankedTensorType>(outside[i].getType()).getElementType()));
    Operation *made =
        Operation::create(op->getLoc(), op->getName(), types, operands,
                          op->getDiscardableAttrDictionary(), op->getPropertiesStorage(), {}, 1);
    b.insert(made);
    made->getRegion(0).takeBody(op->getRegion(0));
    SmallVector<Value> like(op->getResults());
    like.append(results, op->getResult(0));
    sdy::keepSharding(like, made->getResults());
    op->replaceAllUsesWith(made->getResults().take_front(op->getNumResults()));
    op->erase();
  }

private:
  Operation *op;
  ArrayRef<Value> outside;
  OpBuilder b;
  SmallVector<Value> operands;
};

LogicalResult close(Operation *op) {
  SmallVector<Value> outside = usedFromOutside(op);
  if (outside.empty())
    return success();
  auto isScalar = [](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type && type.getRank() == 0;
  };
  bool hasRoom = isa<ReduceOp, ReduceWindowOp, ScatterOp, SortOp, MapOp>(op);
  if (!hasRoom || !llvm::all_of(outside, isScalar))
    return op->emitError() << "'" << op->getName()
                           << "' has a computation that uses a value of type "
                           << outside.front().getType() << " from around it"
                           << (hasRoom ? "; it can use scalars" : "; it can use constants");
  Closing closing(op, outside);
  unsigned added = outside.size();
  auto reduction = [&](ValueRange inputs, ValueRange inits) {
    closing.keep(inputs);
    closing.spreadOver(inputs.front());
    closing.keep(inits);
    closing.scalars();
    closing.finish(2, /*paired=*/false, /*returnsAll=*/true, added);
  };
  TypeSwitch<Operation *>(op)
      .Case<ReduceOp, ReduceWindowOp>(
          [&](auto op) { reduction(op.getInputs(), op.getInitValues()); })
      .Case([&](ScatterOp op) {
        closing.keep(op.getInputs());
        closing.spreadOver(op.getInputs().front());
        closing.keep(op.getScatterIndices());
        closing.keep(op.getUpdates());
        closing.spreadOver(op.getUpdates().front());
        closing.finish(2, /*paired=*/false, /*returnsAll=*/true, added);
      })
      .Case([&](SortOp op) {
        closing.keep(op.getInputs());
        closing.spreadOver(op.getInputs().front());
        closing.finish(2, /*paired=*/true, /*returnsAll=*/false, added);
      })
      .Case([&](MapOp op) {
        closing.keep(op.getInputs());
        closing.spreadOver(op.getInputs().front());
        closing.finish(1, /*paired=*/true, /*returnsAll=*/false, 0);
      });
  return success();
}

struct CloseComputationsPass : impl::CloseComputationsBase<CloseComputationsPass> {
  void runOnOperation() override {
    SmallVector<Operation *> found; // inner ones first
    getOperation().walk([&](Operation *op) {
      if (isa<ReduceOp, ReduceWindowOp, ScatterOp, SortOp, MapOp, SelectAndScatterOp, AllReduceOp,
              ReduceScatterOp, CollectiveReduceOp>(op))
        found.push_back(op);
    });
    for (Operation *op : found)
      if (failed(close(op)))
        return signalPassFailure();
  }
};

} // namespace
} // namespace tessera
