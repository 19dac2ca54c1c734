#include "passes/fuse/RematTrial.h"

#include "dialects/exec/ExecOps.h"
#include "dialects/interfaces/OpInterfaces.h"
#include "dialects/stablehlo/StablehloOps.h"
#include "dialects/tessera/Marks.h"
#include "passes/fuse/FormKernels.h"
#include "passes/memory/InplaceOperands.h"
#include "passes/order/BlockTasks.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using tessera::stablehlo::WhileOp;

namespace tessera::fuse {

// Is on the ops of the copy only, and nowhere outside of this file.
constexpr llvm::StringLiteral kNumber = "number";

std::vector<Operation *> numberedOps(ModuleOp module) {
  std::vector<Operation *> ops;
  module.walk<WalkOrder::PreOrder>([&](Operation *op) { ops.push_back(op); });
  return ops;
}

func::FuncOp describedFunction(ModuleOp module) {
  for (auto function : module.getOps<func::FuncOp>())
    if (!function.getBody().empty())
      return function;
  return {};
}

namespace {

int numberOf(Operation *op) {
  auto number = op->getAttrOfType<IntegerAttr>(kNumber);
  return number ? static_cast<int>(number.getInt()) : -1;
}

bool takesBytes(Value value) {
  auto tensor = dyn_cast<RankedTensorType>(value.getType());
  return tensor && byteSize(tensor) > 0;
}

class Describer {
public:
  Describer(ModuleOp module, size_t ops) : topology(topologyOf(module)), meshes(module) {
    trial.tasksOf.resize(ops);
    trial.inMemory.resize(ops);
    trial.seconds.resize(ops);
  }

  RematTrial run(func::FuncOp function) {
    describe(function.getBody().front(), -1, -1, 1, -1);
    for (size_t b = trial.blocks.size(); b-- > 0;) // inner ones first
      sumSeconds(static_cast<int>(b));
    return std::move(trial);
  }

private:
  // What blocks take that are not described by themselves: those of branches, and conditions.
  order::BlockCost costOf(Block &block) {
    order::BlockTasks tasks =
        order::tasksOf(block, topology, meshes, [&](Block &inner) { return costOf(inner); });
    std::vector<cost::Step> steps;
    for (auto [t, task] : llvm::enumerate(tasks.tasks)) {
      int number = static_cast<int>(t);
      steps.push_back({task.isCollective() ? cost::Step::Start : cost::Step::Run, number});
      if (task.isCollective())
        steps.push_back({cost::Step::Wait, number});
    }
    cost::Timeline line = cost::simulate(tasks.tasks, tasks.storages, steps);
    return {line.seconds, line.peakBytes};
  }

  void describe(Block &block, int parent, int loop, double times, int owner) {
    int b = static_cast<int>(trial.blocks.size());
    order::BlockTasks tasks =
        order::tasksOf(block, topology, meshes, [&](Block &inner) -> order::BlockCost {
          return isa<WhileOp>(inner.getParentOp()) ? order::BlockCost() : costOf(inner);
        });
    cost::RematBlock described;
    described.parent = parent, described.loop = loop, described.times = times;
    described.again.resize(tasks.ops.size());
    TrialBlock back;
    back.owner = owner;
    back.values.resize(tasks.storages.size());
    back.tasks.resize(tasks.ops.size());
    for (auto [t, op] : llvm::enumerate(tasks.ops)) {
      back.tasks[t] = describeTask(op, {b, static_cast<int>(t)}, tasks.tasks[t].alone());
      described.again[t] = mayRunAgain(op);
      auto storage = tasks.tasks[t].writes.begin();
      if (!isa<WhileOp>(op))
        for (OpResult result : op->getResults())
          if (takesBytes(result))
            back.values[*storage++] = numbered(result);
    }
    described.tasks = std::move(tasks.tasks);
    described.storages = std::move(tasks.storages);
    trial.program.blocks.push_back(std::move(described));
    trial.blocks.push_back(std::move(back));
    for (auto [t, op] : llvm::enumerate(tasks.ops))
      if (auto inner = dyn_cast<WhileOp>(op)) {
        auto trips = static_cast<double>(getTripCount(op).value_or(1));
        size_t child = trial.blocks.size();
        describe(inner.getBody().front(), b, static_cast<int>(t), times * trips, numberOf(op));
        const auto &writes = trial.program.blocks[b].tasks[t].writes;
        trial.program.blocks[child].carried.assign(writes.begin(), writes.end());
      }
  }

