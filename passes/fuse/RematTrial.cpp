#include "passes/fuse/RematTrial.h"

#include "dialects/exec/ExecOps.h"
#include "dialects/interfaces/OpInterfaces.h"
#include "dialects/stablehlo/StablehloOps.h"
#include "dialects/tessera/Marks.h"
#include "passes/fuse/FormKernels.h"
#include "passes/memory/InplaceOperands.h"
#include "passes/order/BlockTasks.h"

#include "mlir/IR/OwningOpRef.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using tessera::stablehlo::ExpOp;
using tessera::stablehlo::ReduceOp;
using tessera::stablehlo::TransposeOp;
using tessera::stablehlo::WhileOp;

namespace tessera::fuse {

func::FuncOp describedFunction(ModuleOp module) {
  for (auto function : module.getOps<func::FuncOp>())
    if (!function.getBody().empty())
      return function;
  return {};
}

namespace {

bool takesBytes(Value value) {
  auto tensor = dyn_cast<RankedTensorType>(value.getType());
  return tensor && byteSize(tensor) > 0;
}

// What makes a kernel's result. Attention yields it with its dimensions in another order, which the
// program does not have: it is turned back by who reads it.
Operation *behindTurns(Value yielded) {
  Operation *def = yielded.getDefiningOp();
  while (def && numberOf(def) < 0 && isa<TransposeOp>(def))
    def = def->getOperand(0).getDefiningOp();
  return def;
}

bool isPointwise(fusion::NodeKind kind) {
  return kind == fusion::NodeKind::Pointwise || kind == fusion::NodeKind::Convert;
}

// A kernel of attention or its gradient: no other has two products.
bool isOfAttention(exec::FusedOp fused) {
  auto products = llvm::count_if(*fused.getBlock(), [](Operation &op) {
    return fusionKindOf(&op) == fusion::NodeKind::Contraction;
  });
  return products > 1 && llvm::any_of(*fused.getBlock(), llvm::IsaPred<ExpOp>);
}

// The ops of a kernel that lead to one of its results, from arrays in memory.
class KernelPart {
public:
  KernelPart(exec::FusedOp fused, unsigned result)
      : fused(fused), result(result), isWhole(isOfAttention(fused)) {
    OperandRange yields = fused.getBlock()->getTerminator()->getOperands();
    for (auto [i, value] : llvm::enumerate(yields))
      if (value != yields[result] && !isWhole)
        inMemory.try_emplace(value, static_cast<unsigned>(i));
    reach(yields[result]);
  }

  void describe(const order::BlockTasks &tasks, cost::Maker &maker) {
    maker.again = mayRunAgain();
    maker.isElementwise = maker.again && isElementwise;
    maker.reads.clear();
    for (Value array : reads)
      if (auto storage = tasks.storageOf.find(array); storage != tasks.storageOf.end())
        if (!llvm::is_contained(maker.reads, storage->second))
          maker.reads.push_back(storage->second);
    double part = 0, all = 0;
    for (Operation &inner : *fused.getBlock()) {
      all += 1 + flopsOf(&inner);
      part += ops.contains(&inner) ? 1 + flopsOf(&inner) : 0;
    }
    maker.seconds *= part / all;
  }

private:
  void reach(Value value) {
    SmallVector<Value> work{value};
    while (!work.empty()) {
      Value next = work.pop_back_val();
      Operation *def = next.getDefiningOp();
      if (auto argument = dyn_cast<BlockArgument>(next))
        reads.push_back(fused->getOperand(argument.getArgNumber()));
      else if (auto made = inMemory.find(next); made != inMemory.end())
        reads.push_back(fused->getResult(made->second));
      else if (ops.insert(def))
        addOperands(def, work);
    }
  }

  void addOperands(Operation *def, SmallVectorImpl<Value> &work) {
    fusion::NodeKind kind = fusionKindOf(def);
    isElementwise &= isPointwise(kind) || kind == fusion::NodeKind::Broadcast ||
                     kind == fusion::NodeKind::Constant;
    llvm::append_range(work, def->getOperands());
  }

