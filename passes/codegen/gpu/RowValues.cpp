#include "passes/codegen/gpu/RowValues.h"

#include "llvm/ADT/STLExtras.h"

namespace tessera::codegen::gpu {

static DimSet rowsOf(const NestGraph &nest) {
  return setOf(
      llvm::ArrayRef(nest.dims).take_front(nest.takesRows() ? nest.outerDims : nest.dims.size()));
}

RowValues::RowValues(const NestGraph &nest, llvm::ArrayRef<Node *> live) : rows(rowsOf(nest)) {
  for (Node *node : live)
    findIn(nest.g->graph, node);
  for (const Root &root : nest.roots)
    for (Node *value : {root.value.re, root.value.im})
      if (root.isOfRow || !nest.takesRows())
        add(value);
      else
        addUsed(value);
}

void RowValues::findIn(const Graph &graph, Node *node) {
  bool isLoad = node->op == Op::Load && isOfRow(node) && node->deps &&
                graph.buffers[node->buffer()].source == BufferInfo::Argument;
  if (isLoad && waitsForRow(graph, node))
    late.insert(node);
  else if (isLoad)
    add(node);
  if (node->local || isOfRow(node))
    return;
  auto use = [&](Node *used) { addUsed(used); };
  if (node->op != Op::Load) // what it waits for is over by then
    llvm::for_each(node->operands, use);
  if (node->index)
    for (auto [used, factor] : node->index->nodes)
      use(used);
  use(node->mask);
  if (Reduction *sum = node->reduction) {
    llvm::for_each(sum->inputs, use);
    llvm::for_each(sum->inits, use);
  }
}

// Elements of it that are kept, or its sums, say which element is read, or whether one is.
bool RowValues::waitsForRow(const Graph &graph, const Node *load) const {
  llvm::SmallVector<Node *> decides{load->mask};
  llvm::append_range(decides, llvm::make_first_range(load->index->nodes));
  return llvm::any_of(Graph::reachable(decides), [&](Node *node) {
    return node->op == Op::Keep || isSum(node) ||
           (node->op == Op::Load && graph.buffers[node->buffer()].source == BufferInfo::Scratch);
  });
}

void RowValues::addUsed(Node *used) {
  if (used && isOfRow(used) && dependsOnRows(used))
    add(used);
}

// On the only row, no loop says so.
bool RowValues::dependsOnRows(Node *node) const {
  return node->deps ||
         llvm::any_of(Graph::reachable(node), [&](Node *inside) { return isSum(inside); });
}

void RowValues::add(Node *node) {
  if (node && node->op != Op::Constant)
    numbers.insert({node, count()});
}

} // namespace tessera::codegen::gpu
