// Loops and branches carry local values; a carried value lies as the op's result does, on entry and
// after each round.
//
//   stablehlo.while(%c = %x) : tensor<8xf32>                  // sharding [{"x"}], x = 4
// becomes
//   stablehlo.while(%c = %x) : tensor<2xf32>
#include "passes/localize/Handlers.h"

using namespace mlir;

namespace tessera::localize {
namespace {

Value moveTo(Localizer &l, Value global, const LocalLayout &to) {
  return l.move(l.local(global), shapeOf(global), to);
}

// Tokens and the like have no layout and are refused.
LogicalResult onlyTensors(Operation *op) {
  for (Type type : op->getResultTypes())
    if (!isa<RankedTensorType>(type))
      return op->emitError() << "cannot be partitioned: it carries a " << type
                             << "; only tensors can be";
  return success();
}

LogicalResult visitRegion(Localizer &l, Region &from, Region &to, ArrayRef<LocalLayout> argLayouts,
                          function_ref<Value(OpOperand &)> leave) {
  OpBuilder::InsertionGuard guard(l.b);
  Block &global = from.front();
  Block *local = l.b.createBlock(&to);
  for (auto [arg, layout] : llvm::zip_equal(global.getArguments(), argLayouts))
    l.setLocal(arg, {local->addArgument(l.localType(arg, layout), arg.getLoc()), layout});
  if (failed(l.visitBlock(global)))
    return failure();
  SmallVector<Value> results;
  l.loc = global.getTerminator()->getLoc();
  for (OpOperand &operand : global.getTerminator()->getOpOperands())
    results.push_back(leave(operand));
  stablehlo::ReturnOp::create(l.b, l.loc, results);
  return success();
}

Operation *emptyCopy(Localizer &l, Operation *op, ValueRange operands, TypeRange types) {
  Operation *made = l.copy(op, operands, types);
  for (Region &region : made->getRegions()) {
    region.dropAllReferences();
    region.getBlocks().clear();
  }
  return made;
}

} // namespace

LogicalResult localizeWhile(Localizer &l, Operation *op) {
  if (failed(onlyTensors(op)))
    return failure();
  std::vector<LocalLayout> layouts;
  SmallVector<Value> operands;
  SmallVector<Type> types;
  for (auto [operand, result] : llvm::zip_equal(op->getOperands(), op->getResults())) {
    layouts.push_back(l.annotated(result));
    operands.push_back(moveTo(l, operand, layouts.back()));
    types.push_back(operands.back().getType());
  }
  Operation *made = emptyCopy(l, op, operands, types);
  auto predicate = [&](OpOperand &operand) { return l.getWhole(operand.get()); };
  auto carried = [&](OpOperand &operand) {
    return moveTo(l, operand.get(), layouts[operand.getOperandNumber()]);
  };
  if (failed(visitRegion(l, op->getRegion(0), made->getRegion(0), layouts, predicate)) ||
      failed(visitRegion(l, op->getRegion(1), made->getRegion(1), layouts, carried)))
    return failure();
  for (auto [global, local, layout] :
       llvm::zip_equal(op->getResults(), made->getResults(), layouts))
    l.setLocal(global, {local, layout});
  return success();
}

LogicalResult localizeBranches(Localizer &l, Operation *op) {
  if (failed(onlyTensors(op)))
    return failure();
  std::vector<LocalLayout> layouts;
  SmallVector<Type> types;
  for (Value result : op->getResults()) {
    layouts.push_back(l.annotated(result));
    types.push_back(l.localType(result, layouts.back()));
  }
  Operation *made = emptyCopy(l, op, l.getWhole(op->getOperand(0)), types);
  auto leave = [&](OpOperand &operand) {
    return moveTo(l, operand.get(), layouts[operand.getOperandNumber()]);
  };
  for (auto [from, to] : llvm::zip_equal(op->getRegions(), made->getRegions()))
    if (failed(visitRegion(l, from, to, {}, leave)))
      return failure();
  for (auto [global, local, layout] :
       llvm::zip_equal(op->getResults(), made->getResults(), layouts))
    l.setLocal(global, {local, layout});
  return success();
}

} // namespace tessera::localize