  // Of attention its result, with what is known of its rows; that alone, or one of several gradients, would
  // be made of arrays of scores.
  bool isAttention() {
    return llvm::any_of(ops, llvm::IsaPred<ReduceOp>) && ops.contains(lastProduct());
  }
  Operation *lastProduct() {
    Operation *last = nullptr;
    for (Operation &inner : *fused.getBlock())
      if (fusionKindOf(&inner) == fusion::NodeKind::Contraction)
        last = &inner;
    return last;
  }

  bool mayRunAgain() {
    if (isWhole && !isAttention())
      return false;
    memory::InplaceOperands inPlace(fused);
    for (unsigned i = 0; i < fused.getNumResults(); ++i) {
      Operation *def = fused.getBlock()->getTerminator()->getOperand(i).getDefiningOp();
      if (inPlace.isUpdate(i) && (i == result || ops.contains(def)))
        return false;
    }
    return llvm::all_of(ops, [](Operation *inner) { return isMemoryEffectFree(inner); });
  }

  exec::FusedOp fused;
  unsigned result;
  bool isWhole;                       // one result takes all of the kernel
  DenseMap<Value, unsigned> inMemory; // the kernel's other results
  llvm::SetVector<Operation *> ops;
  SmallVector<Value> reads;
  bool isElementwise = true;
};

class Describer {
public:
  // `types`: of the numbered ops' results, before kernels were formed.
  Describer(ModuleOp module, const std::vector<SmallVector<Type, 1>> &types)
      : topology(topologyOf(module)), meshes(module), types(types) {
    size_t ops = types.size();
    trial.tasksOf.resize(ops);
    trial.inMemory.resize(ops);
    trial.seconds.resize(ops);
  }

