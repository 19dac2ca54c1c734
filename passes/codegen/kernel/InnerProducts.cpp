#include "passes/codegen/kernel/InnerProducts.h"

#include "llvm/ADT/DenseSet.h"

namespace tessera::codegen {

llvm::SmallVector<Node *> outermostReductions(llvm::ArrayRef<Node *> roots) {
  llvm::SmallVector<Node *> reductions;
  llvm::DenseSet<Node *> seen;
  auto visit = [&](auto &visit, Node *node) -> void {
    if (!node || !seen.insert(node).second)
      return;
    if (node->op == Op::Reduced) {
      reductions.push_back(node);
      return;
    }
    for (Node *operand : node->operands)
      visit(visit, operand);
    visit(visit, node->mask);
    if (node->index)
      for (auto [inner, factor] : node->index->nodes)
        visit(visit, inner);
  };
  for (Node *root : roots)
    visit(visit, root);
  return reductions;
}

double numberOf(Node *node) {
  llvm::APFloat value(semanticsOf(node->kind),
                      llvm::APInt(64, node->bits).trunc(bitWidth(node->kind)));
  bool losesInfo;
  value.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  return value.convertToDouble();
}

} // namespace tessera::codegen
