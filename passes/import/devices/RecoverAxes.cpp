// Finds the mesh axes behind tables of device numbers and arithmetic on partition_id in manual
// computations.
//
// What fits no axes is taken from what is gathered along those around it (GatheredGroup.h).
// Passes.td shows an example.
#include "passes/import/Passes.h"

#include "dialects/comm/CommOps.h"
#include "dialects/sdy/PlainData.h"
#include "dialects/stablehlo/StablehloOps.h"
#include "dialects/stablehlo/Sums.h"
#include "lib/sharding/DeviceGroups.h"
#include "lib/sharding/ProcessGrid.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Matchers.h"
#include "passes/import/DeviceProgram.h"
#include "passes/import/devices/GatheredGroup.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"

namespace tessera {
#define GEN_PASS_DEF_RECOVERAXES
#include "passes/import/Passes.h.inc"

using namespace mlir;
using sharding::AxisRefs;
using sharding::Mesh;

namespace {

// The mesh that a manual computation's shardings name; the module's when it has none.
const Mesh *meshOf(sdy::ManualComputationOp manual, const sdy::MeshTable &meshes) {
  for (auto shardings : {manual.getInShardings(), manual.getOutShardings()})
    for (sdy::TensorShardingAttr sharding : shardings.getShardings())
      if (const Mesh *mesh = meshes.lookup(sharding))
        return mesh;
  return meshes.main();
}

sharding::DeviceGroups rowsOf(DenseIntElementsAttr table) {
  // A row ends at the first -1: groups of unequal size are padded so.
  sharding::DeviceGroups rows;
  auto shape = table.getType().getShape();
  if (shape.size() != 2 || shape[1] == 0)
    return rows;
  auto value = table.value_begin<APInt>();
  for (int64_t r = 0; r < shape[0]; ++r) {
    rows.emplace_back();
    for (int64_t c = 0; c < shape[1]; ++c, ++value)
      if (!(*value).isNegative())
        rows.back().push_back((*value).getSExtValue());
  }
  return rows;
}

// The reduction that a region of one operation is. JAX constrains the scalar that it returns where
// some axes are free.
std::optional<comm::ReductionKind> reductionOf(Region &region) {
  Block &block = region.front();
  if (block.getNumArguments() != 2)
    return std::nullopt;
  Value returned = block.getTerminator()->getOperand(0);
  while (isa_and_nonnull<sdy::ShardingConstraintOp, sdy::ReshardOp>(returned.getDefiningOp()))
    returned = returned.getDefiningOp()->getOperand(0);
  Operation *op = returned.getDefiningOp();
  if (!op || op != &block.front() || op->getNumResults() != 1 ||
      !llvm::is_contained(op->getOperands(), block.getArgument(0)) ||
      !llvm::is_contained(op->getOperands(), block.getArgument(1)))
    return std::nullopt;
  bool isBoolean = getElementTypeOrSelf(returned.getType()).isInteger(1);
  using Kind = comm::ReductionKind;
  return TypeSwitch<Operation *, std::optional<comm::ReductionKind>>(op)
      .Case([&](stablehlo::AddOp) { return isBoolean ? Kind::Or : Kind::Sum; })
      .Case([&](stablehlo::MulOp) { return isBoolean ? Kind::And : Kind::Product; })
      .Case([](stablehlo::MaxOp) { return comm::ReductionKind::Max; })
      .Case([](stablehlo::MinOp) { return comm::ReductionKind::Min; })
      .Case([](stablehlo::AndOp) { return comm::ReductionKind::And; })
      .Case([](stablehlo::OrOp) { return comm::ReductionKind::Or; })
      .Default([](Operation *) { return std::nullopt; });
}

// The positive integer that a scalar is.
std::optional<int64_t> positive(Value value) {
  APInt number;
  if (!matchPattern(value, m_ConstantInt(&number)) || number.getActiveBits() > 62 ||
      number.isZero())
    return std::nullopt;
  return number.getZExtValue();
}

// How the numbers in a collective's table name devices, by its channel and its global ids.
sharding::Addressing addressingOf(Operation *op) {
  auto channel = op->getAttrOfType<stablehlo::ChannelHandleAttr>("channel_handle");
  bool hasChannel = channel && channel.getHandle() > 0;
  if (auto config = op->getAttrOfType<DictionaryAttr>("backend_config"))
    if (auto id = config.getAs<IntegerAttr>("channel_id"))
      hasChannel = id.getValue().isStrictlyPositive();
  if (isa<stablehlo::AllReduceOp, stablehlo::AllGatherOp, stablehlo::ReduceScatterOp>(op)) {
    if (op->hasAttr("use_global_device_ids"))
      return sharding::Addressing::FlattenedIds;
    return hasChannel ? sharding::Addressing::CrossReplicaAndPartition
                      : sharding::Addressing::CrossReplica;
  }
  return hasChannel ? sharding::Addressing::CrossPartition : sharding::Addressing::CrossReplica;
}

bool isRaggedAllToAll(Operation *op) {
  auto call = dyn_cast<stablehlo::CustomCallOp>(op);
  return call && call.getCallTargetName() == "ragged_all_to_all";
}

// Whether no device of `mesh` hears of another: each is a group of its own, or sends to itself only.
bool staysAtHome(Operation *op, const Mesh &mesh) {
  if (auto permute = dyn_cast<stablehlo::CollectivePermuteOp>(op))
    return llvm::all_of(rowsOf(permute.getSourceTargetPairs()),
                        [](ArrayRef<int64_t> pair) { return pair[0] == pair[1]; });
  auto table = op->getAttrOfType<DenseIntElementsAttr>("replica_groups");
  sharding::DeviceGroups groups = table ? rowsOf(table) : sharding::DeviceGroups{};
  return int64_t(groups.size()) == mesh.numDevices() &&
         llvm::all_of(groups, [](ArrayRef<int64_t> group) { return group.size() == 1; });
}

bool talksOrAsksWhere(Operation *op) {
  return isa<stablehlo::PartitionIdOp, stablehlo::ReplicaIdOp, stablehlo::AllReduceOp,
             stablehlo::AllGatherOp, stablehlo::ReduceScatterOp, stablehlo::AllToAllOp,
             stablehlo::CollectivePermuteOp, stablehlo::CollectiveBroadcastOp,
             stablehlo::CollectiveReduceOp>(op) ||
         isRaggedAllToAll(op);
}

// The program of one device of `mesh`: the body of a manual computation, or of a function whose
// manual axes would be of one device.
class ManualRegion {
public:
  ManualRegion(Region &body, const Mesh &mesh, sharding::ProcessGrid grid)
      : body(body), mesh(mesh), grid(grid) {
    if (grid.numDevices() != mesh.numDevices())
      this->grid = {1, mesh.numDevices()};
    for (Operation *op = body.getParentOp(); op; op = op->getParentOp())
      if (auto manual = dyn_cast<sdy::ManualComputationOp>(op))
        for (StringAttr name : manual.getManualAxes().getValue())
          manualAxes.insert(name.getValue());
  }

