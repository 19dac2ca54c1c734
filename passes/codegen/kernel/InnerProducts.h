// Walks over a graph in which reductions are made of reductions: an attention's sums of scores.
#pragma once

#include "passes/codegen/kernel/Graph.h"

namespace tessera::codegen {

// The reductions that the roots are computed from, those within others apart.
llvm::SmallVector<Node *> outermostReductions(llvm::ArrayRef<Node *> roots);

// A sum of products, kept in f32.
inline bool isProductSum(Node *node) {
  return node->op == Op::Reduced && node->reduction->order == Reduction::Chain &&
         node->kind == ElementKind::F32;
}

// What a float is before it is rounded or widened.
inline Node *throughConvert(Node *node) {
  while (node->op == Op::Convert && isFloat(node->kind) && isFloat(node->operands[0]->kind))
    node = node->operands[0];
  return node;
}

// Of a float constant.
double numberOf(Node *node);
inline bool isZero(Node *node) {
  node = throughConvert(node);
  return node->op == Op::Constant && isFloat(node->kind) && numberOf(node) == 0;
}

} // namespace tessera::codegen
