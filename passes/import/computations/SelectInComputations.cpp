// Branches in a computation on elements become selections: such a computation runs for many
// elements at once. Passes.td shows an example.
#include "passes/import/Passes.h"

#include "dialects/stablehlo/StablehloOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/import/computations/ElementComputations.h"

namespace tessera {
#define GEN_PASS_DEF_SELECTINCOMPUTATIONS
#include "passes/import/Passes.h.inc"

using namespace mlir;
using namespace tessera::stablehlo;

namespace {

// What the only block of a branch returns, its operations now in front of the conditional.
SmallVector<Value> inlined(Operation *conditional, Region &branch) {
  Block &block = branch.front();
  Operation *terminator = block.getTerminator();
  SmallVector<Value> values(terminator->getOperands());
  Block *around = conditional->getBlock();
  around->getOperations().splice(conditional->getIterator(), block.getOperations(), block.begin(),
                                 terminator->getIterator());
  return values;
}

// The last branch also stands for numbers that no branch has.
void select(Operation *op) {
  OpBuilder b(op);
  Location loc = op->getLoc();
  Value index = op->getOperand(0);
  unsigned count = op->getNumRegions();
  auto type = cast<RankedTensorType>(index.getType());
  SmallVector<Value> chosen = inlined(op, op->getRegion(count - 1));
  for (unsigned i = count - 1; i-- > 0;) {
    SmallVector<Value> values = inlined(op, op->getRegion(i));
    Value taken = index;
    if (isa<CaseOp>(op)) {
      auto number = DenseElementsAttr::get(type, static_cast<int32_t>(i));
      Value constant = ConstantOp::create(b, loc, number);
      taken = CompareOp::create(b, loc, index, constant, ComparisonDirection::EQ);
    }
    for (auto [value, other] : llvm::zip_equal(chosen, values))
      value = SelectOp::create(b, loc, value.getType(), taken, other, value);
  }
  op->replaceAllUsesWith(chosen);
  op->erase();
}

LogicalResult verifyElementwise(Operation *outer) {
  WalkResult result = outer->walk([&](Operation *op) {
    if (op == outer)
      return WalkResult::advance();
    if (!import::exceedsElements(op))
      return WalkResult::advance();
    op->emitError() << "'" << op->getName() << "' "
                    << (isa<WhileOp>(op) ? "is a loop" : "makes an array of several elements")
                    << " in the computation of '" << outer->getName()
                    << "', which can compute with single numbers only";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

struct SelectInComputationsPass : impl::SelectInComputationsBase<SelectInComputationsPass> {
  void runOnOperation() override {
    SmallVector<Operation *> computations;
    getOperation().walk([&](Operation *op) {
      if (isa<ReduceOp, ReduceWindowOp, ScatterOp, SelectAndScatterOp, SortOp, AllReduceOp,
              ReduceScatterOp, CollectiveReduceOp>(op))
        computations.push_back(op);
    });
    for (Operation *op : computations) {
      SmallVector<Operation *> conditionals; // inner ones first
      for (Region &region : op->getRegions())
        region.walk([&](Operation *inner) {
          if (isa<IfOp, CaseOp>(inner))
            conditionals.push_back(inner);
        });
      for (Operation *conditional : conditionals)
        select(conditional);
    }
    for (Operation *op : computations)
      if (isa<ReduceOp, ReduceWindowOp, ScatterOp, SelectAndScatterOp, SortOp>(op) &&
          failed(verifyElementwise(op)))
        return signalPassFailure();
  }
};

} // namespace
} // namespace tessera