  LogicalResult rewrite(function_ref<bool(Operation *)> takes = talksOrAsksWhere) {
    SmallVector<Operation *> ops;
    body.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isa<sdy::ManualComputationOp>(op))
        return WalkResult::skip(); // has a turn of its own
      if (takes(op))
        ops.push_back(op);
      return WalkResult::advance();
    });
    for (Operation *op : ops) {
      OpBuilder b(op);
      LogicalResult result =
          TypeSwitch<Operation *, LogicalResult>(op)
              .Case([&](stablehlo::PartitionIdOp op) { return rewritePartitionId(b, op); })
              .Case([&](stablehlo::ReplicaIdOp op) { return rewriteReplicaId(b, op); })
              .Case([&](stablehlo::CollectivePermuteOp op) { return rewritePermute(b, op); })
              .Case([&](stablehlo::CustomCallOp op) { return rewriteRagged(b, op); })
              .Default([&](Operation *op) { return rewriteGrouped(b, op); });
      if (failed(result))
        return failure();
    }
    return success();
  }

private:
  comm::AxesAttr attr(const AxisRefs &axes) {
    return comm::AxesAttr::get(body.getContext(), mesh, axes);
  }

  // The groups of devices in an attribute; empty with an error when they are no groups of this
  // mesh.
  sharding::DeviceGroups groupsOf(Operation *op, DenseIntElementsAttr table) {
    sharding::DeviceGroups groups = sharding::devicesOf(rowsOf(table), addressingOf(op), grid);
    std::vector<bool> seen(mesh.numDevices());
    for (const auto &group : groups)
      for (int64_t device : group) {
        if (device >= mesh.numDevices() || seen[device]) {
          op->emitError() << "device " << device << " is "
                          << (device >= mesh.numDevices() ? "not one of" : "in two groups of")
                          << " the " << mesh.numDevices() << " of mesh @" << mesh.name
                          << "; mend replica_groups";
          return {};
        }
        seen[device] = true;
      }
    return groups;
  }

  // Along free axes all devices hold one value, which the compiler shards as it likes: they can't
  // be told apart there.
  LogicalResult verifyManual(Operation *op, ArrayRef<sharding::AxisRef> axes) {
    for (const sharding::AxisRef &axis : axes)
      if (axis.size > 1 && !manualAxes.contains(mesh.axes[axis.axis].name))
        return op->emitError() << "tells devices apart along axis \"" << mesh.axes[axis.axis].name
                               << "\", which is free here; add it to manual_axes, or use the "
                                  "manual axes only";
    return success();
  }

  // By axes where the groups have some and the reduction is one of comm's, else of what is
  // gathered.
  LogicalResult rewriteGrouped(OpBuilder &b, Operation *op) {
    sharding::DeviceGroups groups =
        groupsOf(op, op->getAttrOfType<DenseIntElementsAttr>("replica_groups"));
    if (groups.empty())
      return failure();
    bool anySize = isa<stablehlo::AllReduceOp, stablehlo::CollectiveBroadcastOp,
                       stablehlo::CollectiveReduceOp>(op);
    for (const auto &group : groups)
      if (group.size() != groups[0].size() && !anySize)
        return op->emitError("needs groups of one size: the shape of its result follows from it");
    std::optional<comm::ReductionKind> kind;
    bool reduces = op->getNumRegions() == 1;
    if (reduces)
      kind = reductionOf(op->getRegion(0));
    std::optional<AxisRefs> axes = sharding::axesOfGroups(mesh, groups);
    sharding::GroupTable table = sharding::tableOfGroups(mesh, groups);
    if (failed(verifyManual(op, axes ? *axes : table.axes)))
      return failure();
    Location loc = op->getLoc();
    import::GatheredGroup group(b, loc, mesh, table);
    // With roots, the last operand says which member sends, or receives, each of the others.
    bool hasRoots = op->hasAttr("has_dynamic_root");
    ValueRange sent = hasRoots ? op->getOperands().drop_back() : op->getOperands();
    auto rootOf = [&](size_t i) -> Value {
      return hasRoots ? import::elementOf(b, loc, op->getOperands().back(), i)
                      : stablehlo::zeros(b, loc, RankedTensorType::get({}, b.getI32Type()));
    };
    bool readsRoots = hasRoots && isa<stablehlo::CollectiveBroadcastOp>(op);
    SmallVector<Value> results;
    if (axes && axes->empty()) {
      llvm::append_range(results, sent);
    } else if (axes && (kind || !reduces) && !readsRoots) {
      for (Value x : sent)
        results.push_back(byAxes(b, op, x, attr(*axes), kind)->getResult(0));
    } else {
      op->emitRemark() << (!axes        ? "has replica groups that are no axes of the mesh"
                           : readsRoots ? "has roots that only the run knows"
                                        : "reduces by a region of its own")
                       << ": every device receives the operands of all "
                       << sharding::shardCount(table.axes) << " devices around its group";
      for (auto [i, x] : llvm::enumerate(sent))
        results.push_back(readsRoots ? group.broadcast(x, rootOf(i)) : gathered(op, x, group));
    }
    if (isa<stablehlo::CollectiveReduceOp>(op) && !(axes && axes->empty())) {
      Value rank = axes ? Value(comm::AxisIndexOp::create(b, loc, attr(*axes))) : group.rank();
      for (auto [i, result] : llvm::enumerate(results)) {
        Value isRoot = stablehlo::CompareOp::create(b, loc, rank, rootOf(i),
                                                    stablehlo::ComparisonDirection::EQ);
        auto type = cast<RankedTensorType>(result.getType());
        result = stablehlo::SelectOp::create(b, loc, type, isRoot, result,
                                             stablehlo::zeros(b, loc, type));
      }
    }
    for (auto [value, result] : llvm::zip(results, op->getResults())) {
      auto type = cast<RankedTensorType>(result.getType());
      if (value.getType() != type &&
          cast<RankedTensorType>(value.getType()).getShape() == type.getShape())
        value = stablehlo::ConvertOp::create(b, loc, type, value);
      if (value.getType() != type)
        return op->emitError() << "returns " << type << " where groups of " << groups[0].size()
                               << " give " << value.getType();
    }
    op->replaceAllUsesWith(results);
    op->erase();
    return success();
  }

  static Operation *byAxes(OpBuilder &b, Operation *op, Value x, comm::AxesAttr axes,
                           std::optional<comm::ReductionKind> kind) {
    Location loc = op->getLoc();
    return TypeSwitch<Operation *, Operation *>(op)
        .Case<stablehlo::AllReduceOp, stablehlo::CollectiveReduceOp>(
            [&](auto) { return comm::AllReduceOp::create(b, loc, x, axes, *kind); })
        .Case([&](stablehlo::AllGatherOp op) {
          return comm::AllGatherOp::create(b, loc, x, axes, op.getAllGatherDim());
        })
        .Case([&](stablehlo::ReduceScatterOp op) {
          return comm::ReduceScatterOp::create(b, loc, x, axes, op.getScatterDimension(), *kind);
        })
        .Case([&](stablehlo::AllToAllOp op) {
          return comm::AllToAllOp::create(b, loc, x, axes, op.getSplitDimension(),
                                          op.getConcatDimension());
        })
        .Default([&](Operation *) { return comm::BroadcastOp::create(b, loc, x, axes); });
  }

  static Value gathered(Operation *op, Value x, import::GatheredGroup &group) {
    return TypeSwitch<Operation *, Value>(op)
        .Case<stablehlo::AllReduceOp, stablehlo::CollectiveReduceOp>(
            [&](auto op) { return group.allReduce(x, op.getComputation()); })
        .Case([&](stablehlo::AllGatherOp op) { return group.allGather(x, op.getAllGatherDim()); })
        .Case([&](stablehlo::ReduceScatterOp op) {
          return group.reduceScatter(x, op.getScatterDimension(), op.getComputation());
        })
        .Case([&](stablehlo::AllToAllOp op) {
          return group.allToAll(x, op.getSplitDimension(), op.getConcatDimension());
        })
        .Default([&](Operation *) { return group.broadcast(x); });
  }

  // Its groups are in the dictionary that is its backend_config.
  LogicalResult rewriteRagged(OpBuilder &b, stablehlo::CustomCallOp op) {
    DenseIntElementsAttr table;
    if (auto config = op->getAttrOfType<DictionaryAttr>("backend_config"))
      table = config.getAs<DenseIntElementsAttr>("replica_groups");
    if (!table || op->getNumOperands() != 6 || op->getNumResults() != 1)
      return op.emitError("ragged_all_to_all takes an operand, an output, four vectors of offsets "
                          "and sizes, and replica_groups in its backend_config");
    sharding::DeviceGroups groups = groupsOf(op, table);
    if (groups.empty())
      return failure();
    int64_t size = groups[0].size();
    for (Value numbers : op->getOperands().drop_front(2)) {
      auto type = dyn_cast<RankedTensorType>(numbers.getType());
      if (!type || type.getRank() != 1 || type.getDimSize(0) != size)
        return op.emitError() << "needs one offset or size for each of the " << size
                              << " devices of a group, not " << numbers.getType();
    }
    sharding::GroupTable members = sharding::tableOfGroups(mesh, groups);
    if (failed(verifyManual(op, members.axes)))
      return failure();
    import::GatheredGroup group(b, op.getLoc(), mesh, std::move(members));
    op->replaceAllUsesWith(ValueRange{group.raggedAllToAll(op->getOperands())});
    op->erase();
    return success();
  }

  LogicalResult rewriteReplicaId(OpBuilder &b, stablehlo::ReplicaIdOp op) {
    return replaceByIndex(b, op, grid.partitions, grid.replicas);
  }

  // (partition_id / c) rem n, with either step left out, becomes the index along the axes of that
  // digit.
  LogicalResult rewritePartitionId(OpBuilder &b, stablehlo::PartitionIdOp op) {
    if (!mesh.deviceIds.empty())
      return op.emitError()
             << "partition_id on mesh @" << mesh.name
             << ", whose devices are not in order, does not say a position; use axis indices";
    for (Operation *user : llvm::make_early_inc_range(op->getUsers())) {
      int64_t stride = 1;
      Value quotient = op.getResult();
      if (auto divide = dyn_cast<stablehlo::DivOp>(user);
          divide && divide.getLhs() == op.getResult()) {
        std::optional<int64_t> by = positive(divide.getRhs());
        if (!by || grid.partitions % *by)
          continue;
        stride = *by;
        quotient = divide.getResult();
      }
      for (Operation *next : llvm::make_early_inc_range(quotient.getUsers())) {
        auto remainder = dyn_cast<stablehlo::RemOp>(next);
        std::optional<int64_t> count = remainder && remainder.getLhs() == quotient
                                           ? positive(remainder.getRhs())
                                           : std::nullopt;
        if (count && grid.partitions % (stride * *count) == 0 &&
            failed(replaceByIndex(b, remainder, stride, *count)))
          return failure();
      }
      if (quotient != op.getResult() && !quotient.use_empty() &&
          failed(replaceByIndex(b, user, stride, grid.partitions / stride)))
        return failure();
    }
    return op->use_empty() ? success() : replaceByIndex(b, op, 1, grid.partitions);
  }

  // Leaves `op` as it is when no axes have that digit.
  LogicalResult replaceByIndex(OpBuilder &b, Operation *op, int64_t stride, int64_t count) {
    std::optional<AxisRefs> axes;
    if (stride * count <= mesh.numDevices())
      axes = sharding::axesOfDigit(mesh, {stride, count});
    if (!axes)
      return success();
    if (failed(verifyManual(op, *axes)))
      return failure();
    Type type = op->getResult(0).getType();
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(op);
    Value index;
    if (axes->empty()) {
      index = stablehlo::zeros(b, op->getLoc(), cast<RankedTensorType>(type));
    } else {
      index = comm::AxisIndexOp::create(b, op->getLoc(), attr(sharding::normalized(*axes)));
      if (index.getType() != type)
        index = stablehlo::ConvertOp::create(b, op->getLoc(), type, index);
    }
    op->getResult(0).replaceAllUsesWith(index);
    if (op->use_empty())
      op->erase();
    return success();
  }

  LogicalResult rewritePermute(OpBuilder &b, stablehlo::CollectivePermuteOp op) {
    SmallVector<int64_t> pairs;
    if (auto table = rowsOf(op.getSourceTargetPairs()); !table.empty())
      for (const auto &pair : sharding::devicesOf(table, addressingOf(op), grid))
        pairs.append(pair);
    int64_t devices = mesh.numDevices();
    if (llvm::any_of(pairs, [&](int64_t d) { return d < 0 || d >= devices; }))
      return op.emitError() << "names a device that mesh @" << mesh.name << " of " << devices
                            << " does not have";
    sharding::RankPairs ranks = sharding::ranksOfPairs(mesh, pairs);
    if (failed(verifyManual(op, ranks.axes)))
      return failure();
    Value result;
    if (ranks.axes.empty()) { // nobody sends elsewhere
      if (!ranks.pairs.empty()) {
        result = op.getOperand();
      } else {
        result = stablehlo::zeros(b, op.getLoc(), op.getOperand().getType());
      }
    } else if (ranks.shift) {
      result = comm::ShiftOp::create(b, op.getLoc(), op.getOperand(), attr(ranks.axes),
                                     *ranks.shift, ranks.wrap)
                   .getResult(0);
    } else {
      if (ranks.axes.size() == mesh.axes.size() && devices > 64)
        op.emitRemark()
            << "this permutation is a table of " << ranks.pairs.size() / 2
            << " pairs: it grows with the number of devices; a shift along one axis would not";
      result =
          comm::PermuteOp::create(b, op.getLoc(), op.getOperand(), attr(ranks.axes), ranks.pairs)
              .getResult(0);
    }
    op.getResult().replaceAllUsesWith(result);
    op.erase();
    return success();
  }

  Region &body;
  const Mesh &mesh;
  sharding::ProcessGrid grid;
  llvm::StringSet<> manualAxes;
};

