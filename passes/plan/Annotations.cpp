#include "passes/plan/Annotations.h"

#include "dialects/sdy/DataFlow.h"
#include "dialects/sdy/PlainData.h"

namespace tessera {

using namespace mlir;

void annotateValue(Value value, sdy::TensorShardingAttr sharding) {
  Operation *op = value.getDefiningOp();
  if (sdy::TensorShardingAttr said = sdy::getSharding(value)) // what is unreduced stays what it is
    sharding = sharding.withReduction(said.getReductionOp());
  if (sdy::isEdgeTarget(value))
    return sdy::setSharding(value, sharding);
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  auto made = sdy::ShardingConstraintOp::create(builder, op->getLoc(), value, sharding);
  value.replaceAllUsesExcept(made.getResult(), made);
}

void addMesh(ModuleOp module, const sharding::Mesh &mesh) {
  for (auto other : llvm::make_early_inc_range(module.getOps<sdy::MeshOp>()))
    if (SymbolTable::symbolKnownUseEmpty(other, module))
      other.erase();
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  SmallVector<sdy::MeshAxisAttr> axes;
  for (const sharding::MeshAxis &axis : mesh.axes)
    axes.push_back(sdy::MeshAxisAttr::get(builder.getContext(), axis.name, axis.size));
  sdy::MeshOp::create(builder, module.getLoc(), mesh.name,
                      sdy::MeshAttr::get(builder.getContext(), axes, {}));
}

} // namespace tessera
