// Orders every block by Schedule.h and splits its collectives. Passes.td shows an example.
#include "dialects/comm/Collective.h"
#include "dialects/exec/ExecOps.h"
#include "dialects/sdy/PlainData.h"
#include "dialects/stablehlo/StablehloOps.h"
#include "dialects/tessera/Marks.h"
#include "lib/cost/Topology.h"
#include "passes/order/KernelCost.h"
#include "passes/order/Passes.h"
#include "passes/order/Schedule.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/SetVector.h"

namespace tessera {
#define GEN_PASS_DEF_OVERLAPCOLLECTIVES
#include "passes/order/Passes.h.inc"

using namespace mlir;

static bool isCollective(Operation *op) {
  return isa<comm::AllReduceOp, comm::AllGatherOp, comm::ReduceScatterOp, comm::AllToAllOp,
             comm::PermuteOp, comm::ShiftOp, comm::BroadcastOp>(op);
}

// Follows its readers: no instruction of its own.
static bool isFree(Operation *op) { return isa<stablehlo::ReshapeOp, stablehlo::ConstantOp>(op); }

static comm::StartOp split(Operation *op, OpBuilder &b) {
  MLIRContext *context = op->getContext();
  SmallVector<Type> types(op->getResultTypes());
  types.push_back(comm::HandleType::get(context));
  OperationState state(op->getLoc(), comm::StartOp::getOperationName());
  state.addOperands(op->getOperands());
  state.addTypes(types);
  comm::CollectiveKind kind = comm::collectiveFacts(op)->kind;
  // The other attributes have the same names on both.
  state.addAttributes(op->getAttrs());
  state.addAttribute("kind", comm::CollectiveKindAttr::get(context, kind));
  return cast<comm::StartOp>(b.create(state));
}

namespace {

class Orderer {
public:
  explicit Orderer(ModuleOp module) : topology(topologyOf(module)), meshes(module) {}

  // Returns the seconds that the block takes.
  double order(Block &block);

private:
  double secondsOf(Operation *op);
  double collectiveSeconds(Operation *op);

  cost::Topology topology;
  sdy::MeshTable meshes;
};

} // namespace

double Orderer::collectiveSeconds(Operation *op) {
  auto axes = op->getAttrOfType<comm::AxesAttr>("axes");
  double bytes = 0;
  for (Type type : isa<comm::ReduceScatterOp>(op) ? TypeRange(op->getOperandTypes())
                                                  : TypeRange(op->getResultTypes()))
    bytes += byteSize(cast<RankedTensorType>(type));
  const sharding::Mesh *mesh = meshes.lookup(axes.getMesh().getValue());
  if (!mesh)
    return 0;
  cost::CollectiveKind kind = comm::pricedAs(comm::collectiveFacts(op)->kind);
  return cost::collectiveSeconds(topology, *mesh, kind, bytes, axes.toAxisRefs(*mesh));
}

double Orderer::secondsOf(Operation *op) {
  if (auto fused = dyn_cast<exec::FusedOp>(op))
    return cost::computeSeconds(topology, fused.getFlops(), fused.getBytes());
  if (isCollective(op))
    return collectiveSeconds(op);
  double inside = 0;
  for (Region &region : op->getRegions())
    for (Block &block : region)
      inside += order(block);
  if (std::optional<int64_t> trips = getTripCount(op))
    inside *= *trips;
  return inside;
}

double Orderer::order(Block &block) {
  // Tasks: the ops but for the free ones and the terminator.
  std::vector<Operation *> ops;
  std::vector<order::Task> tasks;
  DenseMap<Operation *, int> numbers;
  auto dependOn = [&](auto &self, Value value, llvm::SetVector<int> &on) -> void {
    Operation *def = value.getDefiningOp();
    if (!def || def->getBlock() != &block)
      return;
    if (isFree(def)) {
      for (Value operand : def->getOperands())
        self(self, operand, on);
      return;
    }
    on.insert(numbers.lookup(def));
  };
  double total = 0;
  for (Operation &op : block.without_terminator()) {
    if (isFree(&op))
      continue;
    llvm::SetVector<int> on;
    for (Value operand : op.getOperands())
      dependOn(dependOn, operand, on);
    for (Region &region : op.getRegions())
      if (!isa<exec::FusedOp>(op))
        region.walk([&](Operation *inner) {
          for (Value operand : inner->getOperands())
            dependOn(dependOn, operand, on);
        });
    numbers[&op] = ops.size();
    ops.push_back(&op);
    order::Task task{secondsOf(&op), isCollective(&op), {}};
    task.operands.append(on.begin(), on.end());
    task.bytes = order::newBytesOf(&op);
    total += task.seconds;
    tasks.push_back(std::move(task));
  }

  Operation *end = block.getTerminator();
  OpBuilder b(end);
  DenseSet<Operation *> placed;
  auto placeViews = [&](auto &self, Operation *op) -> void {
    auto place = [&](Value operand) {
      Operation *def = operand.getDefiningOp();
      if (!def || def->getBlock() != &block || !isFree(def) || !placed.insert(def).second)
        return;
      self(self, def);
      def->moveBefore(end);
    };
    for (Value operand : op->getOperands())
      place(operand);
    if (!isa<exec::FusedOp>(op))
      for (Region &region : op->getRegions())
        region.walk([&](Operation *inner) { llvm::for_each(inner->getOperands(), place); });
  };
  std::vector<comm::StartOp> starts(ops.size());
  for (order::Step step : order::schedule(tasks)) {
    Operation *op = ops[step.task];
    switch (step.kind) {
    case order::Step::Run:
      placeViews(placeViews, op);
      op->moveBefore(end);
      break;
    case order::Step::Start:
      placeViews(placeViews, op);
      starts[step.task] = split(op, b);
      break;
    case order::Step::Wait: {
      comm::StartOp start = starts[step.task];
      auto wait = comm::WaitOp::create(b, op->getLoc(), start.getOutputs().getTypes(),
                                       start.getHandle(), start.getOutputs());
      op->replaceAllUsesWith(wait.getOutputs());
      op->erase();
      break;
    }
    }
  }
  placeViews(placeViews, end);
  return total;
}

namespace {
struct OverlapCollectives : impl::OverlapCollectivesBase<OverlapCollectives> {
  void runOnOperation() override {
    Orderer orderer(getOperation());
    for (auto func : getOperation().getOps<func::FuncOp>())
      for (Block &block : func.getBody())
        orderer.order(block);
  }
};
} // namespace
} // namespace tessera
