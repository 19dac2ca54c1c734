// What a loop stacks is reduced trip by trip, beside what the next ones compute. Passes.td shows an
// example.
#include "passes/communicate/Passes.h"

#include "dialects/comm/Collective.h"
#include "dialects/interfaces/OpInterfaces.h"
#include "dialects/sdy/PlainData.h"
#include "dialects/stablehlo/StablehloOps.h"
#include "dialects/stablehlo/Sums.h"
#include "dialects/tessera/Marks.h"
#include "lib/cost/ScheduleOptions.h"
#include "lib/cost/Topology.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Matchers.h"

namespace tessera {
#define GEN_PASS_DEF_REDUCEINLOOPS
#include "passes/communicate/Passes.h.inc"
} // namespace tessera

using namespace mlir;
using tessera::stablehlo::DynamicUpdateSliceOp;
using tessera::stablehlo::WhileOp;

namespace tessera::communicate {
namespace {

// Of the reduction's time behind the loop, that more messages may take.
constexpr double mostLatency = 0.05;

bool isZero(Value value) {
  if (auto wide = value.getDefiningOp<stablehlo::BroadcastInDimOp>())
    value = wide.getOperand();
  DenseElementsAttr elements;
  if (!matchPattern(value, m_Constant(&elements)) || !elements.isSplat())
    return false;
  Attribute splat = elements.getSplatValue<Attribute>();
  if (auto number = dyn_cast<FloatAttr>(splat))
    return number.getValue().isPosZero();
  auto number = dyn_cast<IntegerAttr>(splat);
  return number && number.getValue().isZero();
}

// The same on all devices: made of constants and of what loops count.
class Uniform {
public:
  bool is(Value value) {
    if (!seen.insert(value).second) // by itself, around a loop
      return true;
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      auto loop = dyn_cast<WhileOp>(argument.getOwner()->getParentOp());
      return loop && is(loop->getOperand(argument.getArgNumber())) &&
             is(loop.getBody().front().getTerminator()->getOperand(argument.getArgNumber()));
    }
    Operation *def = value.getDefiningOp();
    return isa_and_nonnull<stablehlo::StablehloDialect>(def->getDialect()) &&
           def->getNumRegions() == 0 && isMemoryEffectFree(def) &&
           llvm::all_of(def->getOperands(), [&](Value operand) { return is(operand); });
  }

private:
  DenseSet<Value> seen;
};

// A loop's result that starts as zeros and takes an update in each trip.
struct Stack {
  WhileOp loop;
  unsigned index;
  DynamicUpdateSliceOp update;
};

std::optional<Stack> stackOf(Value value) {
  auto loop = value.getDefiningOp<WhileOp>();
  if (!loop || !value.hasOneUse() || getTripCount(loop).value_or(0) < 2)
    return std::nullopt;
  unsigned index = cast<OpResult>(value).getResultNumber();
  Block &body = loop.getBody().front();
  BlockArgument argument = body.getArgument(index);
  auto update = body.getTerminator()->getOperand(index).getDefiningOp<DynamicUpdateSliceOp>();
  if (!update || update->getBlock() != &body || update.getOperand() != argument ||
      !argument.hasOneUse() || !update.getResult().hasOneUse() ||
      !loop.getCond().front().getArgument(index).use_empty() || !isZero(loop->getOperand(index)))
    return std::nullopt;
  Uniform uniform;
  if (!llvm::all_of(update.getStartIndices(), [&](Value at) { return uniform.is(at); }))
    return std::nullopt;
  return Stack{loop, index, update};
}

class Streaming {
public:
  Streaming(const sharding::Mesh &mesh, const cost::Topology &topology)
      : mesh(mesh), topology(topology) {}

