// What ops read of each other by way of others that the graph has not: scalars have no dimension to divide, so
// that arithmetic on them has no rule, and what is made of a sum by it would be made of nothing.
//
//   s = |g|^2    t = 1 / sqrt(s)    u = t g       the graph has s and u; u reads s
#include "passes/plan/PlanProgram.h"

namespace tessera {

using namespace mlir;

namespace {

void makeUnique(SmallVectorImpl<int32_t> &numbers) {
  llvm::sort(numbers);
  numbers.erase(llvm::unique(numbers), numbers.end());
}

class DistantValues {
public:
  DistantValues(const ModuleGraph &graph, size_t ops) : graph(graph) {
    for (size_t op = 0; op < ops; ++op)
      ruled.insert(graph.opAt(int32_t(op)));
  }

  // Values of the graph that one is made of, itself not among them.
  ArrayRef<int32_t> madeOf(Value value) {
    if (!value || isOfGraph(value))
      return {};
    if (auto it = known.find(value); it != known.end())
      return it->second;
    return known.try_emplace(value, find(value)).first->second;
  }

private:
  // An op of the graph makes it, or it is handed over.
  bool isOfGraph(Value value) const {
    return !value.getDefiningOp() || ruled.contains(value.getDefiningOp());
  }

  // Of what was asked for before, what it is made of is known: along a chain of scalars of which each is read,
  // each step is walked once.
  SmallVector<int32_t, 2> find(Value value) const {
    SmallVector<int32_t, 2> found;
    SmallVector<Value> open{value};
    llvm::DenseSet<Value> seen{value};
    while (!open.empty())
      for (Value operand : open.pop_back_val().getDefiningOp()->getOperands()) {
        if (!seen.insert(operand).second)
          continue;
        if (isOfGraph(operand)) {
          if (int32_t number = graph.find(operand); number >= 0)
            found.push_back(number);
        } else if (auto before = known.find(operand); before != known.end()) {
          llvm::append_range(found, before->second);
        } else {
          open.push_back(operand);
        }
      }
    makeUnique(found);
    return found;
  }

  const ModuleGraph &graph;
  llvm::DenseSet<Operation *> ruled;
  llvm::DenseMap<Value, SmallVector<int32_t, 2>> known;
};

} // namespace

void PlanProgram::findDistantReads() {
  DistantValues values(*graph, program.graph.ops.size());
  program.distantReads.resize(program.graph.ops.size());
  for (auto [op, reads] : llvm::zip_equal(program.graph.ops, program.distantReads)) {
    for (int32_t v : op.operands)
      llvm::append_range(reads, values.madeOf(graph->valueAt(v)));
    makeUnique(reads);
  }
}

} // namespace tessera
