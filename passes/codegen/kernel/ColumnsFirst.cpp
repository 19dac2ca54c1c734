#include "passes/codegen/kernel/ColumnsFirst.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

namespace tessera::codegen {

static bool isDear(const Node *node) {
  return isFunction(node->op) || node->op == Op::Div || node->op == Op::Sqrt ||
         node->op == Op::Rsqrt;
}

// A value of its own, whose dear parts are of columns: what is of none is computed once anyhow.
static bool isWorthKeeping(Node *node, DimSet columns) {
  if (node->kind == ElementKind::I1 || node->local)
    return false;
  bool isWorth = false;
  for (const Node *part : Graph::reachable({node})) {
    if (part->op == Op::Reduced || part->op == Op::Keep || part->op == Op::External)
      return false;
    isWorth |= isDear(part) && (part->deps & columns);
  }
  return isWorth;
}

llvm::SmallVector<Node *> columnsFirst(DimSet rows, const LoopGroup &columns,
                                       llvm::ArrayRef<Node *> roots) {
  DimSet own = setOf(columns);
  llvm::SmallVector<Node *> found, pending(roots.begin(), roots.end());
  llvm::DenseSet<Node *> seen;
  while (!pending.empty()) {
    Node *node = pending.pop_back_val();
    if (!(node->deps & own) || !seen.insert(node).second || node->op == Op::Reduced)
      continue;
    if (!(node->deps & rows)) {
      if (isWorthKeeping(node, own))
        found.push_back(node);
      continue;
    }
    pending.append(node->operands.begin(), node->operands.end());
    if (node->mask)
      pending.push_back(node->mask);
  }
  return found;
}

} // namespace tessera::codegen
