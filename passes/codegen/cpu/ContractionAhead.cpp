// What a product's results are made of besides its sums is read once, from memory, and results are written
// once: a line that no cache has is read before it is written. A tile asks for its part of both while it
// multiplies, a few lines every so many steps, and finds it in a cache. Not all at once: the processor has some
// sixteen places for lines that are under way, and waits for one.
//
//   w - 0.1 * (a * b)    each tile asks for its elements of w, and for the result's
#include "passes/codegen/cpu/ContractionEmitter.h"

#include "llvm/ADT/bit.h"

namespace tessera::codegen {

static constexpr int64_t line = 64;

void ContractionEmitter::askForResults(Tile tile) {
  Value n0 = tile.n0;
  constexpr int64_t leastK = 64; // what comes from memory takes as long as so many steps
  if (plan.kSize < leastK || !function.features.prefetches)
    return;
  findAhead(n0);
  findNextPanel(tile);
  bool countsSteps = readsPanels() || plan.k.size() == 1; // through all of k
  if (ahead.empty() || (countsSteps && plan.product->reduction->blockEnds.empty()))
    return;
  askForLine(e.openLoop(e.i64(0), e.i64(linesAhead()), 1, false));
  e.closeLoop();
  ahead.clear();
}

// Of an array that is a good part of a core's own cache, so that it may have left it, at places that are
// known.
static constexpr int64_t leastArray = 256 << 10;
static bool isAskedFor(const Graph &graph, const Node *node, int64_t least = leastArray) {
  if (node->op != Op::Load || !node->index->nodes.empty())
    return false;
  const BufferInfo &buffer = graph.buffers[node->buffer()];
  return buffer.source == BufferInfo::Argument && buffer.elements * byteSize(node->kind) >= least;
}

void ContractionEmitter::findAhead(Value n0) {
  e.openBlock();
  bind(plan.n, n0);
  auto add = [&](Value pointer, ElementKind kind, Index index) {
    std::optional<int64_t> stride = strideOfRows(plan, graph, index);
    if (stride && *stride != 0 && strideOf(index, plan.n) == 1)
      ahead.push_back({e.element(pointer, kind, e.emitIndex(index)), *stride * byteSize(kind),
                       int64_t(llvm::divideCeil(plan.columns() * byteSize(kind), line)),
                       plan.rows});
  };
  for (Node *node : nodesAfterSums())
    if (!node->mask && isAskedFor(graph, node))
      add(e.bufferPointer(node->buffer()), node->kind, node->index);
  for (const Root &root : nest.roots) {
    auto type = mlir::cast<mlir::ShapedType>(function.kernel.outputs()[root.output].getType());
    int64_t bytes = type.getNumElements() * byteSize(root.kind);
    if (bytes >= leastArray && function.kernel.inplaceOf(root.output) < 0)
      add(function.outputBuffer(root.output), root.kind, root.offset);
  }
  e.closeBlock();
}

// Rows of a that are copied along k, of an array that no core's own cache holds: each tile asks for its rows of
// the next panel.
void ContractionEmitter::findNextPanel(Tile tile) {
  constexpr int64_t least = 1 << 20;
  Node *load = plan.packsA && !plan.acrossA && plan.k.size() == 1 && plan.mAround.empty()
                   ? loadWithin(plan.a)
                   : nullptr;
  if (!load || plan.isTurned || plan.mPanel >= plan.mSize || !isAskedFor(graph, load, least) ||
      strideOf(load->index, plan.k.back()) != 1)
    return;
  std::optional<int64_t> across = strideOf(load->index, plan.m);
  if (!across || *across < plan.kSize)
    return;
  int64_t bytes = byteSize(load->kind), lines = llvm::divideCeil(plan.kSize * bytes, line);
  int64_t tiles = llvm::divideCeil(std::min(plan.nPanel, plan.nChunk), plan.columns());
  int64_t share = llvm::divideCeil(lines, tiles);
  Value number = b.CreateUDiv(b.CreateNSWSub(tile.n0, nLow), e.i64(plan.columns()));
  e.openBlock();
  bind(plan.m, b.CreateNSWAdd(tile.m0, e.i64(plan.mPanel)));
  bind(plan.k.back(), e.i64(0));
  Value start = e.element(e.bufferPointer(load->buffer()), load->kind, e.emitIndex(load->index));
  start = b.CreateGEP(b.getInt8Ty(), start, b.CreateNSWMul(number, e.i64(share * line)));
  ahead.push_back({start, *across * bytes, share, plan.rows});
  e.closeBlock();
}

// A block of k is copied before it is multiplied, and memory would wait meanwhile: each tile asks for a part
// of what the next block has. Of lines of k a part of its elements, of lines along k some of the rows.
void ContractionEmitter::findNextBlock(Tile tile) {
  if (!readsPanels() || plan.byTiles || !function.features.prefetches)
    return;
  // A large cell's are more than what a core's own cache holds besides.
  constexpr int64_t mostSums = 128 * 128;
  if (!plan.hasPairsOfBf16() && plan.sumElements() > mostSums && plan.mAround.empty() &&
      !plan.product->reduction->isOfWindow)
    return;
  int64_t tiles =
      llvm::divideCeil(plan.mChunk, plan.rows) * llvm::divideCeil(plan.nChunk, plan.columns());
  Value number = numberOf(tile);
  auto shareOf = [&](int64_t count) {
    int64_t share = llvm::divideCeil(count, tiles);
    return std::pair(b.CreateNSWMul(number, e.i64(share)), share);
  };
  const LoopGroup &k = plan.k.back();
  auto bindK = [&](Value flat) {
    llvm::SmallVector<unsigned> dims;
    for (const LoopGroup &group : plan.k)
      dims.append(group.begin(), group.end());
    e.bindLoop(dims, flat);
  };
  // `bindAlong`: at an element of the `count` that a cell has of its rows, or columns. Where loops are
  // divided, what is asked for goes past the end of one.
  auto add = [&](Node *node, const LoopGroup &along, int64_t count,
                 llvm::function_ref<void(Value at)> bindAlong) {
    Node *load = loadWithin(node);
    if (!load || !isAskedFor(graph, load))
      return;
    int64_t bytes = byteSize(load->kind), alongK = strideOf(load->index, k).value_or(0),
            across = strideOf(load->index, along).value_or(0);
    auto place = [&] {
      return e.element(e.bufferPointer(load->buffer()), load->kind, e.emitIndex(load->index));
    };
    e.openBlock();
    if (across == 1 && alongK >= count) {
      auto [first, rows] = shareOf(plan.kBlock);
      bindK(b.CreateNSWAdd(kHigh, first));
      bindAlong(e.i64(0));
      ahead.push_back(
          {place(), alongK * bytes, int64_t(llvm::divideCeil(count * bytes, line)), rows});
    } else if (alongK == 1 && across >= plan.kBlock) {
      auto [first, rows] = shareOf(count);
      bindK(kHigh);
      bindAlong(first);
      Value start = place();
      for (int64_t row = 0; row < rows; ++row)
        ahead.push_back({b.CreateConstGEP1_64(b.getInt8Ty(), start, row * across * bytes), line, 1,
                         int64_t(llvm::divideCeil(plan.kBlock * bytes, line))});
    }
    e.closeBlock();
  };
  // Of rows that are counted through several loops, those of the last: what the others read of a window
  // lies before it.
  int64_t inner = boundsOf(graph, plan.m).second;
  bool isLast = !plan.mAround.empty() && inner <= plan.mChunk;
  Value low = mLow;
  if (isLast)
    low = b.CreateNSWMul(b.CreateUDiv(b.CreateNSWSub(mHigh, e.i64(1)), e.i64(inner)), e.i64(inner));
  add(plan.a, plan.m, isLast ? inner : plan.mChunk,
      [&](Value at) { bindRow(b.CreateNSWAdd(low, at)); });
  add(plan.b, plan.n, plan.nChunk, [&](Value at) { bind(plan.n, b.CreateNSWAdd(nFirst, at)); });
}

int64_t ContractionEmitter::linesAhead() const {
  int64_t lines = 0;
  for (const RowsAhead &rows : ahead)
    lines += rows.lines();
  return lines;
}

int64_t ContractionEmitter::stepsOfGroup() const {
  // A few lines at once wait for nothing; a loop of fewer steps takes longer for its end. Blocks of sums are
  // whole groups.
  constexpr int64_t atOnce = 4, least = 8, most = Reduction::chainBlock;
  int64_t steps =
      plan.kBlock ? plan.kBlock / ahead.front().rows : atOnce * plan.kSize / linesAhead();
  return llvm::bit_floor(uint64_t(std::clamp(steps, least, most)));
}

void ContractionEmitter::askInGroup(Value group) {
  int64_t groups = llvm::divideCeil(stepsOfTile(), stepsOfGroup());
  if (plan.kBlock) { // whole rows; there is no harm in one behind the last
    for (const RowsAhead &rows : ahead)
      for (int64_t i = 0, together = llvm::divideCeil(rows.rows, groups); i < together; ++i) {
        Value row = b.CreateNSWAdd(b.CreateNSWMul(group, e.i64(together)), e.i64(i));
        Value from = b.CreateGEP(b.getInt8Ty(), rows.start, b.CreateNSWMul(row, e.i64(rows.apart)));
        for (int64_t at = 0; at < rows.linesOfRow; ++at)
          e.askForLine(b.CreateConstGEP1_64(b.getInt8Ty(), from, at * line), /*isNear=*/false);
      }
    return;
  }
  int64_t lines = linesAhead();
  int64_t together = llvm::divideCeil(lines, groups);
  for (int64_t i = 0; i < together; ++i) {
    Value number = b.CreateNSWAdd(b.CreateNSWMul(group, e.i64(together)), e.i64(i));
    if (groups * together > lines)
      number = b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, number, e.i64(lines - 1));
    askForLine(number);
  }
}

// Of all of them, array by array, and row by row.
void ContractionEmitter::askForLine(Value number) {
  Value at = nullptr;
  int64_t before = 0;
  for (const RowsAhead &rows : ahead) {
    Value own = before ? b.CreateNSWSub(number, e.i64(before)) : number;
    Value row = b.CreateUDiv(own, e.i64(rows.linesOfRow));
    Value inRow = b.CreateURem(own, e.i64(rows.linesOfRow));
    Value place =
        b.CreateNSWAdd(b.CreateNSWMul(row, e.i64(rows.apart)), b.CreateNSWMul(inRow, e.i64(line)));
    place = b.CreateGEP(b.getInt8Ty(), rows.start, place);
    at = at ? b.CreateSelect(b.CreateICmpUGE(number, e.i64(before)), place, at) : place;
    before += rows.lines();
  }
  e.askForLine(at);
}

} // namespace tessera::codegen