  TrialTask describeTask(Operation *op, std::pair<int, int> place, double seconds) {
    TrialTask task;
    auto fused = dyn_cast<exec::FusedOp>(op);
    if (!fused) {
      task.ops.push_back(numberOf(op));
      trial.tasksOf[task.ops.front()].push_back(place);
      trial.inMemory[task.ops.front()] = true;
      trial.seconds[task.ops.front()] += seconds;
      return task;
    }
    task.isKernel = true;
    double sum = 0;
    for (Operation &inner : fused.getBlock()->without_terminator())
      if (numberOf(&inner) >= 0) {
        task.ops.push_back(numberOf(&inner));
        sum += 1 + flopsOf(&inner);
      }
    for (Operation &inner : fused.getBlock()->without_terminator())
      if (int number = numberOf(&inner); number >= 0) {
        trial.tasksOf[number].push_back(place);
        trial.seconds[number] =
            std::max(trial.seconds[number], seconds * (1 + flopsOf(&inner)) / sum);
      }
    llvm::sort(task.ops);
    for (Value value : fused.getBlock()->getTerminator()->getOperands())
      if (Operation *def = value.getDefiningOp(); def && numberOf(def) >= 0)
        trial.inMemory[numberOf(def)] = true;
    return task;
  }

  static Numbered numbered(OpResult result) {
    auto fused = dyn_cast<exec::FusedOp>(result.getOwner());
    if (!fused)
      return {numberOf(result.getOwner()), result.getResultNumber()};
    Value value = fused.getBlock()->getTerminator()->getOperand(result.getResultNumber());
    auto made = dyn_cast<OpResult>(value);
    return made ? Numbered{numberOf(made.getOwner()), made.getResultNumber()} : Numbered();
  }

  // A kernel that writes into an array which is there would need that array as it was.
  static bool mayRunAgain(Operation *op) {
    auto fused = dyn_cast<exec::FusedOp>(op);
    if (!fused)
      return order::isCollective(op);
    memory::InplaceOperands inPlace(fused);
    for (unsigned i = 0; i < fused.getNumResults(); ++i)
      if (inPlace.isUpdate(i) || numbered(fused->getResult(i)).op < 0)
        return false;
    return llvm::all_of(*fused.getBlock(), [](Operation &inner) {
      return inner.hasTrait<OpTrait::IsTerminator>() || isMemoryEffectFree(&inner);
    });
  }

  // A loop takes what its body does, as often as it runs for one execution of its block.
  void sumSeconds(int b) {
    const cost::RematBlock &block = trial.program.blocks[b];
    if (trial.blocks[b].owner < 0)
      return;
    double sum = 0;
    for (const TrialTask &task : trial.blocks[b].tasks)
      for (int op : task.ops)
        sum += trial.seconds[op];
    trial.seconds[trial.blocks[b].owner] +=
        sum * block.times / trial.program.blocks[block.parent].times;
  }

  cost::Topology topology;
  sdy::MeshTable meshes;
  RematTrial trial;
};

} // namespace

FailureOr<RematTrial> tryKernels(ModuleOp module) {
  OwningOpRef<ModuleOp> copy = module.clone();
  std::vector<Operation *> ops = numberedOps(*copy);
  Builder builder(module.getContext());
  for (auto [i, op] : llvm::enumerate(ops))
    op->setAttr(kNumber, builder.getI64IntegerAttr(static_cast<int64_t>(i)));
  if (failed(formKernels(*copy)))
    return failure();
  Describer describer(*copy, ops.size());
  func::FuncOp function = describedFunction(*copy);
  if (!function)
    return failure();
  return describer.run(function);
}

} // namespace tessera::fuse
