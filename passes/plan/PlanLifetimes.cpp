// When a planned program's values are held, before anything is in parts.
#include "passes/plan/PlanProgram.h"

#include "dialects/interfaces/OpInterfaces.h"

#include <map>

namespace tessera {

using namespace mlir;
using plan::ValueFacts;
using sharding::PropagatedOp;

// When each value is first and last mentioned, in loops that it comes from outside of to their end.
void PlanProgram::findLifetimes() {
  const auto &ops = program.graph.ops;
  llvm::DenseMap<Operation *, std::pair<int32_t, int32_t>> extents; // of ops with regions
  for (size_t index = 0; index < ops.size(); ++index)
    for (Operation *around = graph->opAt(int32_t(index)); around; around = around->getParentOp()) {
      auto at = int32_t(index);
      auto [it, isNew] = extents.try_emplace(around, at, at);
      it->second.second = at;
    }
  for (ValueFacts &facts : program.values)
    facts.first = -1;
  for (size_t index = 0; index < ops.size(); ++index) {
    Operation *ir = graph->opAt(int32_t(index));
    auto mention = [&](int32_t v, bool enters) {
      ValueFacts &facts = program.values[v];
      int32_t last = endOf[index];
      Value value = graph->valueAt(v);
      Operation *outer = value ? value.getParentBlock()->findAncestorOpInBlock(*ir) : nullptr;
      if (enters && outer == ir) // a loop takes it over when it begins
        last = extents.lookup(ir).first;
      else if (outer)
        last = std::max(last, extents.lookup(outer).second);
      if (facts.first < 0)
        facts.first = std::min(enters ? int32_t(index) : endOf[index], last);
      // What is a view holds what it looks at.
      for (int32_t held = v; held >= 0; held = viewed[held])
        program.values[held].last = std::max(program.values[held].last, last);
    };
    for (int32_t v : ops[index].operands)
      mention(v, program.ops[index].moves);
    for (int32_t v : ops[index].results)
      mention(v, false);
  }
  for (size_t index = 0; index < ops.size(); ++index)
    program.ops[index].turns = {{int32_t(index), endOf[index], ops[index].operands}};
  auto last = int32_t(ops.empty() ? 0 : ops.size() - 1);
  for (ValueFacts &facts : program.values) {
    facts.first = std::max(facts.first, 0);
    if (facts.argument >= 0)
      facts.first = 0;
    if (facts.argument >= 0 || facts.result >= 0)
      facts.last = last;
  }
}

// Values that lie in the place of others.
void PlanProgram::shareMemory() {
  const auto &ops = program.graph.ops;
  llvm::DenseSet<int32_t> donated; // results
  for (const ValueFacts &facts : program.values)
    if (facts.donated && facts.donatedTo >= 0)
      donated.insert(facts.donatedTo);
  for (size_t index = 0; index < ops.size(); ++index) {
    const PropagatedOp &op = ops[index];
    if (program.ops[index].moves) {
      ValueFacts &target = program.values[op.results[0]];
      bool given = donated.contains(target.result);
      target.stored &= !given;
      // What a round leaves for the next lies where the loop keeps it; what is returned, too.
      for (int32_t v : op.operands)
        if (program.values[v].argument < 0 && v != op.results[0] &&
            (given || target.result >= 0 || program.values[v].times > target.times)) {
          program.values[v].stored = false;
          target.first = std::min(target.first, program.values[v].first);
        }
    }
  }
  for (auto [read, written] : inPlace)
    if (ValueFacts &facts = program.values[read]; facts.last == program.values[written].first &&
                                                  facts.argument < 0 && facts.first < facts.last)
      --facts.last;
}

// A kernel whose results lie in other arrays, and that is the last one to read something, is run by
// order as soon as its operands are there: a gradient goes into the stack of all layers' at once.
void PlanProgram::runEarly() {
  auto &values = program.values;
  llvm::DenseMap<Block *, int32_t> begins;
  std::map<int32_t, std::vector<int32_t>> kernels; // by their ends
  llvm::DenseSet<int32_t> returned;                // into memory of their own
  for (size_t index = 0; index < program.ops.size(); ++index) {
    Operation *op = graph->opAt(int32_t(index));
    begins.try_emplace(op->getBlock(), int32_t(index));
    const PropagatedOp &ruled = program.graph.ops[index];
    if (const ValueFacts &target = values[ruled.results[0]];
        program.ops[index].moves && target.result >= 0 && target.stored)
      returned.insert(ruled.operands.begin(), ruled.operands.end());
    if (!program.ops[index].moves && fusionKindOf(op) != fusion::NodeKind::Outside)
      kernels[endOf[index]].push_back(int32_t(index));
  }
  for (auto &[end, ops] : kernels) {
    int32_t ready = begins.lookup(graph->opAt(ops.front())->getBlock());
    bool frees = false, holds = false;
    llvm::DenseSet<int32_t> seen, made;
    for (int32_t index : ops)
      for (int32_t v : program.graph.ops[index].results)
        made.insert(v);
    for (int32_t index : ops)
      for (int32_t v : program.graph.ops[index].operands) {
        while (viewed[v] >= 0)
          v = viewed[v];
        bool isIndex = program.graph.values[v].shape.empty(); // is there as early as it is wanted
        if (isIndex || made.contains(v) || !seen.insert(v).second)
          continue;
        ready = std::max(ready, values[v].first);
        frees |= values[v].stored && values[v].last == end && values[v].argument < 0;
      }
    for (int32_t v : made)
      holds |= values[v].stored || returned.contains(v);
    if (ready >= end || !frees || holds)
      continue;
    for (int32_t v : seen)
      if (values[v].last == end)
        values[v].last = ready;
    for (int32_t v : made)
      values[v].first = std::min(values[v].first, ready);
    for (int32_t index : ops)
      program.ops[index].turns = {{ready, ready, program.graph.ops[index].operands}};
  }
}

} // namespace tessera
