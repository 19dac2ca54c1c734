#include "passes/order/ProgramRules.h"

#include "dialects/exec/ExecOps.h"
#include "dialects/tessera/Marks.h"
#include "passes/placement/MemorySpaces.h"

using namespace mlir;

namespace tessera::order {
namespace {

int64_t bytesOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? byteSize(tensor) : 0;
}

// Arguments. Results are counted where they are written: until then temporaries lie there.
int64_t heldByCaller(func::FuncOp func) {
  int64_t bytes = 0;
  for (BlockArgument argument : func.getArguments())
    if (!placement::isInHost(argument))
      bytes += bytesOf(argument.getType());
  return bytes;
}

class Measurement {
public:
  Measurement(const cost::Topology &topology, const sdy::MeshTable &meshes, const Rule &asked,
              Rules &rules)
      : topology(topology), meshes(meshes), asked(asked), rules(rules) {}

  void run(func::FuncOp func, Block &entry) {
    BlockCost all = measure(entry);
    int64_t held = heldByCaller(func);
    total = all.seconds;
    usual = all.peakBytes;
    Rule rule = asked;
    rule.otherBytes = held;
    if (asked.mostBytes)
      rule.mostBytes = std::max<int64_t>(0, *asked.mostBytes - held);
    describe(entry, rule, /*outside=*/0, /*times=*/1);
  }

private:
  struct Inner {
    Operation *op;
    int64_t outside; // bytes that are live around it
  };

  BlockCost measure(Block &block) {
    BlockTasks tasks =
        tasksOf(block, topology, meshes, [&](Block &inner) { return measure(inner); });
    Rule off;
    off.overlap = Overlap::Off;
    Order order = schedule(tasks.tasks, tasks.storages, off, tasks.carries);
    BlockCost &cost = costs[&block];
    cost = costOf(tasks, order.steps, order.timeline);
    cost::LiveMemory memory(tasks.tasks, tasks.storages);
    std::vector<Inner> &inside = inner[&block];
    for (const cost::Step &step : order.steps) {
      Operation *op = tasks.ops[step.task];
      if (step.kind != cost::Step::Wait) {
        int64_t live = memory.during(step.task);
        memory.begin(step.task);
        if (op->getNumRegions() && !isa<exec::FusedOp>(op))
          inside.push_back({op, live});
      }
      if (step.kind != cost::Step::Start)
        memory.end(step.task);
    }
    return cost;
  }

  void describe(Block &block, const Rule &program, int64_t outside, double times) {
    Rule rule = program;
    const BlockCost &cost = costs.at(&block);
    rule.usualBytes = std::max(cost.peakBytes, usual - outside);
    rule.otherBytes = program.otherBytes + usual - *rule.usualBytes;
    if (program.mostBytes)
      rule.mostBytes = std::max<int64_t>(0, *program.mostBytes - outside);
    rule.times = times;
    rule.otherSeconds = std::max(0.0, total - times * cost.seconds);
    rules[&block] = rule;
    for (const Inner &in : inner.at(&block))
      for (Region &region : in.op->getRegions()) {
        Block &next = region.front();
        int64_t around = outside + std::max<int64_t>(0, in.outside - costs.at(&next).peakBytes);
        Rule asFor = program;
        asFor.overlap = overlapOf(in.op).value_or(program.overlap);
        describe(next, asFor, around, times * static_cast<double>(getTripCount(in.op).value_or(1)));
      }
  }

  const cost::Topology &topology;
  const sdy::MeshTable &meshes;
  const Rule &asked;
  Rules &rules;
  llvm::DenseMap<Block *, BlockCost> costs;
  llvm::DenseMap<Block *, std::vector<Inner>> inner;
  double total = 0;
  int64_t usual = 0;
};

} // namespace

void addRules(func::FuncOp func, const cost::Topology &topology, const sdy::MeshTable &meshes,
              const Rule &asked, Rules &rules) {
  for (Block &block : func.getBody())
    Measurement(topology, meshes, asked, rules).run(func, block);
}

} // namespace tessera::order