  void run(Operation *reduction) {
    if (reduction->getNumOperands() != 1)
      return;
    std::optional<Stack> stack = stackOf(reduction->getOperand(0));
    if (!stack || !keepsRows(reduction, *stack) || !pays(reduction, *stack))
      return;
    OpBuilder b(stack->update);
    Operation *inside = b.clone(*reduction);
    inside->setOperand(0, stack->update.getUpdate());
    auto type = cast<RankedTensorType>(reduction->getResult(0).getType());
    auto part = cast<RankedTensorType>(stack->update.getUpdate().getType());
    if (auto scatter = dyn_cast<comm::ReduceScatterOp>(reduction)) {
      SmallVector<int64_t> shape(part.getShape());
      shape[scatter.getDim()] = type.getDimSize(scatter.getDim());
      part = part.clone(shape);
    }
    inside->getResult(0).setType(part);
    stack->update.getUpdateMutable().assign(inside->getResult(0));
    retype(*stack, type);
    reduction->getResult(0).replaceAllUsesWith(reduction->getOperand(0));
    reduction->erase();
  }

private:
  // A trip's update lies along what a reduce-scatter parts as a whole.
  static bool keepsRows(Operation *reduction, Stack &stack) {
    auto scatter = dyn_cast<comm::ReduceScatterOp>(reduction);
    if (!scatter)
      return cast<comm::AllReduceOp>(reduction).getReduction() == comm::ReductionKind::Sum;
    auto whole = cast<RankedTensorType>(stack.update.getOperand().getType()),
         part = cast<RankedTensorType>(stack.update.getUpdate().getType());
    return scatter.getReduction() == comm::ReductionKind::Sum &&
           whole.getDimSize(scatter.getDim()) == part.getDimSize(scatter.getDim());
  }

  // No more bytes, little more latency, and a trip has something to compute meanwhile.
  bool pays(Operation *reduction, Stack &stack) {
    comm::CollectiveFacts facts = *comm::collectiveFacts(reduction);
    auto trips = static_cast<double>(*getTripCount(stack.loop));
    auto bytes = static_cast<double>(comm::tensorBytes(stack.update.getUpdate().getType()));
    if (trips * bytes > static_cast<double>(facts.bytes))
      return false;
    sharding::AxisRefs axes = facts.axes.toAxisRefs(mesh);
    auto time = [&](double each) {
      return cost::collectiveTime(topology, mesh, comm::pricedAs(facts.kind), each, axes);
    };
    cost::CollectiveTime behind = time(static_cast<double>(facts.bytes)), inside = time(bytes);
    return trips * inside.seconds() <= (1 + mostLatency) * behind.seconds() &&
           inside.links <= computing(stack.loop);
  }

  double computing(WhileOp loop) const {
    double flops = 0;
    loop.getBody().walk([&](Operation *op) { flops += flopsOf(op); });
    return cost::computeSeconds(topology, mesh, flops, 0);
  }

  static void retype(Stack &stack, RankedTensorType type) {
    WhileOp loop = stack.loop;
    if (loop->getResult(stack.index).getType() == type)
      return;
    OpBuilder b(loop);
    loop->setOperand(stack.index, stablehlo::zeros(b, loop.getLoc(), type));
    loop->getResult(stack.index).setType(type);
    loop.getCond().front().getArgument(stack.index).setType(type);
    loop.getBody().front().getArgument(stack.index).setType(type);
    stack.update->getResult(0).setType(type);
  }

  const sharding::Mesh &mesh;
  const cost::Topology &topology;
};

struct ReduceInLoops : impl::ReduceInLoopsBase<ReduceInLoops> {
  void runOnOperation() override {
    sdy::MeshTable meshes(getOperation());
    if (!meshes.main() || scheduleOf(getOperation()).overlap == cost::Overlap::Off)
      return;
    cost::Topology topology = topologyOf(getOperation());
    SmallVector<Operation *> reductions; // of outer loops before those that they go into
    getOperation().walk([&](Operation *op) {
      if (isa<comm::AllReduceOp, comm::ReduceScatterOp>(op))
        reductions.push_back(op);
    });
    for (Operation *reduction : reductions)
      Streaming(*meshes.main(), topology).run(reduction);
  }
};

} // namespace
} // namespace tessera::communicate
