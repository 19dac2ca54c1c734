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

void ContractionEmitter::askForResults(Value n0) {
  constexpr int64_t leastK = 64; // what comes from memory takes as long as so many steps
  if (plan.kSize < leastK || !function.features.prefetches)
    return;
  findAhead(n0);
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
static bool isAskedFor(const Graph &graph, const Node *node) {
  if (node->op != Op::Load || node->mask || !node->index->nodes.empty())
    return false;
  const BufferInfo &buffer = graph.buffers[node->buffer()];
  return buffer.source == BufferInfo::Argument &&
         buffer.elements * byteSize(node->kind) >= leastArray;
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
    if (isAskedFor(graph, node))
      add(e.bufferPointer(node->buffer()), node->kind, node->index);
  for (const Root &root : nest.roots) {
    auto type = mlir::cast<mlir::ShapedType>(function.kernel.outputs()[root.output].getType());
    int64_t bytes = type.getNumElements() * byteSize(root.kind);
    if (bytes >= leastArray && function.kernel.inplaceOf(root.output) < 0)
      add(function.outputBuffer(root.output), root.kind, root.offset);
  }
  e.closeBlock();
}

// A block of k is copied before it is multiplied, and memory would wait meanwhile: each tile asks for a part
// of the rows of k that the next block has.
void ContractionEmitter::findNextBlock(Tile tile) {
  if (!readsPanels() || plan.k.size() > 1 || plan.byTiles || !function.features.prefetches)
    return;
  const LoopGroup &k = plan.k.back();
  int64_t tiles =
      llvm::divideCeil(plan.mChunk, plan.rows) * llvm::divideCeil(plan.nChunk, plan.columns());
  int64_t rows = llvm::divideCeil(plan.kBlock, tiles);
  Value first = b.CreateNSWAdd(kHigh, b.CreateNSWMul(numberOf(tile), e.i64(rows)));
  e.openBlock();
  bind(k, first);
  auto add = [&](Node *node, const LoopGroup &along, Value low, int64_t count) {
    Node *load = loadWithin(node);
    if (!load || !isAskedFor(graph, load) || strideOf(load->index, along) != 1)
      return;
    std::optional<int64_t> step = strideOf(load->index, k);
    if (!step || *step < count)
      return;
    e.openBlock();
    bind(along, low);
    int64_t bytes = byteSize(load->kind);
    ahead.push_back(
        {e.element(e.bufferPointer(load->buffer()), load->kind, e.emitIndex(load->index)),
         *step * bytes, int64_t(llvm::divideCeil(count * bytes, line)), rows});
    e.closeBlock();
  };
  if (plan.mAround.empty())
    add(plan.a, plan.m, mLow, plan.mChunk);
  add(plan.b, plan.n, nFirst, plan.nChunk);
  e.closeBlock();
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
          e.askForLine(b.CreateConstGEP1_64(b.getInt8Ty(), from, at * line));
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
