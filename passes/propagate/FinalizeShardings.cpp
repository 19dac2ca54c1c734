// Makes what propagation found final: every value gets a sharding with closed dimensions
// (replicated where nothing reached it), constraints become reshards, and ops that only spoke to
// propagation go. Passes.td shows an example.
#include "dialects/sdy/DataFlow.h"
#include "dialects/sdy/PlainData.h"
#include "dialects/sdy/SignatureAttributes.h"
#include "passes/propagate/Passes.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

namespace tessera {
#define GEN_PASS_DEF_FINALIZESHARDINGS
#include "passes/propagate/Passes.h.inc"

using namespace mlir;
using namespace tessera::sdy;

namespace {

TensorShardingAttr closed(TensorShardingAttr sharding) {
  SmallVector<DimensionShardingAttr> dims;
  for (DimensionShardingAttr dim : sharding.getDimShardings())
    dims.push_back(
        DimensionShardingAttr::get(sharding.getContext(), dim.getAxes(), /*isClosed=*/true));
  return sharding.withAxes(dims, {}, sharding.getUnreducedAxes());
}

TensorShardingAttr reduced(TensorShardingAttr sharding) {
  return sharding.withAxes(sharding.getDimShardings(), sharding.getReplicatedAxes(), {});
}

class Finalizer {
public:
  explicit Finalizer(ModuleOp module) : module(module), meshes(module) {
    devices = meshes.main() ? meshes.main()->numDevices() : 0;
    if (!devices) { // a program for one device
      OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
      MLIRContext *context = module.getContext();
      auto mesh = MeshAttr::get(context, {MeshAxisAttr::get(context, "device", 1)}, {});
      std::string name = "mesh";
      while (SymbolTable::lookupSymbolIn(module, name))
        name += "_";
      MeshOp::create(builder, module.getLoc(), name, mesh);
      meshes = MeshTable(module);
    }
  }

  LogicalResult run() {
    for (auto function : module.getOps<FunctionOpInterface>()) {
      finalizeBoundaries(function);
      finalizeRegion(function.getFunctionBody());
    }
    return failure(refused);
  }

private:
  TensorShardingAttr finalized(Location loc, TensorShardingAttr sharding, Type type) {
    // A mesh without axes places a value on one device, or nowhere yet: all devices will do.
    const sharding::Mesh *mesh = sharding ? meshes.lookup(sharding) : nullptr;
    if (mesh && !mesh->axes.empty())
      return closed(sharding);
    if (mesh && !mesh->deviceIds.empty() && devices && mesh->deviceIds[0] >= devices) {
      emitError(loc) << "a value is to be on device " << mesh->deviceIds[0] << " alone, but mesh @"
                     << meshes.main()->name << " has " << devices;
      refused = true;
    } else if (mesh && !mesh->deviceIds.empty()) {
      emitWarning(loc) << "a value that is to be on device " << mesh->deviceIds[0]
                       << " alone is repeated on all: programs place values by mesh axes";
    }
    auto tensor = dyn_cast<RankedTensorType>(type);
    return TensorShardingAttr::getReplicated(module.getContext(), meshes.main()->name,
                                             tensor ? tensor.getRank() : 0);
  }

  void finalizeBoundaries(FunctionOpInterface function) {
    auto name = StringAttr::get(module.getContext(), kShardingAttr);
    auto boundary = [&](Location loc, TensorShardingAttr sharding, Type type) {
      TensorShardingAttr made = finalized(loc, sharding, type);
      return function.isPublic() ? reduced(made) : made;
    };
    SignatureAttributes attributes(function);
    for (auto [i, type] : llvm::enumerate(function.getArgumentTypes()))
      attributes.setArgument(
          i, name,
          boundary(function.isExternal() ? function.getLoc() : function.getArgument(i).getLoc(),
                   function.getArgAttrOfType<TensorShardingAttr>(i, name), type));
    for (auto [i, type] : llvm::enumerate(function.getResultTypes()))
      attributes.setResult(i, name,
                           boundary(function.getLoc(),
                                    function.getResultAttrOfType<TensorShardingAttr>(i, name),
                                    type));
  }

  void finalizeRegion(Region &region) {
    for (Block &block : region)
      for (Operation &op : llvm::make_early_inc_range(block)) {
        if (holdsProgram(&op))
          for (Region &inner : op.getRegions())
            finalizeRegion(inner);
        finalizeOp(&op);
      }
  }

