#include "passes/import/types/DropValues.h"

#include "dialects/sdy/KeepSharding.h"
#include "dialects/sdy/SdyOps.h"
#include "dialects/stablehlo/StablehloOps.h"

using namespace mlir;

namespace tessera::import {
namespace {

// The entries of `list`, one a value, that belong to values which stay.
ArrayAttr kept(ArrayAttr list, TypeRange types, IsDropped isDropped) {
  if (!list || list.size() != types.size())
    return list;
  SmallVector<Attribute> entries;
  for (auto [entry, type] : llvm::zip(list, types))
    if (!isDropped(type))
      entries.push_back(entry);
  return ArrayAttr::get(list.getContext(), entries);
}

void keepAttributes(Operation *made, Operation *op, IsDropped isDropped) {
  if (auto call = dyn_cast<stablehlo::CustomCallOp>(made)) {
    if (ArrayAttr layouts = call.getOperandLayoutsAttr())
      call.setOperandLayoutsAttr(kept(layouts, op->getOperandTypes(), isDropped));
    if (ArrayAttr layouts = call.getResultLayoutsAttr())
      call.setResultLayoutsAttr(kept(layouts, op->getResultTypes(), isDropped));
    call.removeOutputOperandAliasesAttr(); // a permission only
    made->removeDiscardableAttr(sdy::kShardingRuleAttr);
  }
  if (made->getNumResults() == op->getNumResults())
    return;
  made->removeDiscardableAttr(sdy::kShardingAttr);
  SmallVector<Value> stay;
  for (Value result : op->getResults())
    if (!isDropped(result.getType()))
      stay.push_back(result);
  sdy::keepSharding(stay, made->getResults());
}

bool anyDropped(TypeRange types, IsDropped isDropped) { return llvm::any_of(types, isDropped); }

} // namespace

Operation *withoutValues(Operation *op, IsDropped isDropped) {
  auto stays = [&](Value value) { return !isDropped(value.getType()); };
  auto operands = llvm::to_vector(llvm::make_filter_range(op->getOperands(), stays));
  SmallVector<Type> types;
  for (Type type : op->getResultTypes())
    if (!isDropped(type))
      types.push_back(type);
  Operation *made = Operation::create(op->getLoc(), op->getName(), types, operands,
                                      op->getDiscardableAttrDictionary(),
                                      op->getPropertiesStorage(), {}, op->getNumRegions());
  OpBuilder(op).insert(made);
  keepAttributes(made, op, isDropped);
  for (auto [from, to] : llvm::zip(op->getRegions(), made->getRegions())) {
    to.takeBody(from);
    for (Block &block : to) {
      block.eraseArguments([&](BlockArgument argument) { return isDropped(argument.getType()); });
      Operation *end = block.getTerminator();
      end->setOperands(llvm::to_vector(llvm::make_filter_range(end->getOperands(), stays)));
    }
  }
  auto results = made->result_begin();
  for (Value result : op->getResults())
    if (stays(result))
      result.replaceAllUsesWith(*results++);
  op->erase();
  return made;
}

void dropValues(func::FuncOp function, IsDropped isDropped, Substitute substitute) {
  function.walk([&](Operation *op) {
    OpBuilder b(op);
    for (OpOperand &operand : op->getOpOperands())
      if (isDropped(operand.get().getType()))
        operand.set(substitute(b, op->getLoc(), operand.get().getType()));
  });
  function.walk([&](Operation *op) {
    auto call = dyn_cast<stablehlo::CustomCallOp>(op);
    bool computesNothing = op->getNumResults() && op->use_empty() &&
                           llvm::all_of(op->getResultTypes(), isDropped) &&
                           !(call && call.getHasSideEffect());
    if (computesNothing) {
      op->erase();
      return;
    }
    bool holdsValues = isa<stablehlo::WhileOp, stablehlo::IfOp, stablehlo::CaseOp,
                           stablehlo::OptimizationBarrierOp, stablehlo::CustomCallOp>(op);
    if (holdsValues && (anyDropped(op->getOperandTypes(), isDropped) ||
                        anyDropped(op->getResultTypes(), isDropped)))
      withoutValues(op, isDropped);
  });
}

} // namespace tessera::import
