#include "passes/fuse/RematCopies.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace tessera::fuse {
namespace {

using Key = std::pair<int, int>; // the task, and the place among what is there for it

// What is in the regions of an op and reads values from outside of it.
void forCaptured(Operation *op, llvm::function_ref<void(OpOperand &)> visit) {
  for (Region &region : op->getRegions())
    region.walk([&](Operation *inner) {
      for (OpOperand &operand : inner->getOpOperands())
        if (!op->isAncestor(operand.get().getParentRegion()->getParentOp()))
          visit(operand);
    });
}

class Copier {
public:
  Copier(const std::vector<Operation *> &ops, const RematTrial &trial, int b, Block &block)
      : ops(ops), trial(trial), b(b), block(block), numbers(ops.size()) {
    for (auto [i, op] : llvm::enumerate(ops))
      numbers[op] = static_cast<int>(i);
  }

  void run(ArrayRef<cost::Recompute> values) {
    for (auto [t, task] : llvm::enumerate(trial.blocks[b].tasks))
      for (int number : task.ops)
        if (ops[number]->getBlock() == &block)
          keys.try_emplace(ops[number], Key{static_cast<int>(t), std::numeric_limits<int>::max()});
    std::vector<cost::RematStep> steps = cost::expand(trial.program.blocks[b], values);
    copies.resize(steps.size());
    for (auto [i, step] : llvm::enumerate(steps)) {
      if (step.copyOf < 0 && step.from.empty())
        continue;
      replaced.clear();
      clones.clear();
      for (auto [storage, made] : step.from)
        replaced[valueOf(storage)] = copies[made];
      if (step.copyOf >= 0) {
        key = {step.trigger, static_cast<int>(i)};
        const TrialTask &maker = trial.blocks[b].tasks[step.task];
        whole = maker.isWhole ? ArrayRef<int>(maker.ops) : ArrayRef<int>();
        Value value = valueOf(step.copyOf);
        Operation *clone = cloneWith(value.getDefiningOp(), [&](Value v) { return fresh(v); });
        copies[i] = clone->getResult(cast<OpResult>(value).getResultNumber());
      } else {
        key = {step.task, static_cast<int>(i)};
        whole = {};
        redirect(step.task);
      }
    }
    sortBlock(block, keys);
  }

private:
  Value valueOf(int storage) const {
    Numbered value = trial.blocks[b].values[storage];
    return value.op < 0 ? Value() : Value(ops[value.op]->getResult(value.result));
  }

  // Whether the value has to be taken as it is: it is in memory, or not computed in this block.
  bool isThere(Value value) const {
    Operation *def = value.getDefiningOp();
    if (!def || def->getBlock() != &block || def->getNumOperands() == 0)
      return true;
    auto number = numbers.find(def);
    return number == numbers.end() ||
           (trial.inMemory[number->second] &&
            !std::binary_search(whole.begin(), whole.end(), number->second));
  }

  Operation *cloneWith(Operation *op, llvm::function_ref<Value(Value)> operandOf) {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(operandOf(operand));
    Operation *clone = op->clone();
    clone->setOperands(operands);
    block.getOperations().insert(Block::iterator(block.getTerminator()), clone);
    keys[clone] = key;
    return clone;
  }

  // A value for a copy, with all that is computed on the way there.
  Value fresh(Value value) {
    if (auto found = replaced.find(value); found != replaced.end())
      return found->second;
    if (isThere(value))
      return value;
    Operation *def = value.getDefiningOp();
    Operation *clone = clones.lookup(def);
    if (!clone)
      clones[def] = clone = cloneWith(def, [&](Value v) { return fresh(v); });
    return clone->getResult(cast<OpResult>(value).getResultNumber());
  }

  bool dependsOnReplaced(Value value, DenseMap<Value, bool> &known) {
    if (replaced.contains(value))
      return true;
    if (isThere(value))
      return false;
    if (auto found = known.find(value); found != known.end())
      return found->second;
    bool depends = llvm::any_of(value.getDefiningOp()->getOperands(),
                                [&](Value v) { return dependsOnReplaced(v, known); });
    known[value] = depends;
    return depends;
  }

