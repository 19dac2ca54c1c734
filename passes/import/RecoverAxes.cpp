// Finds the mesh axes behind tables of device numbers and arithmetic on partition_id in manual
// computations.
//
//   mesh ["data"=2, "model"=4], in a manual computation over both:
//   %0 = stablehlo.partition_id                                    ->  %0 = comm.axis_index over
//   <@mesh, ["model"=4]> %1 = stablehlo.remainder %0, 4 "stablehlo.all_reduce"(%x) {groups [[0, 4],
//   [1, 5], ..]} add   ->  comm.all_reduce sum (%x) over <@mesh, ["data"=2]>
//   "stablehlo.collective_permute"(%x) {pairs [[0, 1], [1, 2], ..]} -> comm.shift (%x) by 1 over
//   <@mesh, ["model"=4]>
//
// The groups are the same for any number of devices then. A permutation that fits no fewer axes
// keeps its table over all of them, with a remark; a group that fits none is an error, for it
// cannot be run by axes.
#include "passes/import/Passes.h"

#include "dialects/comm/CommOps.h"
#include "dialects/sdy/PlainData.h"
#include "dialects/stablehlo/StablehloOps.h"
#include "lib/sharding/DeviceGroups.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Matchers.h"
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

SmallVector<SmallVector<int64_t>> rowsOf(DenseIntElementsAttr table) {
  // A row ends at the first -1: groups of unequal size are padded so.
  SmallVector<SmallVector<int64_t>> rows;
  auto shape = table.getType().getShape();
  if (shape.size() != 2)
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
  while (auto constraint = returned.getDefiningOp<sdy::ShardingConstraintOp>())
    returned = constraint->getOperand(0);
  Operation *op = returned.getDefiningOp();
  if (!op || op != &block.front() || op->getNumResults() != 1 ||
      !llvm::is_contained(op->getOperands(), block.getArgument(0)) ||
      !llvm::is_contained(op->getOperands(), block.getArgument(1)))
    return std::nullopt;
  return TypeSwitch<Operation *, std::optional<comm::ReductionKind>>(op)
      .Case([](stablehlo::AddOp) { return comm::ReductionKind::Sum; })
      .Case([](stablehlo::MulOp) { return comm::ReductionKind::Product; })
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

// The program of one device of `mesh`: the body of a manual computation, or of a function where
// there is one device.
class ManualRegion {
public:
  ManualRegion(Region &body, const Mesh &mesh) : body(body), mesh(mesh) {}

  LogicalResult rewrite() {
    SmallVector<Operation *> ops;
    body.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isa<sdy::ManualComputationOp>(op))
        return WalkResult::skip(); // has a turn of its own
      if (isa<stablehlo::PartitionIdOp, stablehlo::AllReduceOp, stablehlo::AllGatherOp,
              stablehlo::ReduceScatterOp, stablehlo::AllToAllOp, stablehlo::CollectivePermuteOp,
              stablehlo::CollectiveBroadcastOp>(op))
        ops.push_back(op);
      return WalkResult::advance();
    });
    for (Operation *op : ops) {
      OpBuilder b(op);
      LogicalResult result =
          TypeSwitch<Operation *, LogicalResult>(op)
              .Case([&](stablehlo::PartitionIdOp op) { return rewritePartitionId(b, op); })
              .Case([&](stablehlo::CollectivePermuteOp op) { return rewritePermute(b, op); })
              .Case([&](stablehlo::AllReduceOp op) { return rewriteAllReduce(b, op); })
              .Case([&](stablehlo::AllGatherOp op) {
                return rewriteByGroups(op, op.getReplicaGroups(),
                                       [&](comm::AxesAttr axes, Value x) -> Value {
                                         return comm::AllGatherOp::create(b, op.getLoc(), x, axes,
                                                                          op.getAllGatherDim())
                                             .getResult(0);
                                       });
              })
              .Case([&](stablehlo::ReduceScatterOp op) {
                std::optional<comm::ReductionKind> kind = reductionOf(op.getComputation());
                if (!kind)
                  return unknownReduction(op);
                return rewriteByGroups(
                    op, op.getReplicaGroups(), [&](comm::AxesAttr axes, Value x) -> Value {
                      return comm::ReduceScatterOp::create(b, op.getLoc(), x, axes,
                                                           op.getScatterDimension(), *kind)
                          .getResult(0);
                    });
              })
              .Case([&](stablehlo::AllToAllOp op) {
                return rewriteByGroups(op, op.getReplicaGroups(),
                                       [&](comm::AxesAttr axes, Value x) -> Value {
                                         return comm::AllToAllOp::create(b, op.getLoc(), x, axes,
                                                                         op.getSplitDimension(),
                                                                         op.getConcatDimension())
                                             .getResult(0);
                                       });
              })
              .Case([&](stablehlo::CollectiveBroadcastOp op) {
                return rewriteByGroups(
                    op, op.getReplicaGroups(), [&](comm::AxesAttr axes, Value x) -> Value {
                      return comm::BroadcastOp::create(b, op.getLoc(), x, axes).getResult(0);
                    });
              })
              .Default([](Operation *) { return success(); });
      if (failed(result))
        return failure();
    }
    return success();
  }

