// Kernels whose outputs are functions of an index.
//
// A *nest* computes the outputs of one shape over the loops of that shape. Its loops are split
// where a reshape needs it, cut where a concatenation or padding changes what is read (each piece
// is a nest of its own, with its own graph), merged where every access allows it, and the innermost
// is run by vectors.
#include "passes/codegen/cpu/KernelEmitter.h"
#include "passes/codegen/kernel/NestGraph.h"

#include "llvm/ADT/STLExtras.h"

namespace tessera::codegen {

namespace {

class Nest : public NestGraph {
public:
  Nest(KernelFunction &function, llvm::ArrayRef<unsigned> outputs, bool update)
      : NestGraph(function.kernel, outputs, update), function(function) {}
  bool emit();

private:
  void emitBox(const Partition &part, Value cell, llvm::Instruction *before);
  void emitLoops(llvm::ArrayRef<LoopGroup> groups, unsigned depth, std::optional<unsigned> chunked,
                 Value low, Value high);
  void emitRoots(bool ofRows = false);
  // Loops in the order they are opened; the last two are run by square tiles when loads lie across
  // the vector loop.
  bool findTransposed(llvm::SmallVectorImpl<LoopGroup> &groups);
  void emitTiles(llvm::ArrayRef<unsigned> along, llvm::ArrayRef<unsigned> vector,
                 std::pair<Value, Value> alongRange, std::pair<Value, Value> vectorRange);
  unsigned lanesOf(llvm::ArrayRef<unsigned> group) const;

