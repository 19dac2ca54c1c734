// Ops that speak of shardings: reshards move values, manual computations are inlined (their bodies
// are local in their manual axes already), collectives inside them stay.
//
//   sdy.manual_computation(%x) in_shardings=[<@mesh, [{"s", "t"}]>] manual_axes={"s"}
//       (%a: tensor<4xf32>) { .. }                         // %x: tensor<8xf32>, s = 2, t = 2
//
// Here %a is a global value of 4 rows on the mesh of the free
// axis "t", tile 2.
#include "passes/localize/Handlers.h"
#include "passes/localize/Rows.h"

#include "dialects/sdy/PlainData.h"

using namespace mlir;

namespace tessera::localize {

LogicalResult localizeNothing(Localizer &, Operation *) { return success(); }

LogicalResult localizeReshard(Localizer &l, Operation *op) {
  Value input = op->getOperand(0), result = op->getResult(0);
  LocalValue from = l.local(input);
  LocalLayout to = l.annotatedLike(result, from.layout);
  if (to.partial.empty())
    to.reduction = from.layout.reduction;
  Value moved = l.move(from, shapeOf(input), to);
  l.setLocal(result, {moved, to});
  return success();
}

LogicalResult passThrough(Localizer &l, Operation *op) {
  l.setLocal(op->getResult(0), l.local(op->getOperand(0)));
  return success();
}

LogicalResult localizeManual(Localizer &l, Operation *op) {
  auto manual = cast<sdy::ManualComputationOp>(op);
  Block &body = manual.getBody().front();
  auto enter = [&](sdy::TensorShardingAttr sharding, Value outside, Value inside) {
    LocalLayout outer = l.layoutOf(sharding, shapeOf(outside));
    LocalLayout inner =
        l.layoutOf(sdy::insideManual(sharding, manual.getManualAxes()), shapeOf(inside));
    for (auto [a, b] : llvm::zip_equal(outer.dims, inner.dims))
      b.tile = a.tile;
    return std::pair(outer, inner);
  };
  for (auto [i, operand, arg] : llvm::enumerate(manual.getTensors(), body.getArguments())) {
    auto [outer, inner] = enter(manual.getInShardings().getShardings()[i], operand, arg);
    l.setLocal(arg, {l.move(l.local(operand), shapeOf(operand), outer), inner});
  }
  if (failed(l.visitBlock(body)))
    return failure();
  l.loc = op->getLoc();
  for (auto [i, result, inside] :
       llvm::enumerate(manual.getResults(), body.getTerminator()->getOperands())) {
    auto [outer, inner] = enter(manual.getOutShardings().getShardings()[i], result, inside);
    l.setLocal(result, {l.move(l.local(inside), shapeOf(inside), inner), outer});
  }
  return success();
}

LogicalResult localizeNamed(Localizer &l, Operation *op) {
  Block &body = op->getRegion(0).front();
  for (auto [operand, arg] : llvm::zip_equal(op->getOperands(), body.getArguments()))
    l.setLocal(arg, l.local(operand));
  if (failed(l.visitBlock(body)))
    return failure();
  for (auto [result, inside] :
       llvm::zip_equal(op->getResults(), body.getTerminator()->getOperands()))
    l.setLocal(result, l.local(inside));
  return success();
}

// A collective of a manual computation, on the parts of the free axes. The dimensions it works
// along must be whole.
// Collectives work on the device's memory: on what goes to the host before, on what comes from there
// behind. A reshard on the host is made behind, too.
LogicalResult localizeTransfer(Localizer &l, Operation *op) {
  auto transfer = cast<comm::TransferOp>(op);
  if (transfer.getSpace() == comm::Space::Host)
    return localizeElementwise(l, op);
  while (auto reshard = transfer.getInput().getDefiningOp<sdy::ReshardOp>())
    transfer.getInputMutable().assign(reshard.getInput());
  return localizeCollective(l, op);
}

LogicalResult localizeCollective(Localizer &l, Operation *op) {
  SmallVector<int64_t, 2> along;
  for (StringRef name : {"dim", "concat_dim"})
    if (auto attr = dyn_cast_or_null<IntegerAttr>(op->getInherentAttr(name).value_or(Attribute())))
      along.push_back(attr.getInt());
  SmallVector<Value> operands;
  std::vector<LocalLayout> layouts;
  SmallVector<Type> types;
  for (auto [operand, result] : llvm::zip_equal(op->getOperands(), op->getResults())) {
    LocalLayout want = l.local(operand).layout;
    want.partial.clear();
    for (int64_t dim : along)
      want.dims[dim] = wholeDim(shapeOf(operand)[dim]);
    operands.push_back(l.get(operand, want));
    for (int64_t dim : along)
      want.dims[dim] = wholeDim(shapeOf(result)[dim]);
    types.push_back(l.localType(result, want));
    layouts.push_back(want);
  }
  Operation *made = l.copy(op, operands, types);
  for (auto [global, local, layout] :
       llvm::zip_equal(op->getResults(), made->getResults(), layouts))
    l.bind(global, local, layout);
  return success();
}

LogicalResult localizeIndex(Localizer &l, Operation *op) {
  Value index = l.copy(op, {}, op->getResultTypes())->getResult(0);
  l.setLocal(op->getResult(0), {index, {}});
  return success();
}

// The position in the mesh.
LogicalResult localizePartitionId(Localizer &l, Operation *op) {
  AxisRefs all;
  for (size_t axis = 0; axis < l.getMesh().axes.size(); ++axis)
    all.push_back(sharding::wholeAxis(l.getMesh(), axis));
  Value index = myStart(l, all, 1, 0);
  index = stablehlo::ConvertOp::create(l.b, l.loc, op->getResult(0).getType(), index);
  l.setLocal(op->getResult(0), {index, {}});
  return success();
}

} // namespace tessera::localize