private:
  comm::AxesAttr attr(const AxisRefs &axes) {
    return comm::AxesAttr::get(body.getContext(), mesh, axes);
  }

  LogicalResult unknownReduction(Operation *op) {
    return op->emitError(
        "reduces by a region that is not one of add, multiply, maximum, minimum, and, or; "
        "gather the values and reduce them locally");
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
        if (!by)
          continue;
        stride = *by;
        quotient = divide.getResult();
      }
      for (Operation *next : llvm::make_early_inc_range(quotient.getUsers())) {
        auto remainder = dyn_cast<stablehlo::RemOp>(next);
        std::optional<int64_t> count = remainder && remainder.getLhs() == quotient
                                           ? positive(remainder.getRhs())
                                           : std::nullopt;
        if (count)
          replaceByIndex(b, remainder, stride, *count);
      }
      if (quotient != op.getResult() && !quotient.use_empty() && mesh.numDevices() % stride == 0)
        replaceByIndex(b, user, stride, mesh.numDevices() / stride);
    }
    if (!op->use_empty())
      replaceByIndex(b, op, 1, mesh.numDevices());
    return success();
  }

  // Leaves `op` as it is when no axes have that digit.
  void replaceByIndex(OpBuilder &b, Operation *op, int64_t stride, int64_t count) {
    std::optional<AxisRefs> axes;
    if (stride * count <= mesh.numDevices())
      axes = sharding::axesOfDigit(mesh, {stride, count});
    if (!axes)
      return;
    Type type = op->getResult(0).getType();
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(op);
    Value index;
    if (axes->empty()) {
      auto tensor = cast<RankedTensorType>(type);
      index = stablehlo::ConstantOp::create(
          b, op->getLoc(), DenseElementsAttr::get(tensor, b.getZeroAttr(tensor.getElementType())));
    } else {
      index = comm::AxisIndexOp::create(b, op->getLoc(), attr(sharding::normalized(*axes)));
      if (index.getType() != type)
        index = stablehlo::ConvertOp::create(b, op->getLoc(), type, index);
    }
    op->getResult(0).replaceAllUsesWith(index);
    if (op->use_empty())
      op->erase();
  }

  template <typename Make>
  LogicalResult rewriteByGroups(Operation *op, DenseIntElementsAttr groups, Make make) {
    std::optional<AxisRefs> axes = sharding::axesOfGroups(mesh, rowsOf(groups));
    if (!axes)
      return op->emitError() << "no axes of mesh @" << mesh.name
                             << " have these replica groups; use collectives by axis names";
    SmallVector<Value> results;
    for (Value operand : op->getOperands())
      results.push_back(axes->empty() ? operand : make(attr(*axes), operand));
    for (auto [value, result] : llvm::zip(results, op->getResults()))
      if (value.getType() != result.getType())
        return op->emitError() << "returns " << result.getType() << " where groups of "
                               << sharding::shardCount(*axes) << " give " << value.getType();
    op->replaceAllUsesWith(results);
    op->erase();
    return success();
  }

  LogicalResult rewriteAllReduce(OpBuilder &b, stablehlo::AllReduceOp op) {
    std::optional<comm::ReductionKind> kind = reductionOf(op.getComputation());
    if (!kind)
      return unknownReduction(op);
    return rewriteByGroups(op, op.getReplicaGroups(), [&](comm::AxesAttr axes, Value x) -> Value {
      return comm::AllReduceOp::create(b, op.getLoc(), x, axes, *kind).getResult(0);
    });
  }

  LogicalResult rewritePermute(OpBuilder &b, stablehlo::CollectivePermuteOp op) {
    SmallVector<int64_t> pairs(op.getSourceTargetPairs().getValues<int64_t>());
    int64_t devices = mesh.numDevices();
    if (llvm::any_of(pairs, [&](int64_t d) { return d < 0 || d >= devices; }))
      return op.emitError() << "names a device that mesh @" << mesh.name << " of " << devices
                            << " does not have";
    sharding::RankPairs ranks = sharding::ranksOfPairs(mesh, pairs);
    Value result;
    if (ranks.axes.empty()) { // nobody sends elsewhere
      if (!ranks.pairs.empty()) {
        result = op.getOperand();
      } else {
        auto type = op.getOperand().getType();
        result = stablehlo::ConstantOp::create(
            b, op.getLoc(), DenseElementsAttr::get(type, b.getZeroAttr(type.getElementType())));
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
};

struct RecoverAxesPass : impl::RecoverAxesBase<RecoverAxesPass> {
  void runOnOperation() override {
    sdy::MeshTable meshes(getOperation());
    WalkResult result = getOperation().walk([&](sdy::ManualComputationOp manual) {
      const Mesh *mesh = meshOf(manual, meshes);
      return mesh && failed(ManualRegion(manual.getBody(), *mesh).rewrite())
                 ? WalkResult::interrupt()
                 : WalkResult::advance();
    });
    if (result.wasInterrupted() || failed(rewriteForOneDevice(meshes)))
      signalPassFailure();
  }

  // JAX leaves out the manual computation around the program of a mesh of one device.
  LogicalResult rewriteForOneDevice(const sdy::MeshTable &meshes) {
    Mesh alone{"", {}, {}};
    const Mesh *mesh = meshes.main() ? meshes.main() : &alone;
    if (mesh->numDevices() != 1)
      return success();
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (failed(ManualRegion(function.getBody(), *mesh).rewrite()))
        return failure();
    return success();
  }
};

} // namespace
} // namespace tessera
