// What a row has one of and its elements use, or are: its sums, what follows from them, and what
// operands have one element of for each row. A team computes it, and hands it on in shared memory
// (RowKernel.cpp).
//
//   y[r, c] = exp(x[r, c] - max[r]) * scale[r]      max, scale
//   y[r, c] = exp(sum[r])                           exp(sum): no sum is left to a thread by itself
#pragma once

#include "passes/codegen/kernel/NestGraph.h"

namespace tessera::codegen::gpu {

class RowValues {
public:
  // `live`: all that the nest's results are computed from.
  RowValues(const NestGraph &nest, llvm::ArrayRef<Node *> live);

  const DimSet rows; // the dimensions that say which row
  bool isOfRow(const Node *node) const { return !node->local && !(node->deps & ~rows); }
  bool isSum(const Node *node) const { return node->op == Op::Reduced && isOfRow(node); }

  // What operands have, where nothing of the row says which element: it is read before the row is there.
  bool isRead(Node *node) const { return node->op == Op::Load && !late.contains(node); }

  // Each has a number, the first one 0.
  int64_t count() const { return static_cast<int64_t>(numbers.size()); }
  int64_t numberOf(Node *node) const { return numbers.lookup(node); }
  auto begin() const { return numbers.begin(); }
  auto end() const { return numbers.end(); }

private:
  void findIn(const Graph &graph, Node *node);
  bool waitsForRow(const Graph &graph, const Node *load) const;
  void add(Node *node);
  void addUsed(Node *used);
  bool dependsOnRows(Node *node) const;

  llvm::MapVector<Node *, int64_t> numbers;
  llvm::DenseSet<Node *> late; // loads that wait for the row
};

} // namespace tessera::codegen::gpu
