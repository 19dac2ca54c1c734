// The next row is asked for while this one is computed with.
//
//   max(x), sum(exp(x - max)), result     pass 1 reads a row from memory, pass 2 from a cache
//
// A pass that reads what is in a cache by then leaves the memory idle for as long as it computes.
// So the second of a row's passes asks for the row after it, line by line, and the first finds that
// in a cache: both take what the slower of memory and arithmetic takes, rather than their sum.
#include "passes/codegen/cpu/Emitter.h"

#include "llvm/ADT/DenseSet.h"

namespace tessera::codegen {

// Loads that `nodes` need for each of their elements: not what other reductions read.
static llvm::SmallVector<Node *> loadsOf(llvm::ArrayRef<Node *> nodes) {
  llvm::SmallVector<Node *> loads, left(nodes.begin(), nodes.end());
  llvm::DenseSet<Node *> seen(nodes.begin(), nodes.end());
  while (!left.empty()) {
    Node *node = left.pop_back_val();
    if (node->op == Op::Load)
      loads.push_back(node);
    else if (node->op != Op::Reduced)
      for (Node *operand : node->operands)
        if (seen.insert(operand).second)
          left.push_back(operand);
  }
  return loads;
}

// From a row to the next; 0: the same for all of them.
static int64_t stepOfRows(const Node *load, const Reduction &reduction,
                          llvm::ArrayRef<Value> variables) {
  int64_t step = 0;
  for (auto [dim, factor] : load->index->dims)
    if (!(reduction.ownDims >> dim & 1) && variables[dim] && factor > 0)
      step = step ? std::min(step, factor) : factor;
  return step;
}

llvm::SmallVector<Node *> Emitter::loadsOfSecondPass(const Reduction &reduction) {
  // Smaller arrays stay in a second-level cache, and of longer rows there is no room for two.
  constexpr int64_t leastArray = 1 << 20, mostOfRow = 256 << 10;
  llvm::SmallVector<Node *> again;
  if (!features.prefetches)
    return again;
  for (Node *load : loadsOf(reduction.inputs)) {
    const BufferInfo &buffer = graph.buffers[load->buffer()];
    if (buffer.source != BufferInfo::Argument || load->mask || !load->index->nodes.empty() ||
        stepOfRows(load, reduction, variables) == 0)
      continue;
    int64_t bytes = byteSize(load->kind);
    if (buffer.elements * bytes < leastArray || pointsOf(graph, reduction.dims) * bytes > mostOfRow)
      continue;
    auto [pass, isFirst] = passes.try_emplace(load->buffer(), false);
    if (!isFirst && !pass->second)
      again.push_back(load);
    pass->second |= !isFirst;
  }
  return again;
}

void Emitter::prefetchNextRow(Node *load, const Reduction &reduction) {
  constexpr int64_t line = 64, nearRow = 8 << 10;
  Value base, perLane;
  int64_t stride;
  split(load->index, base, stride, perLane);
  if (stride != 1 || perLane)
    return;
  int64_t bytes = byteSize(load->kind), step = stepOfRows(load, reduction, variables);
  bool isShort = pointsOf(graph, reduction.dims) * bytes <= nearRow;
  Value next = element(bufferPointer(load->buffer()), load->kind, b.CreateNSWAdd(base, i64(step)));
  for (int64_t at = 0; at < lanes() * bytes; at += line)
    b.CreateIntrinsic(llvm::Intrinsic::prefetch, {b.getPtrTy()},
                      {b.CreateConstGEP1_64(b.getInt8Ty(), next, at), b.getInt32(/*reads*/ 0),
                       b.getInt32(/*which level*/ isShort ? 3 : 2), b.getInt32(/*data*/ 1)});
}

} // namespace tessera::codegen
