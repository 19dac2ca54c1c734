#include "lib/sharding/PropagationGraph.h"
#include "lib/sharding/CommonSharding.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include <set>

namespace tessera::sharding {
namespace {

constexpr int kLevels = 5;
constexpr int kAllFactors = 3; // the first level at which axes also flow along factors that an op
                               // reduces, or whose values cross the boundaries of shards

Flow flowAt(const PropagatedOp &op, int level) {
  switch (op.opClass) {
  case OpClass::PassThrough:
    return level > 0 || op.singleUse ? Flow::Both : Flow::None;
  case OpClass::Slice:
    return level >= 2 ? Flow::Both : level > 0 || op.singleUse ? Flow::Forward : Flow::None;
  case OpClass::Broadcast:
    return level >= 4 ? Flow::Both : level >= 2 ? Flow::Backward : Flow::None;
  case OpClass::Other:
    return level >= 2 ? Flow::Both : Flow::None;
  case OpClass::Fixed:
    return op.flow;
  case OpClass::Return:
    return Flow::Both;
  }
  return Flow::None;
}

// The last op put in is the first taken out; an op waits once at most.
class Worklist {
public:
  explicit Worklist(size_t size) : waiting(size, false) {}
  void push(int32_t op) {
    if (waiting[op])
      return;
    waiting[op] = true;
    stack.push_back(op);
  }
  bool empty() const { return stack.empty(); }
  int32_t pop() {
    int32_t op = stack.back();
    stack.pop_back();
    waiting[op] = false;
    return op;
  }

private:
  std::vector<int32_t> stack;
  std::vector<bool> waiting;
};

void putBack(const ManualView &view, const TensorSharding &outside, TensorSharding &inside) {
  for (auto [to, from, prefix] : llvm::zip_equal(inside.dims, outside.dims, view.dims))
    to.axes.assign(from.axes.begin() + prefix.size(), from.axes.end());
}

// Elements of a tensor along what can be sharded: a convolution's window doesn't count.
int64_t elementsOf(const TensorFactors &tensor, const FactorRule &rule) {
  int64_t elements = 1;
  for (const DimFactors &dim : tensor)
    for (int32_t factor : dim)
      if (rule.factors[factor].kind != FactorKind::NeedReplication)
        elements *= rule.factors[factor].size;
  return elements;
}

class Propagator {
public:
  explicit Propagator(PropagationGraph &graph)
      : graph(graph), worklist(graph.ops.size()), ofRules(graph.rules.size()),
        settledAs(graph.ops.size(), kUnsettled) {
    for (auto [rule, facts] : llvm::zip_equal(graph.rules, ofRules)) {
      for (const auto *side : {&rule.operands, &rule.results})
        for (const TensorFactors &tensor : *side)
          facts.elements.push_back(elementsOf(tensor, rule));
      for (auto [f, factor] : llvm::enumerate(rule.factors))
        if (factor.kind != FactorKind::PassThrough)
          facts.late.push_back(int64_t(f));
    }
    for (const PropagatedValue &value : graph.values)
      if (value.group >= 0) {
        if (groups.size() <= static_cast<size_t>(value.group))
          groups.resize(value.group + 1);
        groups[value.group].push_back(&value - graph.values.data());
      }
    for (auto [i, op] : llvm::enumerate(graph.ops))
      if (op.opClass == OpClass::Return)
        returns.push_back(i);
  }

  void run() {
    for (auto &group : groups)
      unify(group);
    std::set<int64_t> priorities = {0};
    for (const PropagatedValue &value : graph.values)
      for (const DimSharding &dim : value.sharding.dims) {
        afterAll = std::max(afterAll, dim.priority.value_or(0) + 1);
        if (dim.priority)
          priorities.insert(*dim.priority);
      }
    for (const PropagatedValue &value : graph.values)
      for (const DimSharding &dim : value.sharding.dims)
        if (int64_t priority = priorityOf(value, dim))
          priorities.insert(priority);
    std::vector<Hidden> hidden;
    for (int64_t priority : priorities) {
      show(hidden);
      hide(hidden, priority);
      settledAs.assign(settledAs.size(), kUnsettled);
      for (int level = 0; level < kLevels; ++level)
        runLevel(level);
    }
  }

private:
  // Gives the members what their annotations say together. One that contradicts those before it is
  // no member any more.
  void unify(llvm::SmallVectorImpl<int32_t> &group) {
    llvm::SmallVector<GroupMember> members;
    for (int32_t member : group)
      members.push_back({graph.values[member].mesh, &graph.values[member].sharding});
    GroupSharding all = groupSharding(members);
    if (all.mesh < 0)
      return;
    for (unsigned m : llvm::reverse(all.contradict)) {
      graph.values[group[m]].group = -1;
      group.erase(group.begin() + m);
    }
    int32_t first = *llvm::find_if(group, [&](int32_t m) { return graph.values[m].mesh >= 0; });
    graph.values[first].sharding = std::move(all.sharding);
    copyToGroup(first);
  }

