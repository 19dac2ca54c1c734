// Kernels whose outputs are functions of an index.
//
// A *nest* computes the outputs of one shape over the loops of that shape. Its loops are split
// where a reshape needs it, cut where a concatenation or padding changes what is read (each piece
// is a nest of its own, with its own graph), merged where every access allows it, and the innermost
// is run by vectors.
#include "passes/codegen/cpu/KernelEmitter.h"
#include "passes/codegen/cpu/LoopNest.h"
#include "passes/codegen/cpu/PartSums.h"
#include "passes/codegen/cpu/PastRows.h"
#include "passes/codegen/cpu/TurnedBlock.h"
#include "passes/codegen/kernel/NestGraph.h"

#include "llvm/ADT/STLExtras.h"

namespace tessera::codegen {

namespace {

constexpr int64_t lineBytes = 64; // of a cache

class Nest : public NestGraph {
public:
  Nest(KernelFunction &function, llvm::ArrayRef<unsigned> outputs, bool update, Phase phase = {})
      : NestGraph(function.kernel, outputs, update, std::move(phase)), function(function) {}
  bool emit();

private:
  void emitBox(llvm::ArrayRef<GridLoop> grid, const Partition &part, Value cell,
               llvm::Instruction *before);
  void emitLoops(llvm::ArrayRef<LoopGroup> groups, unsigned depth, std::optional<unsigned> chunked,
                 Value low, Value high);
  void emitRoots(bool ofRows = false);
  void emitParts(llvm::ArrayRef<GridLoop> loops, std::optional<unsigned> chunked, Value low,
                 Value high);
  using Range = std::pair<Value, Value>;
  // The results [from, to) along `group`, of sums that are formed of some of them before.
  void emitSumsFirst(llvm::ArrayRef<Node *> sums, llvm::ArrayRef<unsigned> group, Value from,
                     Value to, bool inParts);
  void findShortRows(llvm::ArrayRef<LoopGroup> groups);
  void emitShortRows(ShortRows rows, llvm::ArrayRef<unsigned> outer, llvm::ArrayRef<unsigned> inner,
                     Range range, bool inParts);
  void emitBlocks(llvm::ArrayRef<unsigned> along, llvm::ArrayRef<unsigned> vector, Range alongRange,
                  Range vectorRange);
  void emitLines(llvm::ArrayRef<unsigned> group, Range range,
                 llvm::function_ref<void(Value at)> each);
  unsigned lanesOf(llvm::ArrayRef<unsigned> group) const;
  const Root *firstOfPoints() const; // that has an element for each of the nest's points
  bool goesPastCaches(int64_t least) const;
  bool streamsVectors(llvm::ArrayRef<unsigned> vector, unsigned lanes) const;
  bool startsAtLines(llvm::ArrayRef<unsigned> vector) const;

  KernelFunction &function;
  std::unique_ptr<Emitter> emitter;                 // of the graph that was built last
  std::optional<TurnedLoads> turned;                // of its loops
  std::optional<ShortRows> rowsAcross;              // that vectors run across, of its loops
  std::optional<PartSums> parts;                    // that its rows are added to
  llvm::SmallVector<Emitter::GatheredRow> gathered; // that the innermost loop asks for
  bool isStreamed = false;                          // what is written now goes past the caches
  bool streams = false;                             // something does
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
  if (!build() || !writeOutColumns())
    return false;

