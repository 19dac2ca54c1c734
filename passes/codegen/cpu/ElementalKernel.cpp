// Kernels whose outputs are functions of an index.
//
// A *nest* computes the outputs of one shape over the loops of that shape. Its loops are split
// where a reshape needs it, cut where a concatenation or padding changes what is read (each piece
// is a nest of its own, with its own graph), merged where every access allows it, and the innermost
// is run by vectors.
#include "passes/codegen/cpu/LoopNest.h"
#include "passes/codegen/cpu/Nest.h"
#include "passes/codegen/cpu/PastRows.h"
#include "passes/codegen/kernel/ColumnsFirst.h"
#include "passes/codegen/kernel/NestParts.h"
#include "passes/codegen/kernel/OutputNests.h"

#include "llvm/ADT/STLExtras.h"

namespace tessera::codegen {

bool Nest::emit() {
  int64_t points = 1;
  for (int64_t size : shape())
    points *= size;
  if (points == 0)
    return true;
  if (rows)
    scratchOffset = function.reserveScratch(rows->bytes);
  if (!build() || !writeOutColumns())
    return false;

  llvm::SmallVector<GridLoop> grid = gridLoops();
  Partition part = partitionWork(grid, workOf(*this));
  cells = part.cells;
  std::vector<Box> parts = boxesOf(*this);
  bool ok = true;
  function.forEachCell(part.cells, [&](Value cell, llvm::Instruction *before) {
    if (parts.empty())
      return emitBox(grid, part, cell, before);
    for (const Box &box : parts) {
      ok = ok && rebuild(box);
      if (ok)
        emitBox(grid, part, cell, before);
    }
  });
  if (streams)
    function.endStreams();
  return ok;
}

unsigned Nest::lanesOf(llvm::ArrayRef<unsigned> group) const {
  auto [low, high] = boundsOf(g->graph, group);
  if (high - low < 2 || !keepsVectors(emitter->live, group.back()))
    return 1;
  unsigned lanes = emitter->chooseLanes(high - low, emitter->live);
  return parts && parts->takesFours() ? parts->lanesOfFours(lanes) : lanes;
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
    if (root->isPart)
      parts->add(*root, re);
  // What a row keeps stays: only results go past the caches.
  emitter->streams = isStreamed;
  streams |= isStreamed;
  int64_t columns = columnsWrittenOut();
  for (size_t i = 0; columns > 1 && i < values.size(); i += columns) {
    llvm::SmallVector<Emitter::Column> row;
    for (auto [root, re, im] : llvm::ArrayRef(values).slice(i, columns))
      row.push_back({re, root->kind, root->offset});
    emitter->storeColumns(function.outputBuffer(roots[i].output), row);
  }
  for (auto [root, re, im] : values)
    if (!root->isPart && columns == 1)
      emitter->store(function.outputBuffer(root->output), root->kind, root->offset, re, im);
  emitter->streams = false;
}

// A row of sums is written with each row that is read, and memory's own prefetching does not keep up; it
// does where four rows write one.
void Nest::askForRows() {
  constexpr int64_t bytesAhead = 8 << 10, mostArrays = 4; // in the first cache
  llvm::SmallVector<Node *> loads;
  for (Node *node : emitter->live)
    if (node->op == Op::Load && emitter->asksFor(node))
      loads.push_back(node);
  if (loads.size() > mostArrays)
    return;
  for (Node *load : loads)
    emitter->askAhead(load, bytesAhead / byteSize(load->kind));
}

void Nest::emitLoops(llvm::ArrayRef<LoopGroup> groups, unsigned depth,
                     const std::optional<Chunk> &chunk) {
  Emitter &e = *emitter;
  auto isOfRow = [&](llvm::ArrayRef<unsigned> group) { return group.front() >= dims[outerDims]; };
  // Loops of one trip are no groups.
  auto isInRow = [&] { return depth == groups.size() || isOfRow(groups[depth]); };
  if (takesRows() && isInRow() && (depth == 0 || !isOfRow(groups[depth - 1]))) {
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
  auto partOf = [&](llvm::ArrayRef<unsigned> loop) -> Part {
    if (chunk && loop.front() == chunk->dim)
      return chunk->part;
    return {e.i64(boundsOf(g->graph, loop).first), e.i64(boundsOf(g->graph, loop).second)};
  };
  if (turned && depth + 2 == groups.size())
    return emitBlocks(depth ? llvm::ArrayRef<unsigned>(groups[depth - 1])
                            : llvm::ArrayRef<unsigned>(),
                      group, groups.back(), partOf(group), partOf(groups.back()));
  Part part = partOf(group);
  auto [from, to, step] = part;
  if (rowsAcross && depth + 2 == groups.size())
    return emitShortRows(*rowsAcross, group, groups.back(), part);
  if (depth + 1 == groups.size() && lanesOf(group) > 1) {
    if (auto past = rowsPastColumns(LoopGroup(group), e.live)) {
      PastRows(function, e, *past, group, lanesOf(group)).emit(from, to, step, [&] {
        emitRoots();
      });
      return;
    }
    isStreamed = streamsVectors(group, lanesOf(group), step);
    overVectors(e, group, lanesOf(group), from, to, step, [&](Value at) {
      for (const Emitter::GatheredRow &row : gathered)
        e.askForGathered(row, at);
      if (columnValues)
        columnValues->bind();
      auto emitRow = [&] {
        if (takesParts() && !takesRows() && !parts->takesFours())
          askForRows();
        emitRoots();
      };
      parts && parts->takesFours() ? parts->overRows(emitRow) : emitRow();
    });
    isStreamed = false;
    return;
  }
  if (depth + 1 == groups.size())
    if (auto sums = sumsBefore(LoopGroup(group), e.live); !sums.empty())
      return emitSumsFirst(sums, group, part);
  if (auto behind = resultsBehind(groups, depth, part))
    return emitRowsBehind(*behind, group, groups.back(), part);
  Value variable = e.openLoop(from, to, 1, step != 0);
  e.bindLevel(group.back(), setOf(group), variable, 1, nullptr);
  if (depth + 2 == groups.size())
    gathered = e.gatheredAhead(group, variable, to, groups.back());
  emitLoops(groups, depth + 1, chunk);
  gathered.clear();
  e.closeLoop();
}

void Nest::emitParts(llvm::ArrayRef<GridLoop> loops, std::optional<unsigned> chunked, Value low,
                     Value high) {
  auto columns = llvm::ArrayRef(dims).drop_front(sums->outer);
  auto groups = collapseLoops(g->graph, columns, emitter->live, stores());
  turned.reset();
  parts.reset();
  findShortRows(groups, std::nullopt);
  if (groups.size() == 1) {
    auto rows = llvm::ArrayRef(dims).take_front(sums->outer);
    auto [from, to] = boundsOf(g->graph, groups.back());
    emitColumnsFirst(setOf(rows), groups.back(), double(pointsOf(g->graph, rows)) / double(cells),
                     {emitter->i64(from), emitter->i64(to)});
  }
  bool takesFours = !takesRows() && !rowsAcross && !groups.empty() && lanesOf(groups.back()) > 1 &&
                    PartSums::canTakeFours(*this, groups.back(), emitter->live);
  parts.emplace(function, *this, *emitter, takesFours);
  parts->emit(loops, chunked, low, high, [&] { emitLoops(groups, 0, std::nullopt); });
}

void Nest::emitColumnsFirst(DimSet rows, const LoopGroup &columns, double rowsOfCell, Part part) {
  constexpr double severalRows = 8;
  columnValues.reset();
  unsigned lanes = lanesOf(columns);
  if (rowsOfCell < severalRows || lanes < 2 || rowsPastColumns(columns, emitter->live))
    return;
  auto nodes = columnsFirst(rows, columns, rootNodes());
  if (nodes.empty())
    return;
  columnValues.emplace(function, *emitter, nodes, columns, lanes);
  columnValues->compute(part.from, part.to, part.step);
}

void Nest::findShortRows(llvm::ArrayRef<LoopGroup> groups, const std::optional<Chunk> &chunk) {
  rowsAcross.reset();
  if (!takesRows() && !turned && !groups.empty() && lanesOf(groups.back()) > 1)
    rowsAcross = shortRows(g->graph, groups, emitter->live, stores());
  if (!rowsAcross || !chunk)
    return;
  // Vectors across the rows of another cell would write those, too.
  const LoopGroup &outer = groups[groups.size() - 2];
  auto [low, high] = boundsOf(g->graph, outer);
  int64_t together = rowsAcross->rowsTogether(lanesAcross(*rowsAcross, high - low));
  if (groups.back().front() == chunk->dim ||
      (outer.front() == chunk->dim && chunk->part.step % together != 0))
    rowsAcross.reset();
}

// Whether results go past the caches: of a large array nothing is left there for its reader.
bool Nest::goesPastCaches(int64_t least) const {
  int64_t columns = columnsWrittenOut(), points = pointsOf(g->graph, dims) * columns;
  const Root *first = firstOfPoints();
  bool isOneArray = columns > 1 && roots.size() == size_t(columns);
  return first && llvm::all_of(roots, [&](const Root &root) {
           if (root.isPart || root.isOfRow)
             return true;
           bool isWithFirst = isOneArray || root.offset == first->offset;
           return isWithFirst && root.offset->nodes.empty() && !root.value.im &&
                  byteSize(root.kind) == byteSize(first->kind) &&
                  points * byteSize(root.kind) >= least &&
                  function.kernel.inplaceOf(root.output) < 0;
         });
}

const Root *Nest::firstOfPoints() const {
  const auto *first =
      llvm::find_if(roots, [](const Root &root) { return !root.isPart && !root.isOfRow; });
  return first == roots.end() ? nullptr : first;
}

// In whole lines, or the memory reads what was there of each.
bool Nest::streamsVectors(llvm::ArrayRef<unsigned> vector, unsigned lanes, int64_t step) const {
  if (!goesPastCaches(leastStreamed))
    return false;
  // Lines are gathered on the way: without 32 registers, whose vectors are some lines long, a register fills
  // a part of one, and the next step the rest.
  int64_t bytes = lanes * byteSize(firstOfPoints()->kind);
  const VectorFeatures &features = emitter->features;
  bool fillsLines = bytes % lineBytes == 0 || (!features.masks && bytes >= features.bytes);
  int64_t unit = bytes < lineBytes ? lineBytes / byteSize(firstOfPoints()->kind) : lanes;
  return fillsLines && step % unit == 0 && startsAtLines(vector);
}

// Whether whole vectors of the results start at lines, or within them.
bool Nest::startsAtLines(llvm::ArrayRef<unsigned> vector) const {
  const Root *first = firstOfPoints();
  int64_t inLine = lineBytes / byteSize(first->kind);
  Index offset = first->offset;
  return boundsOf(g->graph, vector).first == 0 && offset->constant % inLine == 0 &&
         llvm::all_of(offset->dims, [&](auto term) {
           auto [dim, factor] = term;
           return llvm::is_contained(vector, dim) || g->graph.dims[dim].size == 1 ||
                  factor % inLine == 0;
         });
}

// Points of a group's loops within its outermost, `dim`.
static int64_t pointsWithin(const Graph &graph, llvm::ArrayRef<LoopGroup> groups, unsigned dim) {
  const auto *found = llvm::find_if(groups, [&](auto &group) { return group.front() == dim; });
  assert(found != groups.end() && "a loop of several trips that is merged with none outside it");
  return pointsOf(graph, llvm::ArrayRef(*found).drop_front());
}

void Nest::emitBox(llvm::ArrayRef<GridLoop> grid, const Partition &part, Value cell,
                   llvm::Instruction *before) {
  columnValues.reset();
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
    unsigned dim = grid[i].dim;
    const Dim &loop = g->graph.dims[dim];
    Value index = i ? e.b.CreateURem(rest, e.i64(loop.size)) : rest;
    if (i)
      rest = e.b.CreateUDiv(rest, e.i64(loop.size));
    if (loop.low == 0 && loop.high == loop.size) {
      e.bindLevel(dim, DimSet(1) << dim, index, 1, nullptr);
      continue;
    }
    Value from = index, to = e.b.CreateNSWAdd(index, e.i64(1));
    clampRange(dim, from, to);
    Value variable = e.openLoop(from, to, 1, true);
    e.bindLevel(dim, DimSet(1) << dim, variable, 1, nullptr);
    ++opened;
  }

  auto isCell = [&](unsigned dim) {
    return llvm::any_of(grid.take_front(part.prefix), [&](auto &loop) { return loop.dim == dim; });
  };
  llvm::SmallVector<unsigned> inner;
  llvm::copy_if(dims, std::back_inserter(inner), [&](unsigned dim) { return !isCell(dim); });
  std::optional<unsigned> chunked;
  if (part.chunks > 1)
    chunked = grid[part.prefix].dim;
  if (takesParts()) {
    if (chunked)
      clampRange(*chunked, low, high);
    emitParts(grid.drop_front(part.prefix), chunked, low, high);
    while (opened--)
      e.closeLoop();
    return;
  }
  // The chunked loop is merged with none outside it.
  auto outside = llvm::ArrayRef(inner).take_until([&](unsigned dim) { return dim == chunked; });
  if (outside.size() == inner.size())
    outside = {};
  auto groups = collapseLoops(g->graph, outside, e.live, stores());
  llvm::append_range(
      groups,
      collapseLoops(g->graph, llvm::ArrayRef(inner).drop_front(outside.size()), e.live, stores()));
  std::optional<Chunk> chunk;
  if (chunked) {
    clampRange(*chunked, low, high);
    // In units of the loop that the chunked one was merged into.
    int64_t rows = pointsWithin(g->graph, groups, *chunked);
    low = e.b.CreateNSWMul(low, e.i64(rows));
    high = e.b.CreateNSWMul(high, e.i64(rows));
    // A chunk need not meet the piece of this box.
    high = e.b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, low, high);
    chunk = {*chunked, {low, high, part.chunk * rows}};
  }
  turned.reset();
  if (!takesRows())
    turned = turnedLoads(g->graph, groups, e.live);
  if (turned)
    std::rotate(groups.begin() + turned->along, groups.begin() + turned->along + 1,
                groups.end() - 1);
  findShortRows(groups, chunk);
  if (!turned && !rowsAcross && !takesRows() && groups.size() > 1) {
    LoopGroup columns = groups.back();
    DimSet rows = 0;
    double points = 1;
    for (const LoopGroup &group : llvm::ArrayRef(groups).drop_back()) {
      rows |= setOf(group);
      points *= double(pointsOf(g->graph, group));
    }
    bool isChunked = chunked == columns.front();
    if (chunked && !isChunked)
      points /= double(part.chunks);
    auto [from, to] = boundsOf(g->graph, columns);
    emitColumnsFirst(rows, columns, points, isChunked ? chunk->part : Part{e.i64(from), e.i64(to)});
  }
  emitLoops(groups, 0, chunk);
  while (opened--)
    e.closeLoop();
}

bool emitElemental(KernelFunction &function, llvm::ArrayRef<unsigned> outputs, const Phase &phase) {
  return Nest(function, outputs, /*update=*/false, phase).emit();
}

bool emitElemental(KernelFunction &function, llvm::ArrayRef<unsigned> outputs) {
  return emitNests(function, outputs, [&](llvm::ArrayRef<unsigned> nest, bool update) {
    return Nest(function, nest, update).emit();
  });
}

} // namespace tessera::codegen