  KernelFunction &function;
  std::unique_ptr<Emitter> emitter;     // of the graph that was built last
  llvm::SmallVector<Node *> transposed; // loads that are contiguous in the last loop but one
};

} // namespace

bool Nest::emit() {
  int64_t points = 1;
  for (int64_t size : shape())
    points *= size;
  if (points == 0)
    return true;
  if (rows)
    scratchOffset = function.reserveScratch(rows->bytes);
  if (!build())
    return false;

  Partition part = partitionWork(gridSizes(), workOf(*this), takesRows());
  std::vector<Box> parts = boxes();
  bool ok = true;
  function.forEachCell(part.cells, [&](Value cell, llvm::Instruction *before) {
    if (parts.empty())
      return emitBox(part, cell, before);
    for (const Box &box : parts) {
      ok = ok && rebuild(box);
      if (ok)
        emitBox(part, cell, before);
    }
  });
  return ok;
}

unsigned Nest::lanesOf(llvm::ArrayRef<unsigned> group) const {
  auto [low, high] = boundsOf(g->graph, group);
  if (high - low < 2 || !keepsVectors(emitter->live, group.back()))
    return 1;
  return emitter->chooseLanes(high - low, emitter->live);
}

void Nest::emitRoots(bool ofRows) {
  llvm::SmallVector<std::tuple<const Root *, Value, Value>> values;
  for (const Root &root : roots) {
    if (root.isOfRow != ofRows)
      continue;
    Value re = emitter->emit(root.value.re);
    values.push_back({&root, re, root.value.im ? emitter->emit(root.value.im) : nullptr});
  }
  for (auto [root, re, im] : values)
    emitter->store(function.outputBuffer(root->output), root->kind, root->offset, re, im);
}

void Nest::emitLoops(llvm::ArrayRef<LoopGroup> groups, unsigned depth,
                     std::optional<unsigned> chunked, Value low, Value high) {
  Emitter &e = *emitter;
  auto isOfRow = [&](llvm::ArrayRef<unsigned> group) { return group.front() >= dims[outerDims]; };
  if (takesRows() && isOfRow(groups[depth]) && (depth == 0 || !isOfRow(groups[depth - 1]))) {
    e.openBlock();
    emitRoots(/*ofRows=*/true);
    e.closeBlock();
  }
  if (depth == groups.size()) {
    e.openBlock();
    emitRoots();
    e.closeBlock();
    return;
  }
  llvm::ArrayRef<unsigned> group = groups[depth];
  bool isChunked = chunked && group.front() == *chunked;
  auto [first, last] = boundsOf(g->graph, group);
  if (!transposed.empty() && depth + 2 == groups.size()) {
    auto range = [&](llvm::ArrayRef<unsigned> loop) -> std::pair<Value, Value> {
      if (chunked && loop.front() == *chunked)
        return {low, high};
      return {e.i64(boundsOf(g->graph, loop).first), e.i64(boundsOf(g->graph, loop).second)};
    };
    return emitTiles(group, groups.back(), range(group), range(groups.back()));
  }
  Value from = isChunked ? low : e.i64(first), to = isChunked ? high : e.i64(last);
  if (depth + 1 < groups.size() || lanesOf(group) == 1) {
    Value variable = e.openLoop(from, to, 1, isChunked);
    e.bindLevel(group.back(), setOf(group), variable, 1, nullptr);
    emitLoops(groups, depth + 1, chunked, low, high);
    e.closeLoop();
    return;
  }

  unsigned lanes = lanesOf(group);
  int64_t size = last - first, rest = size % lanes;
  Value whole = to;
  if (isChunked || rest) {
    Value length = e.b.CreateNSWSub(to, from);
    whole = e.b.CreateNSWAdd(from, e.b.CreateAnd(length, e.i64(-static_cast<int64_t>(lanes))));
  }
  if (size >= lanes) {
    Value variable = e.openLoop(from, whole, lanes, isChunked);
    e.bindLevel(group.back(), setOf(group), variable, lanes, nullptr);
    emitRoots();
    e.closeLoop();
  }
  // Chunks are whole vectors long: only the loop's very end leaves a rest, or a piece that starts
  // in mid-vector.
  bool isRagged = isChunked && first % lanes != 0;
  if (!rest && !isRagged)
    return;
  unsigned tailLanes = isRagged ? lanes : std::max<unsigned>(llvm::PowerOf2Ceil(rest), 2);
  isChunked ? (void)e.openLoop(whole, to, lanes, true) : e.openBlock();
  Value mask = nullptr;
  if (isRagged) {
    llvm::Type *type = llvm::FixedVectorType::get(e.b.getInt32Ty(), lanes);
    Value left = e.b.CreateTrunc(e.b.CreateNSWSub(to, whole), e.b.getInt32Ty());
    mask = e.b.CreateICmpULT(e.b.CreateStepVector(type), e.splat(left, lanes));
  } else if (rest != tailLanes) {
    llvm::SmallVector<llvm::Constant *> exists;
    for (unsigned lane = 0; lane < tailLanes; ++lane)
      exists.push_back(e.b.getInt1(lane < rest));
    mask = llvm::ConstantVector::get(exists);
  }
  e.bindLevel(group.back(), setOf(group), whole, tailLanes, mask);
  emitRoots();
  isChunked ? e.closeLoop() : e.closeBlock();
}

static constexpr int64_t tileSize = 16;

bool Nest::findTransposed(llvm::SmallVectorImpl<LoopGroup> &groups) {
  transposed.clear();
  Emitter &e = *emitter;
  if (groups.size() < 2 || e.live.size() > 16 ||
      llvm::any_of(e.live, [](Node *node) { return node->op == Op::Reduced; }) ||
      function.kernel.sharesBuffers())
    return false;
  auto extent = [&](llvm::ArrayRef<unsigned> group) {
    auto [low, high] = boundsOf(g->graph, group);
    return low == 0 ? high : 0;
  };
  auto &vector = groups.back();
  size_t along = groups.size();
  for (Node *node : e.live) {
    if (node->op != Op::Load || std::abs(strideOf(node->index, vector).value_or(0)) <= 1 ||
        node->mask)
      continue;
    for (size_t i = 0; i + 1 < groups.size(); ++i)
      if (strideOf(node->index, groups[i]) == 1 && extent(groups[i]) >= tileSize &&
          (along == groups.size() || along == i)) {
        along = i;
        transposed.push_back(node);
      }
  }
  if (transposed.empty() || extent(vector) < tileSize) {
    transposed.clear();
    return false;
  }
  std::rotate(groups.begin() + along, groups.begin() + along + 1, groups.end() - 1);
  return true;
}

void Nest::emitTiles(llvm::ArrayRef<unsigned> along, llvm::ArrayRef<unsigned> vector,
                     std::pair<Value, Value> alongRange, std::pair<Value, Value> vectorRange) {
  Emitter &e = *emitter;
  auto &b = e.b;
  // The last tile of a loop overlaps the one before: it writes the same values again.
  auto open = [&](std::pair<Value, Value> range) {
    Value start = e.openLoop(range.first, range.second, tileSize, true);
    Value last = b.CreateNSWSub(range.second, e.i64(tileSize));
    Value moved = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, start, last);
    return b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, moved, e.i64(0));
  };
  Value t0 = open(alongRange), v0 = open(vectorRange);
  llvm::SmallVector<llvm::SmallVector<Value>> columns;
  e.openBlock();
  e.bindLevel(along.back(), setOf(along), t0, 1, nullptr);
  e.bindLevel(vector.back(), setOf(vector), v0, 1, nullptr);
  for (Node *node : transposed) {
    llvm::Type *type = memoryType(node->kind, b.getContext());
    Value first = e.element(e.bufferPointer(node->buffer()), node->kind, e.emitIndex(node->index));
    int64_t stride = *strideOf(node->index, vector);
    llvm::SmallVector<Value> rows;
    for (int64_t i = 0; i < tileSize; ++i)
      rows.push_back(b.CreateAlignedLoad(llvm::FixedVectorType::get(type, tileSize),
                                         b.CreateConstGEP1_64(type, first, i * stride),
                                         llvm::Align(byteSize(node->kind))));
    columns.push_back(e.transpose(std::move(rows)));
  }
  e.closeBlock();
  for (int64_t i = 0; i < tileSize; ++i) {
    e.openBlock();
    e.bindLevel(along.back(), setOf(along), b.CreateNSWAdd(t0, e.i64(i)), 1, nullptr);
    e.openBlock();
    e.bindLevel(vector.back(), setOf(vector), v0, tileSize, nullptr);
    for (auto [node, list] : llvm::zip(transposed, columns))
      e.levels.back().values[node] = e.fromMemory(node->kind, list[i]);
    emitRoots();
    e.closeBlock();
    e.closeBlock();
  }
  e.closeLoop();
  e.closeLoop();
}