  void finalizeOp(Operation *op) {
    if (isa<ShardingGroupOp>(op))
      return op->erase();
    if (isa<PropagationBarrierOp, DataFlowEdgeOp>(op)) {
      op->replaceAllUsesWith(ValueRange(op->getOperand(0)));
      return op->erase();
    }
    if (auto constraint = dyn_cast<ShardingConstraintOp>(op))
      return finalizeConstraint(constraint);
    if (auto manual = dyn_cast<ManualComputationOp>(op)) {
      manual.setInShardingsAttr(
          finalizedBoundary(manual, manual.getInShardings(), op->getOperands()));
      manual.setOutShardingsAttr(
          finalizedBoundary(manual, manual.getOutShardings(), op->getResults()));
      return;
    }
    if (op->getNumResults() == 0)
      return;
    if (isa<ReshardOp>(op))
      return setSharding(op->getResult(0), closed(getSharding(op->getResult(0))));
    if (auto named = dyn_cast<NamedComputationOp>(op)) {
      named.setInShardingsAttr(finalizedAll(named, named.getBody().getArguments()));
      named.setOutShardingsAttr(finalizedAll(named, named.getResults()));
      return;
    }
    if (auto out = op->getAttrOfType<TensorShardingAttr>("out_sharding")) { // a collective
      OpBuilder builder(op);
      op->replaceAllUsesWith(
          ReshardOp::create(builder, op->getLoc(), op->getOperand(0), closed(out)));
      return op->erase();
    }
    if (isa<SdyDialect>(op->getDialect()) && !isa<sdy::ConstantOp>(op))
      return;
    op->setAttr(kShardingAttr, finalizedAll(op, op->getResults()));
  }

  void finalizeConstraint(ShardingConstraintOp op) {
    TensorShardingAttr sharding = closed(op.getSharding()), input = getSharding(op.getInput());
    Value result = op.getInput();
    if (!op->use_empty() && (!input || closed(input) != sharding)) {
      OpBuilder builder(op);
      auto reshard = ReshardOp::create(builder, op.getLoc(), op.getInput(), sharding);
      reshard->setDiscardableAttrs(op->getDiscardableAttrDictionary());
      result = reshard;
    }
    op->replaceAllUsesWith(ValueRange(result));
    op.erase();
  }

  // The shardings by which values enter a manual computation, or leave it.
  TensorShardingPerValueAttr finalizedBoundary(ManualComputationOp manual,
                                               TensorShardingPerValueAttr shardings,
                                               ValueRange values) const {
    SmallVector<TensorShardingAttr> all;
    for (auto [sharding, value] : llvm::zip_equal(shardings.getShardings(), values))
      all.push_back(closed(evenInside(sharding, value, manual.getManualAxes())));
    return TensorShardingPerValueAttr::get(module.getContext(), all);
  }

  // Without the free axes that divide no manual part evenly: 2 rows over {"manual", "free"} of 2
  // and 2 are tiles of 1 for the first two devices, while of each manual part of 1 row the first of
  // two free devices has all. Inside, values may be sharded so.
  TensorShardingAttr evenInside(TensorShardingAttr attr, Value value, ManualAxesAttr manual) const {
    auto tensor = dyn_cast<RankedTensorType>(value.getType());
    const sharding::Mesh *mesh = meshes.lookup(attr);
    if (!tensor || !mesh)
      return attr;
    sharding::TensorSharding sharding = toSharding(attr, *mesh);
    bool changed = false;
    for (auto [dim, size] : llvm::zip_equal(sharding.dims, tensor.getShape())) {
      int64_t rows = size;
      sharding::AxisRefs kept;
      for (const sharding::AxisRef &axis : dim.axes) {
        auto name = StringAttr::get(attr.getContext(), mesh->axes[axis.axis].name);
        bool isFree = !llvm::is_contained(manual.getValue(), name);
        if (isFree && rows % axis.size != 0)
          break;
        rows /= axis.size;
        kept.push_back(axis);
      }
      changed |= kept.size() != dim.axes.size();
      dim.axes = std::move(kept);
    }
    return changed ? toAttr(attr.getContext(), *mesh, sharding).withReduction(attr.getReductionOp())
                   : attr;
  }

  TensorShardingPerValueAttr finalizedAll(Operation *op, ValueRange values) {
    SmallVector<TensorShardingAttr> all;
    for (Value value : values)
      all.push_back(finalized(op->getLoc(), getSharding(value), value.getType()));
    return TensorShardingPerValueAttr::get(module.getContext(), all);
  }

  mutable ModuleOp module;
  MeshTable meshes;
  int64_t devices; // of the program's mesh; 0: it has none
  bool refused = false;
};

struct FinalizeShardings : impl::FinalizeShardingsBase<FinalizeShardings> {
  void runOnOperation() override {
    if (failed(Finalizer(getOperation()).run()))
      signalPassFailure();
  }
};

} // namespace
} // namespace tessera
