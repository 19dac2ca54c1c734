// Orders every block by Schedule.h and splits its collectives. Passes.td shows an example.
#include "dialects/comm/Collective.h"
#include "dialects/exec/ExecOps.h"
#include "dialects/sdy/PlainData.h"
#include "dialects/tessera/Marks.h"
#include "passes/codegen/kernel/WorkMemo.h"
#include "passes/order/JoinBlocks.h"
#include "passes/order/Passes.h"
#include "passes/order/PlaceOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

namespace tessera {
#define GEN_PASS_DEF_OVERLAPCOLLECTIVES
#include "passes/order/Passes.h.inc"

using namespace mlir;

// The start of a collective or transfer: its results, then the handle.
static Operation *split(Operation *op, OpBuilder &b) {
  MLIRContext *context = op->getContext();
  SmallVector<Type> types(op->getResultTypes());
  types.push_back(comm::HandleType::get(context));
  bool moves = order::isTransfer(op);
  OperationState state(op->getLoc(), moves ? comm::StartTransferOp::getOperationName()
                                           : comm::StartOp::getOperationName());
  state.addOperands(op->getOperands());
  state.addTypes(types);
  // The other attributes have the same names on both.
  state.addAttributes(op->getAttrs());
  if (!moves)
    state.addAttribute("kind",
                       comm::CollectiveKindAttr::get(context, comm::collectiveFacts(op)->kind));
  return b.create(state);
}

namespace {

// Puts the ops of a block into an order, collectives as starts and waits.
class Placer {
public:
  explicit Placer(Block &block) : placer(block), end(block.getTerminator()) {}

  void place(const order::BlockTasks &tasks, ArrayRef<cost::Step> steps) {
    std::vector<Operation *> starts(tasks.ops.size());
    for (const cost::Step &step : steps) {
      Operation *op = tasks.ops[step.task];
      if (step.kind == cost::Step::Wait) {
        wait(op, starts[step.task]);
      } else if (step.kind == cost::Step::Start) {
        placer.placeViews(op);
        starts[step.task] = split(op, placer.builder);
      } else {
        placer.place(op);
      }
    }
    placer.placeViews(end);
  }

private:
  void wait(Operation *op, Operation *start) {
    ValueRange outputs = start->getResults().drop_back();
    auto wait = comm::WaitOp::create(placer.builder, op->getLoc(), outputs.getTypes(),
                                     start->getResults().back(), outputs);
    op->replaceAllUsesWith(wait.getOutputs());
    op->erase();
  }

  order::OpPlacer placer;
  Operation *end;
};

} // namespace

static order::BlockCost orderBlock(Block &block, order::BlockCosts &costs) {
  order::BlockTasks tasks = order::tasksOf(block, costs.topology, costs.meshes,
                                           [&](Block &inner) { return orderBlock(inner, costs); });
  order::Order order =
      order::schedule(tasks.tasks, tasks.storages, costs.rules.lookup(&block), tasks.carries);
  Placer(block).place(tasks, order.steps);
  return order::costOf(tasks, order.steps, order.timeline);
}

namespace {
struct OverlapCollectives : impl::OverlapCollectivesBase<OverlapCollectives> {
  void runOnOperation() override {
    codegen::WorkMemo memo;
    cost::Topology topology = topologyOf(getOperation());
    sdy::MeshTable meshes(getOperation());
    cost::ScheduleOptions options = scheduleOf(getOperation());
    order::Rule asked;
    asked.overlap = options.overlap;
    asked.mostBytes = options.memory;
    for (auto func : getOperation().getOps<func::FuncOp>()) {
      order::Rules rules;
      order::addRules(func, topology, meshes, asked, rules);
      order::BlockCosts costs(topology, meshes, rules);
      order::rotateLoops(func, costs);
      order::joinCollectives(func, costs);
      for (Block &block : func.getBody())
        orderBlock(block, costs);
    }
  }
};
} // namespace
} // namespace tessera
