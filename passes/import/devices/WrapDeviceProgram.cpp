// A program that is written for one device of many, with collectives between them, becomes a manual
// computation over a mesh of replicas and partitions. Its arguments and results get a new first
// dimension: one entry for each device (replica * partitions + partition). Passes.td shows an example.
#include "dialects/sdy/PlainData.h"
#include "dialects/stablehlo/StablehloOps.h"
#include "lib/sharding/DeviceGroups.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/import/DeviceProgram.h"
#include "passes/import/Passes.h"
#include "tessera/container.h"

namespace tessera {
#define GEN_PASS_DEF_WRAPDEVICEPROGRAM
#include "passes/import/Passes.h.inc"

using namespace mlir;

static int64_t countOf(ModuleOp module, StringRef name) {
  auto attr = module->getAttrOfType<IntegerAttr>(name);
  return attr ? std::clamp<int64_t>(attr.getValue().getSExtValue(), 1, 1 << 20) : 1;
}

sharding::ProcessGrid import::processGridOf(ModuleOp module) {
  return {countOf(module, "mhlo.num_replicas"), countOf(module, "mhlo.num_partitions")};
}

bool import::namesDevices(Operation *op) {
  if (auto call = dyn_cast<stablehlo::CustomCallOp>(op))
    return call.getCallTargetName() == "ragged_all_to_all";
  return isa<stablehlo::PartitionIdOp, stablehlo::ReplicaIdOp, stablehlo::AllReduceOp,
             stablehlo::AllGatherOp, stablehlo::ReduceScatterOp, stablehlo::AllToAllOp,
             stablehlo::CollectivePermuteOp, stablehlo::CollectiveBroadcastOp,
             stablehlo::CollectiveReduceOp, stablehlo::CrossReplicaSumOp>(op);
}

namespace {

// Whether devices are named in this function outside of manual computations, and nothing in it has
// a sharding.
bool isDeviceProgram(func::FuncOp function) {
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (function.getArgAttr(i, sdy::kShardingAttr))
      return false;
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    if (function.getResultAttr(i, sdy::kShardingAttr))
      return false;
  bool names = false;
  WalkResult walked = function.walk([&](Operation *op) {
    if (isa<sdy::SdyDialect>(op->getDialect()) || op->hasAttr(sdy::kShardingAttr))
      return WalkResult::interrupt();
    names |= import::namesDevices(op);
    return WalkResult::advance();
  });
  return names && !walked.wasInterrupted();
}

// Without module attributes: as many devices as the tables name.
sharding::ProcessGrid gridOfTables(func::FuncOp function) {
  int64_t replicas = 1, partitions = 1;
  function.walk([&](Operation *op) {
    for (StringRef name : {"replica_groups", "source_target_pairs"})
      if (auto table = op->getAttrOfType<DenseIntElementsAttr>(name)) {
        auto channel = op->getAttrOfType<stablehlo::ChannelHandleAttr>("channel_handle");
        int64_t &count = channel && channel.getHandle() > 0 ? partitions : replicas;
        for (const APInt &device : table.getValues<APInt>())
          count = std::max(count, std::min(device.getSExtValue(), container::kMostDevices) + 1);
      }
  });
  return replicas > 1 ? sharding::ProcessGrid{std::max(replicas, partitions), 1}
                      : sharding::ProcessGrid{1, partitions};
}

struct WrapDeviceProgramPass : impl::WrapDeviceProgramBase<WrapDeviceProgramPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    for (auto function : module.getOps<func::FuncOp>()) {
      if (function.isExternal() || !isDeviceProgram(function))
        continue;
      sharding::ProcessGrid grid = import::processGridOf(module);
      if (!module->hasAttr("mhlo.num_replicas") && !module->hasAttr("mhlo.num_partitions")) {
        grid = gridOfTables(function);
        Builder b(module.getContext());
        module->setAttr("mhlo.num_replicas", b.getI32IntegerAttr(grid.replicas));
        module->setAttr("mhlo.num_partitions", b.getI32IntegerAttr(grid.partitions));
      }
      if (grid.numDevices() > 1)
        wrap(module, function, grid);
    }
  }

