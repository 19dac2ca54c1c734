#include "passes/order/RotateLoops.h"

#include "dialects/exec/ExecOps.h"
#include "dialects/tessera/Marks.h"
#include "passes/order/LoopCuts.h"
#include "passes/order/RotateLoop.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using tessera::stablehlo::WhileOp;

namespace tessera::order {

BlockTasks BlockCosts::tasksOf(Block &block) {
  return order::tasksOf(block, topology, meshes, [&](Block &inner) { return costOf(inner); });
}

BlockCost BlockCosts::costOf(Block &block) {
  if (auto known = costs.find(&block); known != costs.end())
    return known->second;
  BlockTasks tasks = tasksOf(block);
  Order order = schedule(tasks.tasks, tasks.storages, rules.lookup(&block), tasks.carries);
  return costs[&block] = order::costOf(tasks, order.steps, order.timeline);
}

void BlockCosts::forget(Operation *op) {
  op->walk([&](Block *block) {
    costs.erase(block);
    rules.erase(block);
  });
}

namespace {

constexpr double leastGain = 0.01;  // of a loop's time: below it the program stays short
constexpr int mostRotations = 2;    // of a loop: what one leaves exposed, another may hide
constexpr double leastTime = 0.005; // of a body's time: what counts takes less

class Rotator {
public:
  Rotator(WhileOp loop, BlockCosts &costs)
      : loop(loop), body(loop.getBody().front()), costs(costs), rule(costs.rules.lookup(&body)),
        trips(static_cast<double>(getTripCount(loop).value_or(0))) {}

  // The rotated loop, where one takes this one's place.
  WhileOp run() {
    if (trips < 2 || rule.overlap == Overlap::Off)
      return {};
    tasks = costs.tasksOf(body);
    if (llvm::none_of(tasks.tasks, [](const cost::Task &task) { return task.isCollective(); }))
      return {};
    cost::Timeline now = schedule(tasks.tasks, tasks.storages, rule, tasks.carries).timeline;
    if (now.exposed < leastGain * now.seconds)
      return {};
    cost::Timeline best = now;
    std::optional<RotatedLoop> chosen;
    for (const llvm::BitVector &cut : cuts()) {
      std::optional<RotatedLoop> made = rotate(loop, opsOf(cut));
      if (!made)
        continue;
      cost::Timeline line = price(*made);
      bool pays = (trips - 1) * (now.seconds - line.seconds) >= leastGain * trips * now.seconds;
      if (pays && isBetter(rule, line, best, now.peakBytes)) {
        std::swap(chosen, made);
        best = line;
      }
      if (made)
        drop(*made);
    }
    if (!chosen)
      return {};
    costs.forget(loop);
    chosen->take(loop);
    // What the last trip leaves for a next one, where nothing behind the loop reads it.
    for (Operation *op : llvm::reverse(chosen->around))
      if (isOpTriviallyDead(op)) {
        costs.forget(op);
        op->erase();
      }
    return chosen->loop;
  }

private:
  DenseSet<Operation *> opsOf(const llvm::BitVector &cut) {
    DenseSet<Operation *> early;
    for (int task : cut.set_bits())
      early.insert(tasks.ops[task]);
    return early;
  }

  cost::Timeline price(RotatedLoop &made) {
    for (auto [copy, original] : made.copies)
      if (auto known = costs.rules.find(original); known != costs.rules.end()) {
        Rule same = known->second;
        costs.rules[copy] = same;
      }
    Block &rotated = made.loop.getBody().front();
    Rule same = rule;
    same.times = rule.times * (trips - 1) / trips;
    costs.rules[&rotated] = same;
    costs.rules[&made.loop.getCond().front()] = costs.rules.lookup(&loop.getCond().front());
    BlockTasks now = costs.tasksOf(rotated);
    return schedule(now.tasks, now.storages, rule, now.carries).timeline;
  }

