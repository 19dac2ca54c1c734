// Loops of a nest that don't go along one row after the other: sums of some rows before what is made of
// them, vectors across the ends of short rows, and blocks of which one operand is turned.
#include "passes/codegen/cpu/LoopNest.h"
#include "passes/codegen/cpu/Nest.h"
#include "passes/codegen/cpu/TurnedBlock.h"

#include "llvm/ADT/STLExtras.h"

#include <numeric>

namespace tessera::codegen {

void Nest::emitSumsFirst(llvm::ArrayRef<Node *> sums, llvm::ArrayRef<unsigned> group, Part part) {
  constexpr int64_t strip = 256;
  Emitter &e = *emitter;
  auto &b = e.b;
  auto [first, last] = boundsOf(g->graph, group);
  Value start = e.openLoop(part.from, part.to, strip, part.step != 0);
  Value end =
      b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b.CreateNSWAdd(start, e.i64(strip)), part.to);
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
  overVectors(e, group, lanes, start, end, std::gcd(part.step, strip), [&](Value at) {
    for (auto [i, sum] : llvm::enumerate(sums))
      e.levels.back().values[sum] = b.CreateAlignedLoad(
          e.typeOf(sum->kind, e.lanes()), placeOf(i, at), llvm::Align(byteSize(sum->kind)));
    emitRoots();
  });
  e.closeLoop();
}

int64_t Nest::lanesAcross(const ShortRows &rows, int64_t count) const {
  int64_t lanes = emitter->chooseLanes(count * rows.columns, emitter->live);
  while (lanes > 8 && rows.rowsTogether(lanes) > count)
    lanes /= 2;
  return lanes;
}

// Rows by as many as whole vectors have, and what is left with lanes that are off.
void Nest::emitShortRows(ShortRows rows, llvm::ArrayRef<unsigned> outer,
                         llvm::ArrayRef<unsigned> inner, Part part) {
  Emitter &e = *emitter;
  auto [low, high] = boundsOf(g->graph, outer);
  DimSet all = setOf(outer) | setOf(inner);
  int64_t lanes = lanesAcross(rows, high - low);
  int64_t step = rows.rowsTogether(lanes), rest = (high - low) % step;
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
  auto [from, to, stepOfParts] = part;
  bool inParts = stepOfParts != 0;
  Value whole = to;
  if (inParts || rest) {
    Value length = e.b.CreateNSWSub(to, from);
    whole = e.b.CreateNSWAdd(from, e.b.CreateAnd(length, e.i64(-step)));
  }
  if (high - low >= step) {
    LoopGroup points(outer);
    llvm::append_range(points, inner);
    Value row = e.openLoop(from, whole, step, inParts);
    isStreamed = streamsVectors(points, lanes, /*step=*/0);
    emitFrom(row, step * rows.columns);
    isStreamed = false;
    e.closeLoop();
  }
  if (!rest)
    return;
  // Parts are whole vectors long (findShortRows): only the loop's very end leaves a rest.
  inParts ? e.openIf(e.b.CreateICmpSLT(whole, to)) : e.openBlock();
  emitFrom(whole, rest * rows.columns);
  inParts ? e.closeLoop() : e.closeBlock();
}

void Nest::emitBlocks(llvm::ArrayRef<unsigned> around, llvm::ArrayRef<unsigned> along,
                      llvm::ArrayRef<unsigned> vector, Part alongPart, Part vectorPart) {
  Emitter &e = *emitter;
  bool isPast = goesPastCaches(leastStreamedBlocks), isInLines = isPast && !startsAtLines(vector);
  int64_t inLine = isInLines ? lineBytes / byteSize(firstOfPoints()->kind) : 0;
  TurnedBlock block(e, *turned, along, vector, inLine);
  auto open = [&](const Part &part, int64_t side) -> Range {
    Value start = e.openLoop(part.from, part.to, side, /*mayBeEmpty=*/true);
    Value end = e.b.CreateNSWAdd(start, e.i64(side));
    return {start, e.b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, end, part.to)};
  };
  Range columns = open(vectorPart, block.vectorSide), rows = open(alongPart, block.alongSide);
  Value last = columns.second;
  if (isInLines) // a row goes on to the end of a line
    last = e.b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, e.b.CreateNSWAdd(last, e.i64(inLine)),
                                     e.i64(boundsOf(g->graph, vector).second));
  expectNext(block, around, {rows, alongPart}, {columns, vectorPart});
  block.turn(rows.first, rows.second, columns.first, last);
  Value row = e.openLoop(rows.first, rows.second, 1, false);
  e.bindLevel(along.back(), setOf(along), row, 1, nullptr);
  block.askForNext(row, rows.first, rows.second);
  auto bind = [&](Value column) { block.bind(row, column); };
  if (isInLines) {
    emitLines(vector, columns, bind);
  } else {
    isStreamed = isPast;
    overVectors(e, vector, lanesOf(vector), columns.first, columns.second,
                std::gcd(vectorPart.step, block.vectorSide), [&](Value column) {
                  bind(column);
                  emitRoots();
                });
    isStreamed = false;
  }
  e.closeLoop();
  e.closeLoop();
  e.closeLoop();
}

// The next block: along the lines, then of other rows, then of the loop around. Behind a cell's last one
// comes that of the next cell.
void Nest::expectNext(TurnedBlock &block, llvm::ArrayRef<unsigned> around,
                      std::pair<Range, Part> along, std::pair<Range, Part> vector) {
  auto &b = emitter->b;
  auto [rows, alongPart] = along;
  auto [columns, vectorPart] = vector;
  Value isEnd = b.CreateICmpSGE(rows.second, alongPart.to);
  Value isLast = b.CreateAnd(isEnd, b.CreateICmpSGE(columns.second, vectorPart.to));
  Value here = around.empty() ? nullptr : emitter->variables[around.back()];
  bool goesAlong = !here && alongPart.step != 0;
  Value start = goesAlong ? b.CreateSelect(isLast, alongPart.to, alongPart.from) : alongPart.from;
  Value other =
      here || goesAlong ? b.CreateSelect(isLast, vectorPart.from, columns.second) : columns.second;
  Value trip = here ? b.CreateNSWAdd(here, b.CreateZExt(isLast, here->getType())) : nullptr;
  block.expect(b.CreateSelect(isEnd, start, rows.second),
               b.CreateSelect(isEnd, other, columns.first), around, trip);
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

} // namespace tessera::codegen