  // What a task reads instead of a value: ops of its own stay, those it shares with others are
  // cloned where they lead to a copy.
  Value late(Value value, int task, DenseMap<Value, bool> &known) {
    if (auto found = replaced.find(value); found != replaced.end())
      return found->second;
    if (isThere(value) || isOwn(value.getDefiningOp(), task) || !dependsOnReplaced(value, known))
      return value;
    Operation *def = value.getDefiningOp();
    Operation *clone = clones.lookup(def);
    if (!clone)
      clones[def] = clone = cloneWith(def, [&](Value v) { return late(v, task, known); });
    return clone->getResult(cast<OpResult>(value).getResultNumber());
  }

  bool isOwn(Operation *op, int task) const {
    auto number = numbers.find(op);
    if (number == numbers.end() || op->getBlock() != &block)
      return false;
    return trial.tasksOf[number->second].size() == 1 &&
           trial.tasksOf[number->second].front() == std::pair(b, task);
  }

  void redirect(int task) {
    DenseMap<Value, bool> known;
    for (int number : trial.blocks[b].tasks[task].ops) {
      Operation *op = ops[number];
      if (!isOwn(op, task))
        continue;
      auto update = [&](OpOperand &operand) { operand.set(late(operand.get(), task, known)); };
      for (OpOperand &operand : op->getOpOperands())
        update(operand);
      forCaptured(op, update);
    }
  }

  const std::vector<Operation *> &ops;
  const RematTrial &trial;
  int b;
  Block &block;
  DenseMap<Operation *, int> numbers;
  DenseMap<Operation *, Key> keys;
  std::vector<Value> copies; // by step
  // Of the step at hand:
  Key key;
  ArrayRef<int> whole; // ops of which none is taken from memory
  DenseMap<Value, Value> replaced;
  DenseMap<Operation *, Operation *> clones;
};

} // namespace

void sortBlock(Block &block, const DenseMap<Operation *, std::pair<int, int>> &keys) {
  SmallVector<Operation *> order;
  for (Operation &op : block.without_terminator())
    if (keys.contains(&op))
      order.push_back(&op);
  llvm::stable_sort(order,
                    [&](Operation *a, Operation *b) { return keys.lookup(a) < keys.lookup(b); });
  for (Operation &op : block.without_terminator())
    if (!keys.contains(&op) && op.use_empty())
      order.push_back(&op);
  order.push_back(block.getTerminator());
  DenseSet<Operation *> placed;
  Operation *end = block.getTerminator();
  SmallVector<Operation *> work;
  for (Operation *next : order) {
    work.push_back(next);
    while (!work.empty()) {
      Operation *op = work.back();
      size_t before = work.size();
      auto need = [&](OpOperand &operand) {
        Operation *def = operand.get().getDefiningOp();
        if (def && def->getBlock() == &block && !placed.contains(def))
          work.push_back(def);
      };
      if (!placed.contains(op)) {
        for (OpOperand &operand : op->getOpOperands())
          need(operand);
        forCaptured(op, need);
      }
      if (work.size() > before)
        continue;
      work.pop_back();
      if (placed.insert(op).second && op != end)
        op->moveBefore(end);
    }
  }
}

void copyValues(ModuleOp module, const RematTrial &trial, ArrayRef<cost::Recompute> values) {
  std::vector<Operation *> ops = numberedOps(module);
  std::vector<std::vector<cost::Recompute>> byBlock(trial.blocks.size());
  for (const cost::Recompute &value : values)
    byBlock[value.block].push_back(value);
  for (auto [b, mine] : llvm::enumerate(byBlock)) {
    if (mine.empty())
      continue;
    int made = trial.blocks[b].values[mine.front().storage].op;
    Copier(ops, trial, static_cast<int>(b), *ops[made]->getBlock()).run(mine);
  }
}

} // namespace tessera::fuse
