#include "passes/reshard/ValueShardings.h"

#include "dialects/stablehlo/StablehloOps.h"
#include "dialects/stablehlo/TensorTypes.h"
#include "dialects/tessera/Marks.h"
#include "lib/cost/Topology.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

namespace tessera {

using sharding::ReductionKind;
using sharding::TensorSharding;

int64_t elementBytes(mlir::Value value) {
  auto type = llvm::dyn_cast<mlir::ShapedType>(value.getType());
  if (!type)
    return 0;
  mlir::Type element = type.getElementType();
  if (auto complex = llvm::dyn_cast<mlir::ComplexType>(element))
    return 2 * (complex.getElementType().getIntOrFloatBitWidth() / 8);
  return element.isIntOrFloat() ? (element.getIntOrFloatBitWidth() + 7) / 8 : 1;
}

bool isFree(mlir::Value value) {
  mlir::Operation *op = value.getDefiningOp();
  if (!op)
    return false;
  if (auto constant = llvm::dyn_cast<stablehlo::ConstantOp>(op))
    return constant.getValue().isSplat();
  if (auto broadcast = llvm::dyn_cast<stablehlo::BroadcastInDimOp>(op))
    return shapeOf(broadcast.getOperand()).empty();
  return llvm::isa<stablehlo::IotaOp>(op);
}

TensorSharding ValueShardings::of(sdy::TensorShardingAttr attr, size_t rank) const {
  if (!attr || attr.getDimShardings().size() != rank)
    return TensorSharding::replicatedOver(rank);
  return sharding::withoutUnitAxes(sdy::toSharding(attr, mesh));
}

TensorSharding ValueShardings::of(mlir::Value value) const {
  return of(sdy::getSharding(value), shapeOf(value).size());
}

ReductionKind ValueShardings::reductionOf(mlir::Value value) const { return getPartialKind(value); }

sdy::ReductionOp ValueShardings::askedOf(mlir::Value value) const {
  sdy::TensorShardingAttr said = sdy::getSharding(value);
  return said ? said.getReductionOp() : sdy::ReductionOp::SUM;
}

sdy::TensorShardingAttr ValueShardings::attr(const TensorSharding &sharding) const {
  return sdy::toAttr(context, mesh, sharding);
}

void ValueShardings::set(mlir::Value value, const TensorSharding &sharding) const {
  sdy::setSharding(value, attr(sharding));
}

mlir::Value ValueShardings::moved(mlir::Value value, const TensorSharding &to,
                                  mlir::Operation *user, sdy::ReductionOp op) {
  // Where an unreduced value is asked for, its parts are to be combined as asked.
  bool isAlike = to.unreduced.empty() || reductionOf(value) == sdy::toKind(op);
  if (sharding::sameAxes(of(value), to) && isAlike)
    return value;
  sdy::TensorShardingAttr target = attr(to).withReduction(op);
  mlir::Value &slot = made[{value, target}];
  if (slot)
    return slot;
  while (user->getBlock() != value.getParentBlock())
    user = user->getParentOp();
  copies[value].push_back(to);
  mlir::OpBuilder builder(user);
  // A copy lies where the op's rule can have it: along a dimension of size 1 no rule has axes.
  bool splitsOneRow = llvm::any_of(llvm::zip_equal(shapeOf(value), to.dims), [](auto pair) {
    return std::get<0>(pair) == 1 && !std::get<1>(pair).axes.empty();
  });
  if (isFree(value) && !splitsOneRow) {
    mlir::Operation *copy = builder.clone(*value.getDefiningOp());
    sdy::setSharding(copy->getResult(0), target);
    return slot = copy->getResult(0);
  }
  return slot = sdy::ReshardOp::create(builder, user->getLoc(), value.getType(), value, target);
}

sdy::ReshardOp ValueShardings::leave(mlir::OpResult result, const TensorSharding &made) {
  sdy::TensorShardingAttr before = attr(of(result)).withReduction(askedOf(result));
  set(result, made);
  mlir::OpBuilder builder(context);
  builder.setInsertionPointAfter(result.getOwner());
  auto reshard = sdy::ReshardOp::create(builder, result.getLoc(), result.getType(), result, before);
  result.replaceAllUsesExcept(reshard, reshard);
  return reshard;
}

void forEachBody(
    mlir::ModuleOp module,
    llvm::function_ref<void(mlir::Block &, ValueShardings &, sharding::ReshardPlanner &)> visit) {
  sdy::MeshTable meshes(module);
  if (!meshes.main())
    return;
  cost::Topology topology = topologyOf(module);
  sharding::ReshardPlanner planner(*meshes.main(), topology);
  for (auto function : module.getOps<mlir::func::FuncOp>()) {
    if (function.isDeclaration())
      continue;
    ValueShardings shardings(*meshes.main(), module.getContext());
    visit(function.getBody().front(), shardings, planner);
  }
}

} // namespace tessera
