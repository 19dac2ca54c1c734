#include "lib/sharding/PropagationConflicts.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

namespace tessera::sharding {
namespace {

Refusal refusalOf(const TensorSharding &tensor, const TensorFactors &factors, int32_t factor,
                  llvm::ArrayRef<AxisRef> own, llvm::ArrayRef<AxisRef> axes) {
  if (own == axes)
    return Refusal::None;
  if (!isPrefix(own, axes))
    return Refusal::OtherAxes;
  // What is missing.
  AxisRefs missing = axes.size() > own.size() ? AxisRefs(axes.drop_front(own.size()))
                                              : AxisRefs(axes.take_back(1));
  if (overlap(tensor.replicated, missing) || overlap(tensor.unreduced, missing))
    return Refusal::Replicated;
  for (auto [dim, dimFactors] : llvm::zip_equal(tensor.dims, factors)) {
    bool here = llvm::is_contained(dimFactors, factor);
    if (!here && overlap(dim.axes, missing))
      return Refusal::OtherDim;
    if (here && dim.closed)
      return Refusal::Closed;
    if (here && dimFactors.size() > 1)
      return Refusal::Uneven;
  }
  return Refusal::NotReached;
}

} // namespace

llvm::SmallVector<Conflict, 0> conflictsOf(const PropagationGraph &graph, int32_t index) {
  llvm::SmallVector<Conflict, 0> conflicts;
  const PropagatedOp &op = graph.ops[index];
  const FactorRule &rule = graph.rules[op.rule];
  std::vector<TensorSharding> tensors;
  std::vector<llvm::SmallVector<std::optional<AxisRefs>>> axes;
  auto factorsOf = [&](size_t t) -> const TensorFactors & {
    return t < rule.operands.size() ? rule.operands[t] : rule.results[t - rule.operands.size()];
  };
  int32_t mesh = -1;
  for (const auto *values : {&op.operands, &op.results})
    for (int32_t value : *values) {
      // Axes of two meshes can't be compared, and none was turned down for the other.
      int32_t other = graph.values[value].mesh;
      if (mesh >= 0 && other >= 0 && other != mesh)
        return conflicts;
      mesh = std::max(mesh, other);
      const TensorSharding &sharding = graph.values[value].sharding;
      int32_t t = tensors.size();
      tensors.push_back(op.viewed == t ? seenThrough(op.view, sharding) : sharding);
      axes.push_back(axesByFactor(tensors.back(), factorsOf(t), rule));
    }
  for (int32_t f = 0, e = rule.factors.size(); f < e; ++f) {
    Conflict conflict{index, f, {}, {}};
    for (const auto &row : axes)
      if (row[f] && shardCount(*row[f]) > shardCount(conflict.axes))
        conflict.axes = *row[f];
    if (conflict.axes.empty())
      continue;
    bool moves = false;
    for (auto [t, row] : llvm::enumerate(axes)) {
      if (!row[f])
        continue;
      Refusal refusal = refusalOf(tensors[t], factorsOf(t), f, *row[f], conflict.axes);
      // An operand that is whole is sliced for nothing; a result that is whole must be gathered.
      bool whole = t < rule.operands.size() && row[f]->empty() && refusal != Refusal::OtherDim;
      moves |= refusal != Refusal::None && !whole;
      conflict.proposals.push_back({static_cast<int32_t>(t), *row[f], refusal});
    }
    if (moves)
      conflicts.push_back(std::move(conflict));
  }
  return conflicts;
}

} // namespace tessera::sharding