  llvm::SmallVector<GridLoop> grid = gridLoops();
  Partition part = partitionWork(grid, workOf(*this));
  std::vector<Box> parts = boxes();
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

void Nest::emitLoops(llvm::ArrayRef<LoopGroup> groups, unsigned depth,
                     std::optional<unsigned> chunked, Value low, Value high) {
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
  bool isChunked = chunked && group.front() == *chunked;
  auto rangeOf = [&](llvm::ArrayRef<unsigned> loop) -> Range {
    if (chunked && loop.front() == *chunked)
      return {low, high};
    return {e.i64(boundsOf(g->graph, loop).first), e.i64(boundsOf(g->graph, loop).second)};
  };
  if (turned && depth + 2 == groups.size())
    return emitBlocks(group, groups.back(), rangeOf(group), rangeOf(groups.back()));
  auto [from, to] = rangeOf(group);
  if (rowsAcross && depth + 2 == groups.size())
    return emitShortRows(*rowsAcross, group, groups.back(), {from, to}, isChunked);
  if (depth + 1 == groups.size() && lanesOf(group) > 1) {
    if (auto past = rowsPastColumns(LoopGroup(group), e.live)) {
      PastRows(function, e, *past, group, lanesOf(group)).emit(from, to, isChunked, [&] {
        emitRoots();
      });
      return;
    }
    isStreamed = streamsVectors(group, lanesOf(group));
    overVectors(e, group, lanesOf(group), from, to, isChunked, [&](Value at) {
      for (const Emitter::GatheredRow &row : gathered)
        e.askForGathered(row, at);
      emitRoots();
    });
    isStreamed = false;
    return;
  }
  if (depth + 1 == groups.size())
    if (auto sums = sumsBefore(LoopGroup(group), e.live); !sums.empty())
      return emitSumsFirst(sums, group, from, to, isChunked);
  Value variable = e.openLoop(from, to, 1, isChunked);
  e.bindLevel(group.back(), setOf(group), variable, 1, nullptr);
  if (depth + 2 == groups.size())
    gathered = e.gatheredAhead(group, variable, to, groups.back());
  emitLoops(groups, depth + 1, chunked, low, high);
  gathered.clear();
  e.closeLoop();
}

void Nest::emitParts(llvm::ArrayRef<GridLoop> loops, std::optional<unsigned> chunked, Value low,
                     Value high) {
  auto columns = llvm::ArrayRef(dims).drop_front(sums->outer);
  auto groups = collapseLoops(g->graph, columns, emitter->live, stores());
  turned.reset();
  findShortRows(groups);
  parts.emplace(function, *this, *emitter);
  parts->emit(loops, chunked, low, high,
              [&] { emitLoops(groups, 0, std::nullopt, nullptr, nullptr); });
}

void Nest::emitSumsFirst(llvm::ArrayRef<Node *> sums, llvm::ArrayRef<unsigned> group, Value from,
                         Value to, bool inParts) {
  constexpr int64_t strip = 256;
  Emitter &e = *emitter;
  auto &b = e.b;
  auto [first, last] = boundsOf(g->graph, group);
  Value start = e.openLoop(from, to, strip, inParts);
  Value end =
      b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b.CreateNSWAdd(start, e.i64(strip)), to);
  int64_t bytes = std::min(strip, int64_t(llvm::alignTo(last - first, 64))) * 8;
  llvm::SmallVector<int64_t> offsets(sums.size());
  for (int64_t &offset : offsets)
    offset = function.reserveScratch(bytes);
  auto placeOf = [&](size_t i, Value at) {
    Value row = b.CreateConstGEP1_64(b.getInt8Ty(), e.scratch, offsets[i]);
    return b.CreateInBoundsGEP(e.typeOf(sums[i]->kind, 1), row, b.CreateNSWSub(at, start));
  };
  Value at = e.openLoop(start, end, 1, false);
  e.bindLevel(group.back(), setOf(group), at, 1, nullptr);
  llvm::SmallVector<Value> values;
  for (Node *sum : sums)
    values.push_back(e.emit(sum));
  for (auto [i, value] : llvm::enumerate(values))
    b.CreateStore(value, placeOf(i, at));
  e.closeLoop();
  unsigned lanes = std::min<unsigned>(e.chooseLanes(last - first, e.live), 64);
  overVectors(e, group, lanes, start, end, /*inParts=*/true, [&](Value at) {
    for (auto [i, sum] : llvm::enumerate(sums))
      e.levels.back().values[sum] = b.CreateAlignedLoad(
          e.typeOf(sum->kind, e.lanes()), placeOf(i, at), llvm::Align(byteSize(sum->kind)));
    emitRoots();
  });
  e.closeLoop();
}

void Nest::findShortRows(llvm::ArrayRef<LoopGroup> groups) {
  rowsAcross.reset();
  if (!takesRows() && !turned && !groups.empty() && lanesOf(groups.back()) > 1)
    rowsAcross = shortRows(g->graph, groups, emitter->live, stores());
}

// Rows by as many as whole vectors have, and what is left with lanes that are off.
void Nest::emitShortRows(ShortRows rows, llvm::ArrayRef<unsigned> outer,
                         llvm::ArrayRef<unsigned> inner, Range range, bool inParts) {
  Emitter &e = *emitter;
  auto [low, high] = boundsOf(g->graph, outer);
  DimSet all = setOf(outer) | setOf(inner);
  int64_t lanes = e.chooseLanes((high - low) * rows.columns, e.live);
  auto rowsTogether = [&] { return rows.vectorsOf(lanes) * lanes / rows.columns; };
  while (lanes > 8 && rowsTogether() > high - low)
    lanes /= 2;
  int64_t step = rowsTogether(), rest = (high - low) % step;
  // The vectors of the rows from `row`, of which so many points are there.
  auto emitFrom = [&](Value row, int64_t points) {
    for (rows.first = 0; rows.first < points; rows.first += lanes) {
      Value mask = nullptr;
      if (points - rows.first < lanes) {
        llvm::SmallVector<llvm::Constant *> exists;
        for (int64_t lane = 0; lane < lanes; ++lane)
          exists.push_back(e.b.getInt1(rows.first + lane < points));
        mask = llvm::ConstantVector::get(exists);
      }
      e.openBlock();
      e.bindRows(rows, all, row, lanes, mask);
      emitRoots();
      e.closeBlock();
    }
  };
  auto [from, to] = range;
  Value whole = to;
  if (inParts || rest) {
    Value length = e.b.CreateNSWSub(to, from);
    whole = e.b.CreateNSWAdd(from, e.b.CreateAnd(length, e.i64(-step)));
  }
  if (high - low >= step) {
    LoopGroup points(outer);
    llvm::append_range(points, inner);
    Value row = e.openLoop(from, whole, step, inParts);
    isStreamed = streamsVectors(points, lanes);
    emitFrom(row, step * rows.columns);
    isStreamed = false;
    e.closeLoop();
  }
  if (!rest)
    return;
  // Parts are whole vectors long: only the loop's very end leaves a rest.
  inParts ? e.openIf(e.b.CreateICmpSLT(whole, to)) : e.openBlock();
  emitFrom(whole, rest * rows.columns);
  inParts ? e.closeLoop() : e.closeBlock();
}

void Nest::emitBlocks(llvm::ArrayRef<unsigned> along, llvm::ArrayRef<unsigned> vector,
                      Range alongRange, Range vectorRange) {
  Emitter &e = *emitter;
  bool isPast = goesPastCaches(leastStreamedBlocks), isInLines = isPast && !startsAtLines(vector);
  int64_t inLine = isInLines ? lineBytes / byteSize(firstOfPoints()->kind) : 0;
  TurnedBlock block(e, *turned, along, vector,
                    {inLine, llvm::isa<llvm::Constant>(alongRange.second)});
  auto open = [&](Range range, int64_t side) -> Range {
    Value start = e.openLoop(range.first, range.second, side, /*mayBeEmpty=*/true);
    Value end = e.b.CreateNSWAdd(start, e.i64(side));
    return {start, e.b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, end, range.second)};
  };
  Range columns = open(vectorRange, block.vectorSide), rows = open(alongRange, block.alongSide);
  Value last = columns.second;
  if (isInLines) // a row goes on to the end of a line
    last = e.b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, e.b.CreateNSWAdd(last, e.i64(inLine)),
                                     e.i64(boundsOf(g->graph, vector).second));
  block.turn(rows.first, rows.second, columns.first, last);
  Value row = e.openLoop(rows.first, rows.second, 1, false);
  e.bindLevel(along.back(), setOf(along), row, 1, nullptr);
  auto bind = [&](Value column) { block.bind(row, column); };
  if (isInLines) {
    emitLines(vector, columns, bind);
  } else {
    isStreamed = isPast;
    overVectors(e, vector, lanesOf(vector), columns.first, columns.second, /*inParts=*/true,
                [&](Value column) {
                  bind(column);
                  emitRoots();
                });
    isStreamed = false;
  }
  e.closeLoop();
  e.closeLoop();
  e.closeLoop();
}