  // The mesh, by which replicas are major.
  sharding::Mesh makeMesh(ModuleOp module, sharding::ProcessGrid grid) {
    for (auto unused : llvm::make_early_inc_range(module.getOps<sdy::MeshOp>()))
      unused.erase();
    sharding::Mesh mesh{"devices", {}, {}};
    if (grid.replicas > 1)
      mesh.axes.push_back({"replica", grid.replicas});
    if (grid.partitions > 1)
      mesh.axes.push_back({"partition", grid.partitions});
    OpBuilder b = OpBuilder::atBlockBegin(module.getBody());
    SmallVector<sdy::MeshAxisAttr> axes;
    for (const sharding::MeshAxis &axis : mesh.axes)
      axes.push_back(sdy::MeshAxisAttr::get(b.getContext(), axis.name, axis.size));
    sdy::MeshOp::create(b, module.getLoc(), mesh.name,
                        sdy::MeshAttr::get(b.getContext(), axes, {}));
    return mesh;
  }

  void wrap(ModuleOp module, func::FuncOp function, sharding::ProcessGrid grid) {
    sharding::Mesh mesh = makeMesh(module, grid);
    MLIRContext *context = module.getContext();
    SmallVector<StringAttr> names;
    for (const sharding::MeshAxis &axis : mesh.axes)
      names.push_back(StringAttr::get(context, axis.name));
    sharding::AxisRefs all = sharding::allAxes(mesh);
    auto stacked = [&](Type type, int64_t devices) {
      auto tensor = cast<RankedTensorType>(type);
      SmallVector<int64_t> shape{devices};
      llvm::append_range(shape, tensor.getShape());
      return tensor.clone(shape);
    };
    auto shardings = [&](TypeRange types) {
      SmallVector<sdy::TensorShardingAttr> result;
      for (Type type : types) {
        sharding::TensorSharding plain;
        plain.dims.resize(cast<RankedTensorType>(type).getRank() + 1);
        plain.dims[0].axes = all;
        result.push_back(sdy::toAttr(context, mesh, plain));
      }
      return sdy::TensorShardingPerValueAttr::get(context, result);
    };
    auto global = [&](TypeRange types) {
      return llvm::map_to_vector(types,
                                 [&](Type t) -> Type { return stacked(t, grid.numDevices()); });
    };
    SmallVector<Type> inputs(function.getArgumentTypes()), outputs(function.getResultTypes());

    // The body moves into the computation, reshapes at its ends.
    Location loc = function.getLoc();
    Block &body = function.getBody().front();
    Block *entry = new Block;
    function.getBody().push_front(entry);
    for (auto [type, argument] : llvm::zip(global(inputs), body.getArguments()))
      entry->addArgument(type, argument.getLoc());
    OpBuilder b = OpBuilder::atBlockEnd(entry);
    auto manual = sdy::ManualComputationOp::create(b, loc, global(outputs), entry->getArguments(),
                                                   shardings(inputs), shardings(outputs),
                                                   sdy::ManualAxesAttr::get(context, names));
    func::ReturnOp::create(b, body.getTerminator()->getLoc(), manual.getResults());
    Region &inside = manual.getBody();
    inside.getBlocks().clear();
    body.moveBefore(&inside, inside.end());
    b.setInsertionPointToStart(&body);
    for (BlockArgument argument : body.getArguments()) {
      Type type = argument.getType();
      argument.setType(stacked(type, 1));
      auto local = stablehlo::ReshapeOp::create(b, argument.getLoc(), type, argument);
      argument.replaceAllUsesExcept(local.getResult(), local);
    }
    Operation *end = body.getTerminator();
    b.setInsertionPoint(end);
    SmallVector<Value> results;
    for (Value value : end->getOperands())
      results.push_back(
          stablehlo::ReshapeOp::create(b, end->getLoc(), stacked(value.getType(), 1), value));
    sdy::ReturnOp::create(b, end->getLoc(), results);
    end->erase();
    function.setType(FunctionType::get(context, global(inputs), global(outputs)));
  }
};

} // namespace
} // namespace tessera