  void runLevel(int now) {
    level = now;
    for (int32_t op : returns)
      visit(op, Flow::Both);
    for (size_t i = graph.ops.size(); i-- > 0;)
      if (graph.ops[i].opClass != OpClass::Return && flowAt(graph.ops[i], level) != Flow::None)
        worklist.push(i);
    while (!worklist.empty()) {
      int32_t op = worklist.pop();
      if (Flow flow = flowAt(graph.ops[op], level);
          flow != Flow::None && graph.ops[op].opClass != OpClass::Return)
        visit(op, flow);
    }
    for (int32_t op : returns)
      visit(op, Flow::Both);
  }

  // The mesh that all of an op's tensors are on; -1 when they have none, or differ.
  int32_t meshOf(const PropagatedOp &op) const {
    int32_t mesh = -1;
    for (const auto &list : {op.operands, op.results})
      for (int32_t v : list) {
        int32_t other = graph.values[v].mesh;
        if (mesh >= 0 && other >= 0 && mesh != other)
          return -1;
        mesh = std::max(mesh, other);
      }
    return mesh;
  }

  // A visit that changes nothing does so again in this way until one of the op's values changes.
  void visit(int32_t index, Flow flow) {
    bool all = level >= kAllFactors || ofRules[graph.ops[index].rule].late.empty();
    auto way = static_cast<int8_t>(2 * static_cast<int>(flow) + all);
    if (settledAs[index] == way)
      return;
    settledAs[index] = way;
    visitUnsettled(index, flow);
  }

  void visitUnsettled(int32_t index, Flow flow) {
    const PropagatedOp &op = graph.ops[index];
    int32_t mesh = meshOf(op);
    if (mesh < 0)
      return;
    llvm::SmallVector<TensorSharding *> tensors;
    llvm::SmallVector<int64_t> blocked(op.blocked.begin(), op.blocked.end());
    llvm::SmallVector<int32_t> values(op.operands.begin(), op.operands.end());
    values.append(op.results.begin(), op.results.end());
    if (level < kAllFactors)
      blocked.append(ofRules[op.rule].late);
    // A value that is operand twice is extended once for both.
    for (int32_t v : values)
      tensors.push_back(&graph.values[v].sharding);
    TensorSharding outside;
    if (op.viewed >= 0) {
      outside = seenThrough(op.view, *tensors[op.viewed]);
      tensors[op.viewed] = &outside;
    }
    std::vector<TensorSharding> before;
    if (graph.recordSteps)
      for (TensorSharding *tensor : tensors)
        before.push_back(*tensor);
    llvm::SmallVector<const TensorLimits *> valueLimits;
    if (!limits.empty())
      for (int32_t v : values)
        valueLimits.push_back(limits.contains(v) ? &limits[v] : nullptr);
    OpPropagation step{graph.rules[op.rule], ofRules[op.rule].elements, blocked, flow, valueLimits,
                       op.elementwise};
    auto seconds = [&](llvm::ArrayRef<TensorSharding> after) {
      return graph.seconds(index, mesh, after);
    };
    if (graph.seconds && op.viewed < 0)
      step.seconds = seconds;
    llvm::SmallVector<int32_t> changed = propagateThroughOp(step, tensors);
    for (int32_t t : changed) {
      PropagatedValue &value = graph.values[values[t]];
      if (op.viewed == t)
        putBack(op.view, outside, value.sharding);
      value.mesh = mesh;
    }
    for (int32_t t : changed) {
      if (graph.recordSteps)
        record(index, values, before, tensors, t);
      notify(values[t]);
      if (graph.values[values[t]].group >= 0)
        copyToGroup(values[t]);
    }
  }

