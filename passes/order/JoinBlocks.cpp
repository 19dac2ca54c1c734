#include "passes/order/JoinBlocks.h"

#include "dialects/comm/Collective.h"
#include "dialects/exec/ExecOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "passes/order/JoinCollectives.h"
#include "passes/order/PlaceOps.h"

using namespace mlir;

namespace tessera::order {
namespace {

constexpr double sizes[] = {4, 1e9}; // of messages that are joined, in their latencies

class Joiner {
public:
  Joiner(Block &block, BlockCosts &costs) : block(block), costs(costs) {}

  void run() {
    tasks = costs.tasksOf(block);
    describe();
    if (!joinable)
      return;
    const Rule rule = costs.rules.lookup(&block);
    Order now = schedule(tasks.tasks, tasks.storages, rule, tasks.carries);
    // Where all are waited for at once, what could start together shows in another order.
    std::vector<cost::Step> beside = overlapped(tasks.tasks, tasks.storages, rule);
    auto price = [&](int task, double size) { return timeOf(task, size); };
    Messages messages{kinds, bytes, price};
    std::vector<std::vector<int>> members;
    cost::Timeline best = now.timeline;
    for (ArrayRef<cost::Step> steps : {ArrayRef(now.steps), ArrayRef(beside)})
      for (double most : sizes) {
        auto buckets = bucketsOf(tasks.tasks, steps, messages, most);
        if (buckets.empty())
          continue;
        JoinedTasks made = join(tasks.tasks, steps, buckets, messages);
        cost::Timeline line = schedule(made.tasks, tasks.storages, rule, tasks.carries).timeline;
        if (line.seconds < best.seconds && isBetter(rule, line, best, now.timeline.peakBytes)) {
          best = line;
          members = std::move(made.members);
        }
      }
    if (!members.empty())
      rebuild(members);
  }

private:
  // Ops are of a kind when all is the same but their shapes.
  void describe() {
    SmallVector<Operation *> firsts;
    for (Operation *op : tasks.ops) {
      kinds.push_back(-1);
      bytes.push_back(0);
      if (!isa<comm::AllReduceOp, comm::AllGatherOp, comm::ReduceScatterOp>(op))
        continue;
      bytes.back() = static_cast<double>(comm::collectiveFacts(op)->bytes);
      auto *same = llvm::find_if(firsts, [&](Operation *first) { return isAlike(first, op); });
      joinable |= same != firsts.end();
      kinds.back() = static_cast<int>(same - firsts.begin());
      if (same == firsts.end())
        firsts.push_back(op);
    }
  }

  static bool isAlike(Operation *a, Operation *b) {
    return a->getName() == b->getName() &&
           a->getPropertiesAsAttribute() == b->getPropertiesAsAttribute() &&
           a->getDiscardableAttrDictionary() == b->getDiscardableAttrDictionary() &&
           getElementTypeOrSelf(a->getOperand(0).getType()) ==
               getElementTypeOrSelf(b->getOperand(0).getType());
  }

  cost::CollectiveTime timeOf(int task, double size) const {
    Operation *op = tasks.ops[task];
    comm::CollectiveFacts facts = *comm::collectiveFacts(op);
    const sharding::Mesh *mesh = costs.meshes.lookup(facts.axes.getMesh().getValue());
    return mesh ? cost::collectiveTime(costs.topology, *mesh, comm::pricedAs(facts.kind), size,
                                       facts.axes.toAxisRefs(*mesh))
                : cost::CollectiveTime();
  }

  void rebuild(ArrayRef<std::vector<int>> members) {
    OpPlacer placer(block);
    SmallVector<SmallVector<Operation *>> joined;
    for (const std::vector<int> &group : members) {
      for (int task : group) // a collective's users come behind its last member
        placer.place(tasks.ops[task]);
      if (group.size() > 1)
        joined.push_back(llvm::map_to_vector(group, [&](int task) { return tasks.ops[task]; }));
    }
    placer.placeViews(block.getTerminator());
    llvm::for_each(joined, joinOps);
  }

  static void joinOps(ArrayRef<Operation *> group) {
    Operation *last = group.back();
    OpBuilder b(last);
    SmallVector<Value> operands, results;
    for (Operation *op : group) {
      llvm::append_range(operands, op->getOperands());
      llvm::append_range(results, op->getResults());
    }
    OperationState state(last->getLoc(), last->getName(), operands, TypeRange(ValueRange(results)));
    state.addAttributes(last->getDiscardableAttrDictionary().getValue());
    state.propertiesAttr = last->getPropertiesAsAttribute();
    Operation *made = b.create(state);
    for (auto [old, now] : llvm::zip_equal(results, made->getResults()))
      old.replaceAllUsesWith(now);
    for (Operation *op : group)
      op->erase();
  }

  Block &block;
  BlockCosts &costs;
  BlockTasks tasks;
  std::vector<int> kinds;
  std::vector<double> bytes;
  bool joinable = false;
};

} // namespace

void joinCollectives(func::FuncOp func, BlockCosts &costs) {
  SmallVector<Block *> blocks; // inner ones first
  func.walk([&](Operation *op) {
    if (!isa<exec::FusedOp>(op))
      for (Region &region : op->getRegions())
        for (Block &block : region)
          if (llvm::count_if(block, [](Operation &inner) { return isCollective(&inner); }) > 1)
            blocks.push_back(&block);
  });
  for (Block *block : blocks)
    Joiner(*block, costs).run();
}

} // namespace tessera::order
