#include "passes/communicate/VaryingAxes.h"

#include "dialects/sdy/PlainData.h"
#include "dialects/stablehlo/StablehloOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace tessera::communicate {

constexpr int32_t kMostAxes = 64; // of further ones nothing is known

VaryingAxes::VaryingAxes(ModuleOp module, const sharding::Mesh &mesh) : mesh(mesh) {
  for (auto func : module.getOps<func::FuncOp>()) {
    if (func.empty())
      continue;
    for (BlockArgument argument : func.getArguments()) {
      sdy::TensorShardingAttr sharding = sdy::getSharding(argument);
      if (!sharding || sharding.getMeshName() != mesh.name)
        continue;
      Bits found = 0;
      for (const auto &dim : sdy::toSharding(sharding, mesh).dims)
        for (const sharding::AxisRef &axis : dim.axes)
          if (axis.axis < kMostAxes && sharding::isWhole(mesh, axis))
            found |= Bits{1} << axis.axis;
      add(argument, found);
    }
    visit(func.getBody().front());
  }
}

bool VaryingAxes::add(Value value, Bits more) {
  Bits &known = bits[value];
  bool isNew = more & ~known;
  known |= more;
  return isNew;
}

// Of whole axes; with `parts`, of those that it uses a part of, too.
VaryingAxes::Bits VaryingAxes::bitsOf(comm::AxesAttr axes, bool parts) const {
  Bits found = 0;
  for (comm::AxisAttr axis : axes.getAxes())
    if (int32_t index = mesh.axisIndex(axis.getName());
        index >= 0 && index < kMostAxes && (parts || axis.getWhole()))
      found |= Bits{1} << index;
  return found;
}

bool VaryingAxes::alongAll(Value value, comm::AxesAttr axes) const {
  for (comm::AxisAttr axis : axes.getAxes())
    if (!axis.getWhole() || mesh.axisIndex(axis.getName()) >= kMostAxes)
      return false;
  Bits wanted = bitsOf(axes, /*parts=*/false);
  return axes.getMesh().getValue() == mesh.name && (of(value) & wanted) == wanted;
}

void VaryingAxes::visit(Block &block) {
  for (Operation &op : block)
    visit(&op);
}

void VaryingAxes::visit(Operation *op) {
  if (isa<stablehlo::WhileOp>(op))
    return visitLoop(op);
  Bits found = 0;
  for (Value operand : op->getOperands())
    found |= of(operand);
  for (Region &region : op->getRegions())
    for (Block &block : region) {
      visit(block);
      for (Value value : block.getTerminator()->getOperands())
        found |= of(value);
    }
  if (std::optional<Attribute> attribute = op->getInherentAttr("axes");
      attribute && *attribute && isa<comm::CommDialect>(op->getDialect())) {
    auto axes = cast<comm::AxesAttr>(*attribute);
    if (isa<comm::AllReduceOp, comm::AllGatherOp, comm::BroadcastOp>(op))
      found &= ~bitsOf(axes, /*parts=*/true);
    else if (isa<comm::SliceOp, comm::ReduceScatterOp, comm::AllToAllOp, comm::AxisIndexOp>(op))
      found |= bitsOf(axes, /*parts=*/false);
  }
  for (Value result : op->getResults())
    add(result, found);
}

// What a loop carries differs as its start does, or as what a trip leaves.
void VaryingAxes::visitLoop(Operation *op) {
  auto loop = cast<stablehlo::WhileOp>(op);
  Block &body = loop.getBody().front();
  bool grows = true;
  while (grows) {
    grows = false;
    for (auto [i, operand] : llvm::enumerate(loop->getOperands()))
      grows |= add(body.getArgument(i), of(operand) | of(loop->getResult(i)));
    visit(body);
    for (auto [i, left] : llvm::enumerate(body.getTerminator()->getOperands()))
      grows |= add(loop->getResult(i), of(left) | of(loop->getOperand(i)));
  }
}

} // namespace tessera::communicate