  RematTrial run(func::FuncOp function) {
    describe(function.getBody().front(), -1, -1, 1, -1);
    findScores(function);
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
    described.makers = cost::makersOf(tasks.tasks, tasks.storages.size());
    described.joins.resize(tasks.ops.size());
    TrialBlock back;
    back.owner = owner;
    back.values.resize(tasks.storages.size());
    back.tasks.resize(tasks.ops.size());
    for (auto [t, op] : llvm::enumerate(tasks.ops)) {
      back.tasks[t] = describeTask(op, {b, static_cast<int>(t)}, tasks.tasks[t].alone());
      describeMakers(op, tasks, described.makers);
      described.joins[t] = joinsOf(op, tasks);
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

  // Products that several kernels compute, each for itself: what these kernels read and write.
  void findScores(func::FuncOp function) {
    llvm::DenseSet<std::pair<int, int>> tasks;
    function.walk([&](Operation *op) {
      if (int number = numberOf(op);
          number >= 0 && fusionKindOf(op) == fusion::NodeKind::Contraction)
        if (const auto &makers = trial.tasksOf[number]; makers.size() > 1)
          tasks.insert(makers.begin(), makers.end());
    });
    llvm::DenseSet<std::pair<int, int>> ofThem;
    for (auto [b, t] : tasks) {
      const cost::Task &task = trial.program.blocks[b].tasks[t];
      for (ArrayRef<int> storages : {ArrayRef<int>(task.reads), ArrayRef<int>(task.writes)})
        for (int storage : storages)
          ofThem.insert({b, storage});
    }
    trial.ofScores.assign(ofThem.begin(), ofThem.end());
    llvm::sort(trial.ofScores);
  }

  TrialTask describeTask(Operation *op, std::pair<int, int> place, double seconds) {
    TrialTask task;
    task.ops = numbersOf(op);
    auto fused = dyn_cast<exec::FusedOp>(op);
    if (!fused) {
      trial.tasksOf[task.ops.front()].push_back(place);
      trial.inMemory[task.ops.front()] = true;
      trial.seconds[task.ops.front()] += seconds;
      return task;
    }
    task.isKernel = true;
    task.isWhole = isOfAttention(fused);
    double sum = 0;
    for (Operation &inner : fused.getBlock()->without_terminator())
      if (numberOf(&inner) >= 0)
        sum += 1 + flopsOf(&inner);
    for (Operation &inner : fused.getBlock()->without_terminator())
      if (int number = numberOf(&inner); number >= 0) {
        trial.tasksOf[number].push_back(place);
        trial.seconds[number] =
            std::max(trial.seconds[number], seconds * (1 + flopsOf(&inner)) / sum);
      }
    for (Value value : fused.getBlock()->getTerminator()->getOperands())
      if (Operation *def = behindTurns(value); def && numberOf(def) >= 0)
        trial.inMemory[numberOf(def)] = true;
    return task;
  }

  // What the program has, too: the parts that a sum is made in are none of its values.
  Numbered numbered(OpResult result) const {
    auto fused = dyn_cast<exec::FusedOp>(result.getOwner());
    if (!fused)
      return {numberOf(result.getOwner()), result.getResultNumber()};
    Value value = fused.getBlock()->getTerminator()->getOperand(result.getResultNumber());
    auto made = dyn_cast<OpResult>(value);
    int number = made ? numberOf(made.getOwner()) : -1;
    bool isSame = number >= 0 && made.getResultNumber() < types[number].size() &&
                  types[number][made.getResultNumber()] == made.getType();
    return isSame ? Numbered{number, made.getResultNumber()} : Numbered();
  }

  // What each result of an op is made by. A kernel computes a result again from arrays in memory,
  // its own other results among them; one that writes into an array which is there would need that
  // array as it was.
  void describeMakers(Operation *op, const order::BlockTasks &tasks,
                      std::vector<cost::Maker> &makers) const {
    auto fused = dyn_cast<exec::FusedOp>(op);
    for (OpResult result : op->getResults()) {
      auto storage = tasks.storageOf.find(result);
      if (storage == tasks.storageOf.end() || !takesBytes(result))
        continue;
      cost::Maker &maker = makers[storage->second];
      maker.again = order::isCollective(op);
      if (fused && numbered(result).op >= 0)
        KernelPart(fused, result.getResultNumber()).describe(tasks, maker);
    }
  }

  // Arrays that all ops of a kernel read element by element.
  static llvm::SmallVector<int, 4> joinsOf(Operation *op, const order::BlockTasks &tasks) {
    llvm::SmallVector<int, 4> joins;
    auto fused = dyn_cast<exec::FusedOp>(op);
    if (!fused)
      return joins;
    for (auto [operand, argument] :
         llvm::zip(fused->getOperands(), fused.getBlock()->getArguments())) {
      auto storage = tasks.storageOf.find(operand);
      bool isJoined =
          storage != tasks.storageOf.end() && llvm::all_of(argument.getUses(), [](OpOperand &use) {
            fusion::NodeKind kind = fusionKindOf(use.getOwner());
            fusion::Use how = operandUse(use.getOwner(), use.getOperandNumber());
            return (isPointwise(kind) && how == fusion::Use::Once) ||
                   (kind == fusion::NodeKind::Reduce && how == fusion::Use::Reduced);
          });
      if (isJoined)
        joins.push_back(storage->second);
    }
    return joins;
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
  const std::vector<SmallVector<Type, 1>> &types;
  RematTrial trial;
};

} // namespace

FailureOr<RematTrial> tryKernels(ModuleOp module, codegen::KernelScratch &scratch) {
  OwningOpRef<ModuleOp> copy = module.clone();
  numberOps(*copy);
  std::vector<SmallVector<Type, 1>> types;
  for (Operation *op : numberedOps(*copy))
    types.emplace_back(op->getResultTypes());
  if (failed(formAllKernels(*copy)))
    return failure();
  scratch.describeFused(*copy);
  Describer describer(*copy, types);
  func::FuncOp function = describedFunction(*copy);
  if (!function)
    return failure();
  return describer.run(function);
}

} // namespace tessera::fuse
