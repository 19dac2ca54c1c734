#include "passes/codegen/kernel/RowsPast.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

namespace tessera::codegen {

// The only reduction along the columns.
static Reduction *onlySum(const LoopGroup &columns, llvm::ArrayRef<Node *> live) {
  Reduction *found = nullptr;
  for (Node *node : live) {
    if (node->op == Op::Keep)
      return nullptr;
    if (node->op != Op::Reduced || !(node->deps & setOf(columns)))
      continue;
    if (found && found != node->reduction)
      return nullptr;
    found = node->reduction;
  }
  return found;
}

// Nodes that depend on the reduced loop and not on columns, seen from the terms.
static llvm::SmallVector<Node *> partsOfRows(const Reduction &sum, DimSet columns) {
  llvm::SmallVector<Node *> found, pending(sum.inputs.begin(), sum.inputs.end());
  llvm::DenseSet<Node *> seen;
  while (!pending.empty()) {
    Node *node = pending.pop_back_val();
    if (!(node->deps & sum.ownDims) || !seen.insert(node).second)
      continue;
    if (!(node->deps & columns)) {
      found.push_back(node);
      continue;
    }
    pending.append(node->operands.begin(), node->operands.end());
    if (node->mask)
      pending.push_back(node->mask);
    if (node->index)
      for (auto [inner, factor] : node->index->nodes)
        pending.push_back(inner);
  }
  return found;
}

std::optional<RowsPast> rowsPast(const Graph &graph, const LoopGroup &columns,
                                 llvm::ArrayRef<Node *> live) {
  constexpr int64_t manyRows = 64, pageElements = 512, cachedElements = 1 << 18;
  RowsPast past;
  past.reduction = onlySum(columns, live);
  if (!past.reduction)
    return std::nullopt;
  const Reduction &sum = *past.reduction;
  if (sum.order != Reduction::Columns || sum.simple.empty() || sum.isOfParts ||
      sum.loops.size() != 1 || collapseLoops(graph, sum.loops[0], live, {}).size() != 1)
    return std::nullopt;
  int64_t rows = pointsOf(graph, sum.dims);
  if (rows < manyRows)
    return std::nullopt;
  for (Node *node : Graph::reachable(sum.inputs)) {
    if (node->op == Op::Reduced && (node->deps & (sum.ownDims | setOf(columns))))
      return std::nullopt;
    if (node->op != Op::Load || !(node->deps & setOf(columns)) || !(node->deps & sum.ownDims) ||
        strideOf(node->index, columns) != 1)
      continue;
    int64_t step = std::abs(strideOf(node->index, sum.loops[0]).value_or(0));
    past.isFar |= step >= pageElements && step * rows >= cachedElements;
  }
  past.ofRows = partsOfRows(sum, setOf(columns));
  past.isDear = llvm::any_of(Graph::reachable(past.ofRows), [&](Node *node) {
    return (node->op == Op::Div || isFunction(node->op)) && (node->deps & sum.ownDims);
  });
  if (!past.isFar && !past.isDear)
    return std::nullopt;
  return past;
}

} // namespace tessera::codegen