struct RecoverAxesPass : impl::RecoverAxesBase<RecoverAxesPass> {
  void runOnOperation() override {
    sdy::MeshTable meshes(getOperation());
    sharding::ProcessGrid grid = import::processGridOf(getOperation());
    WalkResult result = getOperation().walk([&](sdy::ManualComputationOp manual) {
      const Mesh *mesh = meshOf(manual, meshes);
      return mesh && failed(ManualRegion(manual.getBody(), *mesh, grid).rewrite())
                 ? WalkResult::interrupt()
                 : WalkResult::advance();
    });
    if (result.wasInterrupted() || failed(rewriteFunctions(meshes)))
      signalPassFailure();
  }

  // JAX leaves out the manual computation around a program whose manual axes are of one device.
  LogicalResult rewriteFunctions(const sdy::MeshTable &meshes) {
    Mesh alone{"", {}, {}};
    const Mesh *mesh = meshes.main() ? meshes.main() : &alone;
    auto takes = [&](Operation *op) {
      return mesh->numDevices() == 1 ? talksOrAsksWhere(op) : staysAtHome(op, *mesh);
    };
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (failed(ManualRegion(function.getBody(), *mesh, {}).rewrite(takes)))
        return failure();
    return success();
  }
};

} // namespace
} // namespace tessera