  void drop(RotatedLoop &made) {
    for (Operation *op : made.around)
      costs.forget(op);
    made.drop();
  }

  std::vector<llvm::BitVector> cuts() {
    Rule off;
    off.overlap = Overlap::Off;
    std::vector<int> order;
    for (const cost::Step &step : schedule(tasks.tasks, tasks.storages, off, tasks.carries).steps)
      if (step.kind != cost::Step::Wait)
        order.push_back(step.task);
    for (auto [i, op] : llvm::enumerate(tasks.ops))
      numbers[op] = i;
    llvm::BitVector condition(tasks.ops.size());
    for (BlockArgument argument : loop.getCond().front().getArguments())
      if (!argument.use_empty())
        forEachSource(body.getTerminator()->getOperand(argument.getArgNumber()), [&](Value source) {
          if (Operation *def = source.getDefiningOp())
            condition.set(numbers.lookup(def));
        });
    return cutsOf({tasks.tasks, order, runsAhead(), condition});
  }

  // What a value of the body is read from: results of tasks and the trip's arguments.
  void forEachSource(Value value, llvm::function_ref<void(Value)> visit) {
    if (value.getParentBlock() != &body)
      return;
    Operation *def = value.getDefiningOp();
    if (def && isFree(def))
      for (Value operand : def->getOperands())
        forEachSource(operand, visit);
    else
      visit(value);
  }

  // Whether all that an op, or a terminator's operand, reads is in the sets.
  template <typename Values>
  bool readsOnly(Values values, const llvm::BitVector &made, const llvm::BitVector &counters) {
    bool is = true;
    for (Value value : values)
      forEachSource(value, [&](Value source) {
        Operation *def = source.getDefiningOp();
        is &= def ? made.test(numbers.lookup(def))
                  : counters.test(cast<BlockArgument>(source).getArgNumber());
      });
    return is;
  }

  // The tasks of which `may` says so, and that read each other, `counters`, and what no trip changes.
  llvm::BitVector tasksOver(const llvm::BitVector &counters, llvm::function_ref<bool(int)> may) {
    llvm::BitVector made(tasks.ops.size());
    for (auto [i, op] : llvm::enumerate(tasks.ops)) {
      bool is = may(i);
      op->walk(
          [&](Operation *inner) { is = is && readsOnly(inner->getOperands(), made, counters); });
      if (is)
        made.set(i);
    }
    return made;
  }

  // What a later trip could do now: it reads counters, and what no trip changes. What a trip leaves
  // for the next is a counter unless it takes time, or is made of anything else.
  llvm::BitVector runsAhead() {
    double total = 0;
    for (const cost::Task &task : tasks.tasks)
      total += task.alone();
    llvm::BitVector counters(body.getNumArguments(), true);
    for (bool changes = true; changes;) {
      changes = false;
      llvm::BitVector counting = tasksOver(counters, [&](int task) {
        return !tasks.tasks[task].isCollective() && tasks.tasks[task].seconds <= leastTime * total;
      });
      for (auto [i, next] : llvm::enumerate(body.getTerminator()->getOperands()))
        if (counters.test(i) && !readsOnly(ValueRange(next), counting, counters)) {
          counters.reset(i);
          changes = true;
        }
    }
    return tasksOver(counters, [](int) { return true; });
  }

  WhileOp loop;
  Block &body;
  BlockCosts &costs;
  const Rule rule;
  const double trips;
  BlockTasks tasks;
  DenseMap<Operation *, int> numbers;
};

} // namespace

void rotateLoops(func::FuncOp func, BlockCosts &costs) {
  SmallVector<WhileOp> loops; // inner ones first
  func.walk([&](WhileOp loop) { loops.push_back(loop); });
  for (WhileOp loop : loops)
    for (int times = 0; loop && times < mostRotations; ++times)
      loop = Rotator(loop, costs).run();
}

} // namespace tessera::order
