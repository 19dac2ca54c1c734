// The next row is asked for while this one is computed with.
//
//   max(x), sum(exp(x - max)), result     pass 1 reads a row from memory, pass 2 from a cache
//
// A pass that reads what is in a cache by then leaves the memory idle for as long as it computes.
// So the last of the reductions that read an operand's row asks for the row after it, line by line,
// and the first finds that in a cache: both take what the slower of memory and arithmetic takes,
// rather than their sum. Where results follow, there is time for the last lines to come. Where none
// do, a short row's would be late, and the first pass asks for them. What a single pass reads, which
// waits for memory as it reads nothing else, is up to the last pass of all.
#include "passes/codegen/cpu/Emitter.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

namespace tessera::codegen {

// Bytes of rows of which two fit into the first cache.
static constexpr int64_t nearRow = 8 << 10;
// Of a row whose last pass ends before its lines have come.
static constexpr int64_t shortRow = 2 << 10;

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

// Whether what `load` reads of a row lies side by side, in the order of the loops over it.
static bool isInOrder(const Graph &graph, const Node *load, llvm::ArrayRef<unsigned> loops) {
  int64_t factor = 1;
  for (unsigned dim : llvm::reverse(loops)) {
    if (graph.dims[dim].size > 1 && load->index->coefficient(dim) != factor)
      return false;
    factor *= graph.dims[dim].size;
  }
  return true;
}

Emitter::RowPasses Emitter::passesOver(llvm::ArrayRef<Node *> nodes) {
  RowPasses passes;
  llvm::DenseSet<const Reduction *> seen;
  for (const Node *node : nodes) { // operands come first
    const Reduction *reduction = node->reduction;
    if (!reduction || reduction->order != Reduction::Rows || reduction->simple.empty() ||
        !seen.insert(reduction).second)
      continue;
    passes.inOrder.push_back(reduction);
    llvm::SmallDenseSet<int> buffers;
    for (const Node *load : loadsOf(reduction->inputs))
      if (buffers.insert(load->buffer()).second)
        passes.ofBuffer[load->buffer()].push_back(reduction);
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

bool Emitter::isOfLargeArray(const Node *load) const {
  constexpr int64_t leastArray = 1 << 20; // smaller ones stay in a second-level cache
  const BufferInfo &buffer = graph.buffers[load->buffer()];
  return features.prefetches && buffer.source == BufferInfo::Argument && !load->mask &&
         buffer.elements * byteSize(load->kind) >= leastArray;
}

bool Emitter::asksFor(const Node *load) const {
  return isOfLargeArray(load) && load->index->nodes.empty();
}

bool Emitter::readsMemory(llvm::ArrayRef<Node *> nodes, DimSet dims) {
  if (!rowPasses)
    rowPasses = passesOver(live);
  return llvm::any_of(loadsOf(nodes), [&](const Node *load) {
    return (load->index->deps & dims) && isOfLargeArray(load) &&
           !rowPasses->ofBuffer.contains(load->buffer());
  });
}

llvm::SmallVector<Emitter::NextRow> Emitter::rowsAhead(const Reduction &reduction) {
  constexpr int64_t mostOfRow = 256 << 10; // of longer ones there is no room for two
  llvm::SmallVector<NextRow> ahead;
  if (!features.prefetches)
    return ahead;
  if (!rowPasses)
    rowPasses = passesOver(live);
  DimSet open = 0;
  for (const Level &level : levels)
    open |= level.dims;
  bool resultsFollow = isReadAgain(live, open);
  auto passesOf = [&](const Node *load) -> llvm::ArrayRef<const Reduction *> {
    auto found = rowPasses->ofBuffer.find(load->buffer());
    return found == rowPasses->ofBuffer.end() ? llvm::ArrayRef<const Reduction *>() : found->second;
  };
  // What is kept of a row, or what another pass has read.
  auto readsCached = [&](const Reduction &pass) {
    return llvm::any_of(loadsOf(pass.inputs), [&](const Node *load) {
      auto passes = passesOf(load);
      return !load->operands.empty() || (!passes.empty() && passes.front() != &pass);
    });
  };
  int64_t elements = pointsOf(graph, reduction.dims);
  llvm::SmallVector<const Reduction *> ofRow;
  for (const Reduction *pass : rowPasses->inOrder)
    if (pass->deps == reduction.deps && pointsOf(graph, pass->dims) == elements)
      ofRow.push_back(pass);
  llvm::SmallDenseSet<int> buffers;
  for (const Reduction *pass : ofRow)
    for (Node *load : loadsOf(pass->inputs)) {
      int64_t row = elements * byteSize(load->kind);
      llvm::ArrayRef<const Reduction *> passes = passesOf(load);
      if (passes.empty() || row > mostOfRow || !asksFor(load) ||
          !isInOrder(graph, load, pass->dims) || stepOfRows(load, *pass, variables) == 0)
        continue;
      bool isLast = resultsFollow || row > shortRow;
      const Reduction *asks = isLast ? passes.back() : passes.front();
      // A pass that reads nothing else has the memory busy anyhow: it is up to the last one.
      if (passes.size() == 1 && !readsCached(*asks))
        asks = isLast && asks != ofRow.back() ? ofRow.back() : nullptr;
      if (asks == &reduction && buffers.insert(load->buffer()).second)
        ahead.push_back({load, pass});
    }
  return ahead;
}

Value Emitter::startOfRow(const Node *load, DimSet inRow, Value place) {
  place = b.CreateNSWAdd(place, i64(load->index->constant));
  for (auto [dim, factor] : load->index->dims)
    if (!(inRow >> dim & 1) && variables[dim])
      place = b.CreateNSWAdd(place, b.CreateNSWMul(variables[dim], i64(factor)));
  return place;
}

static bool computesFunctions(llvm::ArrayRef<const Reduction *> passes) {
  return llvm::any_of(passes, [](const Reduction *pass) {
    return llvm::any_of(Graph::reachable(pass->inputs),
                        [](const Node *node) { return isFunction(node->op); });
  });
}

void Emitter::askForNextRow(const NextRow &row, Value position) {
  const Node *load = row.load;
  int64_t elements = pointsOf(graph, row.pass->dims), bytes = elements * byteSize(load->kind);
  // What comes beside it, and what stays until its results are written, has room there, too. Passes
  // that compute little wait for the second cache.
  if (besidePass || computesFunctions(rowPasses->inOrder)) {
    bytes = 0;
    for (const auto &[buffer, passes] : rowPasses->ofBuffer)
      if (graph.buffers[buffer].source == BufferInfo::Argument &&
          graph.buffers[buffer].elements > elements)
        bytes += elements * byteSize(graph.buffers[buffer].kind) * (besidePass ? 2 : 1);
  }
  int64_t step = stepOfRows(load, *row.pass, variables);
  Value place = startOfRow(load, row.pass->ownDims, b.CreateNSWAdd(position, i64(step)));
  askFor(load, place, bytes <= nearRow);
}

// Whether a place is made of numbers that are only read, so that it may be computed for another row.
static bool isReadOnly(const Node *load) {
  llvm::SmallVector<Node *> numbers;
  for (auto [node, factor] : load->index->nodes)
    numbers.push_back(node);
  return llvm::none_of(Graph::reachable(numbers), [](const Node *node) {
    return node->op == Op::Keep || node->op == Op::Reduced || node->op == Op::External ||
           (node->op == Op::Load && !node->operands.empty());
  });
}

// Rows at places that numbers say are no stream to the processor, but the numbers are there to read.
llvm::SmallVector<Emitter::GatheredRow> Emitter::gatheredAhead(llvm::ArrayRef<unsigned> rows,
                                                               Value row, Value end,
                                                               llvm::ArrayRef<unsigned> columns) {
  constexpr int64_t leastRow = 256, bytesAhead = 16 << 10, mostAhead = 8;
  llvm::SmallVector<GatheredRow> ahead;
  DimSet open = 0, own = setOf(rows), inRow = setOf(columns);
  for (const Level &level : levels)
    open |= level.dims;
  for (Node *load : live) {
    if (load->op != Op::Load || load->index->nodes.empty() || !load->operands.empty() ||
        !isOfLargeArray(load) || !isReadOnly(load))
      continue;
    int64_t bytes = pointsOf(graph, columns) * byteSize(load->kind);
    DimSet ofPlace = 0;
    for (auto [node, factor] : load->index->nodes)
      ofPlace |= node->deps;
    bool isOfRow = (ofPlace & own) && !(ofPlace & ~open) && !(load->index->deps & ~(open | inRow));
    if (!isOfRow || bytes < leastRow || bytes > bytesAhead || !isInOrder(graph, load, columns))
      continue;
    int64_t count = std::clamp<int64_t>(bytesAhead / bytes, 1, mostAhead);
    Value last = b.CreateNSWSub(end, i64(1));
    Value later =
        b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b.CreateNSWAdd(row, i64(count)), last);
    openBlock();
    bindLevel(rows.back(), own, later, 1, nullptr);
    Value place = startOfRow(load, inRow, i64(0));
    for (auto [node, factor] : load->index->nodes)
      place = b.CreateNSWAdd(place, b.CreateNSWMul(emit(node), i64(factor)));
    closeBlock();
    variables[rows.back()] = row;
    ahead.push_back({load, place});
  }
  return ahead;
}

void Emitter::askForGathered(const GatheredRow &row, Value position) {
  askFor(row.load, b.CreateNSWAdd(row.place, position), /*isNear=*/true);
}

void Emitter::askAhead(const Node *load, int64_t elements) {
  Value base, perLane;
  int64_t stride;
  split(load->index, base, stride, perLane);
  if (stride == 1 && !perLane)
    askFor(load, b.CreateNSWAdd(base, i64(elements)), /*isNear=*/true);
}

void Emitter::askFor(const Node *load, Value place, bool isNear) {
  constexpr int64_t line = 64;
  // It may lie past the end: nothing is read there.
  Value at =
      b.CreateGEP(memoryType(load->kind, b.getContext()), bufferPointer(load->buffer()), place);
  for (int64_t byte = 0; byte < lanes() * byteSize(load->kind); byte += line)
    askForLine(b.CreateConstGEP1_64(b.getInt8Ty(), at, byte), isNear);
}

void Emitter::askForLine(Value place, bool isNear) {
  b.CreateIntrinsic(llvm::Intrinsic::prefetch, {b.getPtrTy()},
                    {place, b.getInt32(/*reads*/ 0), b.getInt32(/*which level*/ isNear ? 3 : 2),
                     b.getInt32(/*data*/ 1)});
}

} // namespace tessera::codegen
