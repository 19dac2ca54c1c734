#include "compiler/mends/Change.h"

#include "compiler/source/SourcePlaces.h"
#include "dialects/sdy/PlainData.h"
#include "dialects/sdy/SignatureAttributes.h"
#include "dialects/stablehlo/StablehloOps.h"
#include "lib/mends/Split.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tessera::mends {

using namespace mlir;

std::vector<Operation *> numberedOps(ModuleOp module) {
  std::vector<Operation *> ops;
  module.walk<WalkOrder::PreOrder>([&](Operation *op) { ops.push_back(op); });
  return ops;
}

void numberOps(ModuleOp module) {
  for (auto [number, op] : llvm::enumerate(numberedOps(module)))
    if (op != module.getOperation())
      setNumber(op, NumberedAfter::Reading, int32_t(number));
}

namespace {

class Editor {
public:
  explicit Editor(ModuleOp module)
      : meshes(module), ops(numberedOps(module)), main(module.lookupSymbol<func::FuncOp>("main")) {
    if (main)
      signature.emplace(main);
  }

  bool carryOut(const Edit &edit) {
    if (!main || !meshes.main() || edit.at < 0)
      return false;
    switch (edit.kind) {
    case EditKind::Argument:
      if (unsigned(edit.at) < main.getNumArguments())
        signature->setArgument(edit.at, sdy::kShardingAttr, attr(edit));
      return unsigned(edit.at) < main.getNumArguments();
    case EditKind::Result:
      if (unsigned(edit.at) < main.getNumResults())
        signature->setResult(edit.at, sdy::kShardingAttr, attr(edit));
      return unsigned(edit.at) < main.getNumResults();
    case EditKind::Constrain:
      return constrain(edit);
    case EditKind::Reconstrain:
    case EditKind::Unconstrain:
      return changeConstraint(edit);
    case EditKind::Reorder:
      return reorder(edit);
    }
    return false;
  }

private:
  sdy::TensorShardingAttr attr(const Edit &edit) {
    return sdy::toAttr(main.getContext(), *meshes.main(), edit.to);
  }

  Operation *opOf(const Edit &edit) {
    return size_t(edit.at) < ops.size() ? ops[edit.at] : nullptr;
  }

  bool constrain(const Edit &edit) {
    Operation *op = opOf(edit);
    if (!op || edit.result >= op->getNumResults())
      return false;
    Value value = op->getResult(edit.result);
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type || type.getRank() != int64_t(edit.to.dims.size()))
      return false;
    OpBuilder builder(op->getContext());
    builder.setInsertionPointAfter(op);
    auto made = sdy::ShardingConstraintOp::create(builder, op->getLoc(), value, attr(edit));
    value.replaceAllUsesExcept(made.getResult(), made);
    return true;
  }

  bool changeConstraint(const Edit &edit) {
    auto op = dyn_cast_or_null<sdy::ShardingConstraintOp>(opOf(edit));
    if (!op)
      return false;
    if (edit.kind == EditKind::Reconstrain) {
      op.setShardingAttr(attr(edit));
      return true;
    }
    op.getResult().replaceAllUsesWith(op.getInput());
    op.erase();
    ops[edit.at] = nullptr;
    return true;
  }

  // 96 -> 3 x 32 becomes 96 -> 32 x 3 -> 3 x 32, and the way back likewise: other elements of the
  // dimension belong together.
  bool reorder(const Edit &edit) {
    auto op = dyn_cast_or_null<stablehlo::ReshapeOp>(opOf(edit));
    if (!op)
      return false;
    auto from = cast<RankedTensorType>(op.getOperand().getType());
    auto to = cast<RankedTensorType>(op.getType());
    std::optional<Split> split = splitOf(from.getShape(), to.getShape());
    if (!split || edit.factor >= int64_t(split->factors.size()))
      return false;
    RankedTensorType many = split->inverse ? from : to;
    llvm::SmallVector<int64_t> order = orderWithFirst(*split, many.getRank(), edit.factor);
    llvm::SmallVector<int64_t> back(many.getRank()), shape;
    for (auto [i, d] : llvm::enumerate(order)) {
      shape.push_back(many.getDimSize(d));
      back[d] = int64_t(i);
    }
    RankedTensorType between = many.clone(shape);
    OpBuilder builder(op);
    Location loc = op.getLoc();
    Value made;
    if (split->inverse) {
      Value turned = stablehlo::TransposeOp::create(builder, loc, between, op.getOperand(), order);
      made = stablehlo::ReshapeOp::create(builder, loc, to, turned);
    } else {
      Value cut = stablehlo::ReshapeOp::create(builder, loc, between, op.getOperand());
      made = stablehlo::TransposeOp::create(builder, loc, to, cut, back);
    }
    op.getResult().replaceAllUsesWith(made);
    op.erase();
    ops[edit.at] = nullptr;
    return true;
  }

  sdy::MeshTable meshes;
  std::vector<Operation *> ops;
  func::FuncOp main;
  std::optional<sdy::SignatureAttributes> signature;
};

} // namespace

bool apply(ModuleOp module, ArrayRef<Edit> edits) {
  Editor editor(module);
  return llvm::all_of(edits, [&](const Edit &edit) { return editor.carryOut(edit); });
}

} // namespace tessera::mends