// A row of a block in whole lines of the results: it starts where the block before has ended, at a
// line, and ends at one, but for the loop's first and last.
void Nest::emitLines(llvm::ArrayRef<unsigned> group, Range range,
                     llvm::function_ref<void(Value at)> each) {
  Emitter &e = *emitter;
  auto &b = e.b;
  auto [first, last] = boundsOf(g->graph, group);
  const Root *root = firstOfPoints();
  int64_t inLine = lineBytes / byteSize(root->kind);
  unsigned lanes = std::min<int64_t>(lanesOf(group), inLine);
  e.openBlock();
  e.bindLevel(group.back(), setOf(group), e.i64(0), 1, nullptr);
  Value offset = e.emitIndex(root->offset);
  e.closeBlock();
  auto floor = [&](Value at, int64_t unit) {
    Value inside = b.CreateAnd(b.CreateNSWAdd(offset, at), e.i64(unit - 1));
    return b.CreateNSWSub(at, inside);
  };
  auto nextLine = [&](Value at) { return floor(b.CreateNSWAdd(at, e.i64(inLine - 1)), inLine); };
  Value isFirst = b.CreateICmpEQ(range.first, e.i64(first));
  Value low = b.CreateSelect(isFirst, floor(range.first, lanes), nextLine(range.first));
  Value high = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, nextLine(range.second), e.i64(last));
  high = b.CreateSelect(b.CreateICmpEQ(range.second, e.i64(last)), range.second, high);
  Value isCut = b.CreateICmpSLT(low, range.first);
  Value from = b.CreateSelect(isCut, b.CreateNSWAdd(low, e.i64(lanes)), low);
  Value to = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, from, high);
  Value length = b.CreateNSWSub(to, from);
  Value whole = b.CreateNSWAdd(from, b.CreateAnd(length, e.i64(-static_cast<int64_t>(lanes))));
  Value at = e.openLoop(from, whole, lanes, true);
  e.bindLevel(group.back(), setOf(group), at, lanes, nullptr);
  each(at);
  isStreamed = true;
  emitRoots();
  isStreamed = false;
  e.closeLoop();
  // What is left of the first vector, and behind the last whole one.
  Value firstPart = b.CreateSelect(isCut, e.i64(0), e.i64(1));
  Value endPart = b.CreateSelect(b.CreateICmpSLT(whole, high), e.i64(2), e.i64(1));
  Value part = e.openLoop(firstPart, endPart, 1, true);
  Value start = b.CreateSelect(b.CreateICmpEQ(part, e.i64(0)), low, whole);
  llvm::Type *type = llvm::FixedVectorType::get(b.getInt64Ty(), lanes);
  Value places = b.CreateAdd(e.splat(start, lanes), b.CreateStepVector(type));
  Value mask = b.CreateAnd(b.CreateICmpSGE(places, e.splat(range.first, lanes)),
                           b.CreateICmpSLT(places, e.splat(high, lanes)));
  e.bindLevel(group.back(), setOf(group), start, lanes, mask);
  each(start);
  emitRoots();
  e.closeLoop();
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
bool Nest::streamsVectors(llvm::ArrayRef<unsigned> vector, unsigned lanes) const {
  if (!goesPastCaches(leastStreamed))
    return false;
  bool fillsLines = lanes * byteSize(firstOfPoints()->kind) % lineBytes == 0;
  return fillsLines && startsAtLines(vector);
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

void Nest::emitBox(llvm::ArrayRef<GridLoop> grid, const Partition &part, Value cell,
                   llvm::Instruction *before) {
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
  if (chunked) {
    clampRange(*chunked, low, high);
    // In units of the loop that the chunked one was merged into.
    llvm::ArrayRef<unsigned> merged =
        *llvm::find_if(groups, [&](const LoopGroup &group) { return group.front() == *chunked; });
    int64_t rows = pointsOf(g->graph, merged.drop_front());
    low = e.b.CreateNSWMul(low, e.i64(rows));
    high = e.b.CreateNSWMul(high, e.i64(rows));
    // A chunk need not meet the piece of this box.
    high = e.b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, low, high);
  }
  turned.reset();
  if (!takesRows())
    turned = turnedLoads(g->graph, groups, e.live);
  if (turned)
    std::rotate(groups.begin() + turned->along, groups.begin() + turned->along + 1,
                groups.end() - 1);
  findShortRows(groups);
  emitLoops(groups, 0, chunked, low, high);
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
