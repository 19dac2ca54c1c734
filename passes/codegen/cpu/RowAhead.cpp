// The next row is asked for while this one is computed with.
//
//   max(x), sum(exp(x - max)), result     pass 1 reads a row from memory, pass 2 from a cache
//
// A pass that reads what is in a cache by then leaves the memory idle for as long as it computes.
// So the last of the reductions that read an operand's row asks for the row after it, line by line,
// and the first finds that in a cache: both take what the slower of memory and arithmetic takes,
// rather than their sum. Where results follow, there is time for the last lines to come. Where none
// do, a short row's would be late, and the first pass asks for them.
#include "passes/codegen/cpu/Emitter.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

namespace tessera::codegen {

// Bytes of a row of which two fit into the first cache.
static constexpr int64_t nearRow = 8 << 10;

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

Emitter::RowPasses Emitter::passesOver(llvm::ArrayRef<Node *> nodes) {
  RowPasses passes;
  llvm::DenseSet<const Reduction *> seen;
  for (const Node *node : nodes) { // operands come first
    const Reduction *reduction = node->reduction;
    if (!reduction || reduction->order != Reduction::Rows || reduction->simple.empty() ||
        !seen.insert(reduction).second)
      continue;
    llvm::SmallDenseSet<int> buffers;
    for (const Node *load : loadsOf(reduction->inputs))
      if (buffers.insert(load->buffer()).second)
        passes[load->buffer()].push_back(reduction);
  }
  return passes;
}

// Whether a row is passed over once more after its reductions: something is read in loops that are
// not open yet, and in no reduction.
static bool isReadAgain(llvm::ArrayRef<Node *> nodes, DimSet open) {
  llvm::DenseSet<const Node *> inside;
  for (const Node *node : nodes)
    if (node->reduction)
      inside.insert_range(loadsOf(node->reduction->inputs));
  return llvm::any_of(nodes, [&](const Node *node) {
    return node->op == Op::Load && (node->index->deps & ~open) != 0 && !inside.contains(node);
  });
}

bool Emitter::asksFor(const Node *load) const {
  constexpr int64_t leastArray = 1 << 20; // smaller ones stay in a second-level cache
  const BufferInfo &buffer = graph.buffers[load->buffer()];
  return features.prefetches && buffer.source == BufferInfo::Argument && !load->mask &&
         load->index->nodes.empty() && buffer.elements * byteSize(load->kind) >= leastArray;
}

llvm::SmallVector<Node *> Emitter::rowsAhead(const Reduction &reduction) {
  constexpr int64_t mostOfRow = 256 << 10; // of longer ones there is no room for two
  llvm::SmallVector<Node *> ahead;
  if (!features.prefetches)
    return ahead;
  if (!rowPasses)
    rowPasses = passesOver(live);
  DimSet open = 0;
  for (const Level &level : levels)
    open |= level.dims;
  bool resultsFollow = isReadAgain(live, open);
  llvm::SmallVector<Node *> loads = loadsOf(reduction.inputs);
  auto passesOf = [&](const Node *load) -> llvm::ArrayRef<const Reduction *> {
    auto found = rowPasses->find(load->buffer());
    return found == rowPasses->end() ? llvm::ArrayRef<const Reduction *>() : found->second;
  };
  // What is kept of a row, or what another pass has read.
  bool readsCached = llvm::any_of(loads, [&](const Node *load) {
    auto passes = passesOf(load);
    return !load->operands.empty() || (!passes.empty() && passes.front() != &reduction);
  });
  llvm::SmallDenseSet<int> buffers;
  for (Node *load : loads) {
    int64_t row = pointsOf(graph, reduction.dims) * byteSize(load->kind);
    if (!asksFor(load) || row > mostOfRow || stepOfRows(load, reduction, variables) == 0)
      continue;
    llvm::ArrayRef<const Reduction *> passes = passesOf(load);
    // A pass that reads nothing else has the memory busy anyhow.
    if (passes.empty() || (passes.size() == 1 && !readsCached))
      continue;
    bool isLast = resultsFollow || row > nearRow;
    if ((isLast ? passes.back() : passes.front()) == &reduction &&
        buffers.insert(load->buffer()).second)
      ahead.push_back(load);
  }
  return ahead;
}

void Emitter::askForNextRow(Node *load, const Reduction &reduction) {
  int64_t row = pointsOf(graph, reduction.dims) * byteSize(load->kind);
  askAhead(load, stepOfRows(load, reduction, variables), row <= nearRow);
}

void Emitter::askAhead(Node *load, int64_t elements, bool isNear) {
  constexpr int64_t line = 64;
  Value base, perLane;
  int64_t stride;
  split(load->index, base, stride, perLane);
  if (stride != 1 || perLane)
    return;
  int64_t bytes = byteSize(load->kind);
  // It may lie past the end: nothing is read there.
  Value next = b.CreateGEP(memoryType(load->kind, b.getContext()), bufferPointer(load->buffer()),
                           b.CreateNSWAdd(base, i64(elements)));
  for (int64_t at = 0; at < lanes() * bytes; at += line)
    b.CreateIntrinsic(llvm::Intrinsic::prefetch, {b.getPtrTy()},
                      {b.CreateConstGEP1_64(b.getInt8Ty(), next, at), b.getInt32(/*reads*/ 0),
                       b.getInt32(/*which level*/ isNear ? 3 : 2), b.getInt32(/*data*/ 1)});
}

} // namespace tessera::codegen