void Nest::emitBox(const Partition &part, Value cell, llvm::Instruction *before) {
  emitter.reset(new Emitter(function.emitter(g->graph)));
  Emitter &e = *emitter;
  e.live = Graph::reachable(rootNodes());
  e.openBody(before);
  // Which cell: an index for each outer loop, and a chunk of the next.
  Value rest = cell, low = nullptr, high = nullptr;
  if (part.chunks > 1) {
    Value number = e.b.CreateURem(rest, e.i64(part.chunks));
    rest = e.b.CreateUDiv(rest, e.i64(part.chunks));
    low = e.b.CreateNSWMul(number, e.i64(part.chunk));
    high = e.b.CreateNSWAdd(low, e.i64(part.chunk));
  }
  unsigned opened = 0;
  auto clampRange = [&](unsigned dim, Value &from, Value &to) {
    const Dim &loop = g->graph.dims[dim];
    from = e.b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, from, e.i64(loop.low));
    to = e.b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, to, e.i64(loop.high));
  };
  for (unsigned i = part.prefix; i-- > 0;) {
    const Dim &loop = g->graph.dims[dims[i]];
    Value index = i ? e.b.CreateURem(rest, e.i64(loop.size)) : rest;
    if (i)
      rest = e.b.CreateUDiv(rest, e.i64(loop.size));
    if (loop.low == 0 && loop.high == loop.size) {
      e.bindLevel(dims[i], DimSet(1) << dims[i], index, 1, nullptr);
      continue;
    }
    Value from = index, to = e.b.CreateNSWAdd(index, e.i64(1));
    clampRange(dims[i], from, to);
    Value variable = e.openLoop(from, to, 1, true);
    e.bindLevel(dims[i], DimSet(1) << dims[i], variable, 1, nullptr);
    ++opened;
  }

  llvm::ArrayRef<unsigned> inner = llvm::ArrayRef(dims).drop_front(part.prefix);
  llvm::SmallVector<Index> stores;
  for (const Root &root : roots)
    stores.push_back(root.offset);
  auto groups = collapseLoops(g->graph, inner, e.live, stores);
  std::optional<unsigned> chunked;
  if (part.chunks > 1) {
    chunked = inner.front();
    llvm::ArrayRef<unsigned> outermost = groups[0];
    clampRange(*chunked, low, high);
    // In units of the loop that the chunked one was merged into.
    int64_t rows = 1;
    for (unsigned dim : outermost.drop_front())
      rows *= g->graph.dims[dim].size;
    low = e.b.CreateNSWMul(low, e.i64(rows));
    high = e.b.CreateNSWMul(high, e.i64(rows));
    // A chunk need not meet the piece of this box.
    high = e.b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, low, high);
  }
  findTransposed(groups);
  emitLoops(groups, 0, chunked, low, high);
  while (opened--)
    e.closeLoop();
}

bool emitElemental(KernelFunction &function, llvm::ArrayRef<unsigned> outputs) {
  bool ok = true;
  llvm::SmallVector<unsigned> whole;
  for (unsigned output : outputs) {
    std::optional<int64_t> input = updatedInput(function.kernel, output);
    if (!input) {
      whole.push_back(output);
      continue;
    }
    llvm::SmallVector<unsigned> one{output};
    function.ifSameBuffer(
        function.buffers[*input], function.outputBuffer(output),
        [&] { ok &= Nest(function, one, /*update=*/true).emit(); },
        [&] { ok &= ok && Nest(function, one, /*update=*/false).emit(); });
  }
  for (const auto &nest : outputNests(function.kernel, whole))
    ok = ok && Nest(function, nest, /*update=*/false).emit();
  return ok;
}

} // namespace tessera::codegen
