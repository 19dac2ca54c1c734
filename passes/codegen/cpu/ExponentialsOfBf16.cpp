#include "passes/codegen/cpu/ExponentialsOfBf16.h"

#include "llvm/ADT/DenseMap.h"

namespace tessera::codegen {

// What such an exponential is of; null: it is none.
static Node *operandOf(Node *node) {
  auto ofConvert = [](Node *node) { return node->op == Op::Convert ? node->operands[0] : nullptr; };
  Node *exact = node->kind == ElementKind::BF16 ? ofConvert(node) : nullptr;
  Node *x = exact && exact->op == Op::Exp ? ofConvert(exact->operands[0]) : nullptr;
  return x && x->kind == ElementKind::BF16 ? x : nullptr;
}

Node *asExponentialOfBf16(Graph &graph, Node *node) {
  Node *x = operandOf(node);
  return x ? graph.make(Op::Exp, ElementKind::BF16, {x}) : node;
}

void roundExponentials(llvm::ArrayRef<Node *> roots) {
  std::vector<Node *> live = Graph::reachable(roots);
  llvm::DenseMap<Node *, unsigned> readers;
  for (Node *node : live) {
    for (Node *operand : node->operands)
      ++readers[operand];
    if (node->reduction)
      for (Node *input : node->reduction->inputs)
        ++readers[input];
  }
  for (Node *node : live)
    if (Node *x = operandOf(node); x && readers[node->operands[0]] == 1) {
      node->op = Op::Exp;
      node->operands = {x};
    }
}

} // namespace tessera::codegen
