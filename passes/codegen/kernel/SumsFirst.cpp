#include "passes/codegen/kernel/SumsFirst.h"

#include "passes/codegen/kernel/InnerProducts.h"

#include "llvm/ADT/STLExtras.h"

namespace tessera::codegen {

// Whether what a root makes of the sums has functions, each some ten operations by vectors.
static bool isDear(llvm::ArrayRef<Node *> roots, DimSet results) {
  llvm::SmallVector<Node *> pending(roots.begin(), roots.end());
  llvm::DenseSet<Node *> seen;
  while (!pending.empty()) {
    Node *node = pending.pop_back_val();
    if (node->op == Op::Reduced || !(node->deps & results) || !seen.insert(node).second)
      continue;
    if (isFunction(node->op))
      return true;
    pending.append(node->operands.begin(), node->operands.end());
  }
  return false;
}

llvm::SmallVector<Node *> sumsFirst(const Graph &graph, const LoopGroup &results,
                                    llvm::ArrayRef<Node *> roots) {
  constexpr int64_t enough = 16;
  auto [low, high] = boundsOf(graph, results);
  DimSet own = setOf(results);
  if (high - low < enough || !isDear(roots, own))
    return {};
  llvm::SmallVector<Node *> sums;
  for (Node *node : outermostReductions(roots)) {
    if (!(node->deps & own))
      continue;
    const Reduction &sum = *node->reduction;
    if (sum.order != Reduction::Rows || sum.simple.empty() || node->kind == ElementKind::I1)
      return {};
    sums.push_back(node);
  }
  return sums;
}

} // namespace tessera::codegen