  // Comes next: its users in order, then what makes it, then those in the regions of a loop that
  // carries it.
  void notify(int32_t value) {
    const PropagatedValue &changed = graph.values[value];
    for (int32_t op : changed.ops)
      settledAs[op] = kUnsettled;
    auto makes = [&](int32_t op) { return llvm::is_contained(graph.ops[op].results, value); };
    for (int32_t op : llvm::reverse(
             llvm::ArrayRef(changed.ops).drop_front(std::min(changed.outside, changed.ops.size()))))
      worklist.push(op);
    llvm::ArrayRef<int32_t> outside =
        llvm::ArrayRef(changed.ops).take_front(std::min(changed.outside, changed.ops.size()));
    for (int32_t op : outside)
      if (makes(op))
        worklist.push(op);
    for (int32_t op : llvm::reverse(outside))
      if (!makes(op))
        worklist.push(op);
  }

  void copyToGroup(int32_t from) {
    const PropagatedValue &source = graph.values[from];
    for (int32_t member : groups[source.group]) {
      if (member == from)
        continue;
      PropagatedValue &value = graph.values[member];
      if (graph.recordSteps)
        for (auto [was, now] : llvm::zip_equal(value.sharding.dims, source.sharding.dims))
          if (was.axes != now.axes)
            graph.steps.push_back({member, -1, from, now.axes});
      value.sharding = source.sharding;
      value.mesh = source.mesh;
      notify(member);
    }
  }

  void record(int32_t op, llvm::ArrayRef<int32_t> values, llvm::ArrayRef<TensorSharding> before,
              llvm::ArrayRef<TensorSharding *> after, int32_t t) {
    for (auto [was, now] : llvm::zip_equal(before[t].dims, after[t]->dims)) {
      if (was.axes == now.axes)
        continue;
      AxisRefs added;
      for (const AxisRef &axis : now.axes)
        if (!overlap(axis, was.axes))
          added.push_back(axis);
      int32_t source = -1;
      for (auto [i, tensor] : llvm::enumerate(before))
        if (source < 0 && static_cast<int32_t>(i) != t && !added.empty() &&
            llvm::any_of(
                tensor.dims, [&](const DimSharding &dim) { return overlap(dim.axes, added); }))
          source = values[i];
      graph.steps.push_back({values[t], op, source, added.empty() ? now.axes : added});
    }
  }

  int64_t priorityOf(const PropagatedValue &value, const DimSharding &dim) const {
    return dim.priority.value_or(0) + (value.last ? afterAll : 0);
  }

  // Dimensions whose priority isn't due yet.
  struct Hidden {
    int32_t value, dim;
    DimSharding sharding;
  };

  void hide(std::vector<Hidden> &hidden, int64_t priority) {
    for (auto [v, value] : llvm::enumerate(graph.values))
      for (auto [d, dim] : llvm::enumerate(value.sharding.dims))
        if (priorityOf(value, dim) > priority) {
          hidden.push_back({static_cast<int32_t>(v), static_cast<int32_t>(d), dim});
          limits[v].reserved.append(dim.axes);
          limits[v].frozen.push_back(d);
          dim = {{}, /*closed=*/false, dim.priority};
        }
  }

  void show(std::vector<Hidden> &hidden) {
    for (Hidden &entry : hidden)
      graph.values[entry.value].sharding.dims[entry.dim] = entry.sharding;
    hidden.clear();
    limits.clear();
  }

  PropagationGraph &graph;
  int level = 0;
  int64_t afterAll = 1; // the first priority behind all that users gave
  Worklist worklist;
  struct RuleFacts {
    llvm::SmallVector<int64_t, 4> elements; // of its tensors
    llvm::SmallVector<int64_t, 4> late;     // factors along which nothing flows at first
  };
  std::vector<RuleFacts> ofRules;
  static constexpr int8_t kUnsettled = -1;
  std::vector<int8_t> settledAs; // by op: the way in which the last visit changed nothing
  std::vector<llvm::SmallVector<int32_t>> groups;
  llvm::SmallVector<int32_t> returns;
  llvm::DenseMap<int32_t, TensorLimits> limits; // of values with hidden dimensions
};

} // namespace

TensorSharding seenThrough(const ManualView &view, const TensorSharding &inside) {
  TensorSharding outside = inside;
  for (auto [dim, prefix] : llvm::zip_equal(outside.dims, view.dims)) {
    AxisRefs axes = prefix;
    axes.append(dim.axes);
    dim.axes = axes;
  }
  outside.replicated.append(view.replicated);
  outside.unreduced.append(view.unreduced);
  return outside;
}

void propagate(PropagationGraph &graph) { Propagator(graph).run(); }

} // namespace tessera::sharding
