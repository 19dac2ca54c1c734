// Running reductions (cumulative sums, maxima) of more than 16 elements, in one pass: within blocks of
// 16 one element after the other; the totals of blocks again so; and each result is what came before
// its block combined with what its block has up to it (Blelloch 1990, Prefix sums and their
// applications).
//
//   a b c .. | q r s ..      within: a, ab, abc, .. | q, qr, qrs, ..
//                            totals: T = ab..p, U = q..; running: T, TU, ..
//                            results: a, ab, abc, .. | T q, T qr, T qrs, ..
//
// Each level of totals has two accumulators: what its block has so far (`within`), and what came
// before that block (`before`). Where columns lie side by side, vectors of them go down together.
// Where the elements of one sum do, 16 blocks are turned in registers, so that a vector holds an
// element of each.
#include "passes/codegen/cpu/Accumulators.h"
#include "passes/codegen/cpu/KernelEmitter.h"
#include "passes/codegen/cpu/LoopNest.h"
#include "passes/codegen/kernel/RunningGraph.h"

#include "dialects/stablehlo/StablehloOps.h"
#include "dialects/stablehlo/TensorTypes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

namespace tessera::codegen {

using namespace tessera::stablehlo;
using Values = llvm::SmallVector<Value, 2>;

namespace {

constexpr int64_t kBlock = RunningLoops::block;

// Of an accumulator, as it is computed with.
int64_t bytesOf(const Node *input) {
  return isNarrowFloat(input->kind) ? 4 : byteSize(input->kind);
}

class RunningEmitter : RunningGraph {
public:
  RunningEmitter(KernelFunction &function, ReduceWindowOp op, RunningLoops loops)
      : function(function), op(op), loops(loops) {}
  bool emit();

private:
  bool emitCell(Value cell, llvm::Instruction *before);
  void reserve();
  bool goesPastCaches(unsigned width) const;
  Value position(Value step); // the element that is reduced at this step
  Values emitted(llvm::ArrayRef<Node *> nodes, unsigned lanes);
  llvm::Type *typeOf(size_t component, unsigned lanes) {
    return e->typeOf(accumulators->kind(component), lanes);
  }
  void store(llvm::ArrayRef<Value> results);
  Values combined(llvm::ArrayRef<Value> earlier, llvm::ArrayRef<Value> later);
  Values selected(Value condition, llvm::ArrayRef<Value> one, llvm::ArrayRef<Value> other);

  // Down columns.
  void emitColumns();
  Value accumulator(llvm::ArrayRef<int64_t> places, unsigned component);
  Values loaded(llvm::ArrayRef<int64_t> places);
  void keep(llvm::ArrayRef<int64_t> places, llvm::ArrayRef<Value> values);
  void passTotals(int level, Value step);
  // Loads whose lines are asked for, and how many elements ahead.
  llvm::SmallVector<std::pair<Node *, int64_t>> stripsAhead();
  llvm::SmallVector<std::pair<Node *, int64_t>> rowsAhead();

  // Along rows.
  void emitRows();
  void emitChunk(Value number, int64_t elements);
  std::vector<Values> turnedIn(Value start, int64_t elements);
  void turnOut(Value start, int64_t elements, llvm::ArrayRef<Values> results);
  void bindBlock(Value start, int64_t block, int64_t count);
  Values beforeBlocks(llvm::ArrayRef<Value> totals, int64_t count, Value chunk);

  KernelFunction &function;
  ReduceWindowOp op;
  RunningLoops loops;
  std::unique_ptr<EmittedGraph> g; // of the cell that is written
  Emitter *e = nullptr;
  std::optional<Accumulators> accumulators;
  unsigned lanes = 1;
  bool isStreamed = false;
  LoopRange columns;
  Value firstColumn = nullptr;
  // Of each level the accumulators' places in the scratch, by component.
  std::vector<llvm::SmallVector<int64_t>> within, before;
};

} // namespace

void RunningEmitter::reserve() {
  constexpr int64_t widestVector = 64; // elements
  int64_t columns = loops.innerChunk + widestVector;
  for (int level = 0, levels = loops.levels(); level < levels; ++level)
    for (auto *places : {&within, &before}) {
      places->emplace_back();
      for (Node *input : reduction.inputs)
        places->back().push_back(function.reserveScratch(columns * bytesOf(input)));
    }
}

bool RunningEmitter::goesPastCaches(unsigned width) const {
  constexpr int64_t line = 64;
  int64_t elements = loops.outer * loops.size * loops.inner;
  return llvm::all_of(llvm::enumerate(op->getResults()), [&](auto result) {
    ElementType type = *elementType(result.value().getType());
    int64_t bytes = type.bytes(), row = (loops.inner > 1 ? loops.inner : loops.size) * bytes;
    bool isInLines = row % line == 0 && width * bytes >= 16;
    int output = function.kernel.outputOf(op, result.index());
    return !type.complex && isInLines && elements * bytes >= leastStreamed &&
           (output < 0 || function.kernel.inplaceOf(output) < 0);
  });
}

Value RunningEmitter::position(Value step) {
  return loops.forward ? step : e->b.CreateNSWSub(e->i64(loops.size - 1), step);
}

Values RunningEmitter::emitted(llvm::ArrayRef<Node *> nodes, unsigned lanes) {
  Values values;
  for (auto [i, node] : llvm::enumerate(nodes))
    values.push_back(accumulators->fromTerm(i, e->splat(e->emit(node), lanes)));
  return values;
}

// The start value comes last.
void RunningEmitter::store(llvm::ArrayRef<Value> values) {
  Values results(values);
  if (!reduction.inits.empty())
    results =
        Values(e->combine(accumulators->reduction(), emitted(reduction.inits, e->lanes()), values));
  for (auto [i, value] : llvm::enumerate(results))
    value = accumulators->toTerm(i, value);
  unsigned next = 0;
  for (unsigned i = 0; i < op->getNumResults(); ++i) {
    ElementType type = *elementType(op->getResult(i).getType());
    auto component = [&] {
      unsigned c = next++;
      return e->convert(results[c], reduction.inputs[c]->kind, kinds[c]);
    };
    Value re = component(), im = type.complex ? component() : nullptr;
    int output = function.kernel.outputOf(op, i);
    if (output >= 0)
      e->store(function.outputBuffer(output), type.kind,
               type.complex ? g->graph.multiply(offset, 2) : offset, re, im);
  }
}

// Of two parts, the one that is reduced earlier first; from the end on it lies behind the other.
Values RunningEmitter::combined(llvm::ArrayRef<Value> earlier, llvm::ArrayRef<Value> later) {
  return Values(loops.forward ? e->combine(accumulators->reduction(), earlier, later)
                              : e->combine(accumulators->reduction(), later, earlier));
}

Values RunningEmitter::selected(Value condition, llvm::ArrayRef<Value> one,
                                llvm::ArrayRef<Value> other) {
  Values values;
  for (auto [a, b] : llvm::zip_equal(one, other))
    values.push_back(e->b.CreateSelect(condition, a, b));
  return values;
}

//===--- Down columns ---===//

// Of the columns that the innermost loop is at.
Value RunningEmitter::accumulator(llvm::ArrayRef<int64_t> places, unsigned component) {
  int64_t bytes = bytesOf(reduction.inputs[component]);
  Value column = e->b.CreateNSWSub(e->variables[innerDim], firstColumn);
  Value at = e->b.CreateNSWAdd(e->b.CreateNSWMul(column, e->i64(bytes)), e->i64(places[component]));
  return e->b.CreateInBoundsGEP(e->b.getInt8Ty(), e->scratch, at);
}

Values RunningEmitter::loaded(llvm::ArrayRef<int64_t> places) {
  Values values;
  for (unsigned i = 0; i < places.size(); ++i) {
    llvm::Align align(bytesOf(reduction.inputs[i]));
    values.push_back(e->b.CreateAlignedLoad(typeOf(i, e->lanes()), accumulator(places, i), align));
  }
  return values;
}

void RunningEmitter::keep(llvm::ArrayRef<int64_t> places, llvm::ArrayRef<Value> values) {
  for (auto [i, value] : llvm::enumerate(values))
    e->b.CreateAlignedStore(value, accumulator(places, i),
                            llvm::Align(bytesOf(reduction.inputs[i])));
}

// After the last element of a block of the level below: its total joins those of this level.
void RunningEmitter::passTotals(int level, Value step) {
  auto &b = e->b;
  int64_t below = int64_t(1) << (4 * level);
  Value digit = b.CreateAnd(b.CreateLShr(step, e->i64(int64_t(4) * level)), e->i64(kBlock - 1));
  Value isFirst = b.CreateICmpEQ(digit, e->i64(0));
  bool isLast = level + 1 == loops.levels();
  Value isAlone = isLast ? b.getTrue() : b.CreateICmpULT(step, e->i64(below * kBlock));
  loopOver(*e, columns, lanes, [&] {
    Values total = loaded(within[level - 1]);
    Values sum = selected(isFirst, total, combined(loaded(within[level]), total));
    keep(within[level], sum);
    if (!isLast)
      sum = selected(isAlone, sum, combined(loaded(before[level]), sum));
    keep(before[level - 1], sum);
  });
  if (isLast)
    return;
  e->openIf(b.CreateICmpEQ(digit, e->i64(kBlock - 1)));
  passTotals(level + 1, step);
  e->closeLoop();
}

// What is read of arrays whose rows are wider than a strip, and how far on it is asked for. To the
// processor a strip is a new stream in each row, which it sees too late.
llvm::SmallVector<std::pair<Node *, int64_t>> RunningEmitter::stripsAhead() {
  constexpr int64_t bytesAhead = 4 << 10; // of each array: there is room in the first cache
  llvm::SmallVector<std::pair<Node *, int64_t>> ahead;
  if (loops.innerChunk == loops.inner)
    return ahead;
  for (Node *load : e->live) {
    if (load->op != Op::Load || !e->asksFor(load))
      continue;
    int64_t strip = loops.innerChunk * byteSize(load->kind);
    int64_t rows = std::clamp<int64_t>(bytesAhead / strip, 1, kBlock);
    int64_t row = load->index->coefficient(dim) * (loops.forward ? 1 : -1);
    if (row && load->index->coefficient(innerDim) == 1)
      ahead.push_back({load, row * rows});
  }
  return ahead;
}

void RunningEmitter::emitColumns() {
  auto &b = e->b;
  Value step = e->openLoop(e->i64(0), e->i64(loops.size), 1, false);
  e->bindLevel(dim, DimSet(1) << dim, position(step), 1, nullptr);
  Value digit = b.CreateAnd(step, e->i64(kBlock - 1));
  Value isFirst = b.CreateICmpEQ(digit, e->i64(0));
  Value isAlone = b.CreateICmpULT(step, e->i64(kBlock));
  auto ahead = stripsAhead();
  loopOver(*e, columns, lanes, [&] {
    for (auto [load, elements] : ahead)
      e->askAhead(load, elements);
    Values fresh = emitted(reduction.inputs, e->lanes());
    Values sum = selected(isFirst, fresh, combined(loaded(within[0]), fresh));
    keep(within[0], sum);
    store(selected(isAlone, sum, combined(loaded(before[0]), sum)));
  });
  e->openIf(b.CreateICmpEQ(digit, e->i64(kBlock - 1)));
  passTotals(1, step);
  e->closeLoop();
  e->closeLoop();
}

//===--- Along rows ---===//

// What is read of arrays whose rows these are: before so many instructions are through, the processor
// asks for nothing behind them.
llvm::SmallVector<std::pair<Node *, int64_t>> RunningEmitter::rowsAhead() {
  constexpr int64_t bytesAhead = 8 << 10;
  llvm::SmallVector<std::pair<Node *, int64_t>> ahead;
  for (Node *load : e->live)
    if (load->op == Op::Load && e->asksFor(load) && load->index->coefficient(dim) == 1)
      ahead.push_back({load, bytesAhead / byteSize(load->kind) * (loops.forward ? 1 : -1)});
  return ahead;
}

// A vector for each of the 16 places in a block: that element of 16 blocks from `start` on.
std::vector<Values> RunningEmitter::turnedIn(Value start, int64_t elements) {
  std::vector<llvm::SmallVector<Value>> rows(kinds.size());
  auto ahead = rowsAhead();
  for (int64_t block = 0; block < kBlock; ++block) {
    int64_t count = std::clamp<int64_t>(elements - block * kBlock, 0, kBlock);
    e->openBlock();
    bindBlock(start, block, count);
    for (auto [load, elements] : ahead)
      e->askAhead(load, elements);
    for (auto [i, input] : llvm::enumerate(reduction.inputs))
      rows[i].push_back(count == 0 ? llvm::Constant::getNullValue(typeOf(i, kBlock))
                                   : accumulators->fromTerm(i, e->splat(e->emit(input), kBlock)));
    e->closeBlock();
  }
  std::vector<Values> places(kBlock);
  for (auto &component : rows) {
    llvm::SmallVector<Value> turned = e->transpose(std::move(component));
    for (int64_t j = 0; j < kBlock; ++j)
      places[j].push_back(turned[loops.forward ? j : kBlock - 1 - j]);
  }
  return places;
}

void RunningEmitter::turnOut(Value start, int64_t elements, llvm::ArrayRef<Values> results) {
  std::vector<llvm::SmallVector<Value>> rows;
  for (size_t i = 0; i < kinds.size(); ++i) {
    llvm::SmallVector<Value> places;
    for (int64_t j = 0; j < kBlock; ++j)
      places.push_back(results[loops.forward ? j : kBlock - 1 - j][i]);
    rows.push_back(e->transpose(std::move(places)));
  }
  for (int64_t block = 0; block * kBlock < elements; ++block) {
    e->openBlock();
    bindBlock(start, block, std::min(elements - block * kBlock, kBlock));
    Values values;
    for (auto &row : rows)
      values.push_back(row[block]);
    store(values);
    e->closeBlock();
  }
}

// The innermost level is at the elements of a block, `count` of which exist: a vector of them in the
// order in which they lie.
void RunningEmitter::bindBlock(Value start, int64_t block, int64_t count) {
  auto &b = e->b;
  Value first = b.CreateNSWAdd(start, e->i64(block * kBlock));
  if (!loops.forward)
    first = b.CreateNSWSub(e->i64(loops.size - kBlock), first);
  Value mask = nullptr;
  if (count < kBlock) {
    llvm::SmallVector<llvm::Constant *> exists;
    for (int64_t lane = 0; lane < kBlock; ++lane)
      exists.push_back(b.getInt1(loops.forward ? lane < count : lane >= kBlock - count));
    mask = llvm::ConstantVector::get(exists);
  }
  e->bindLevel(dim, DimSet(1) << dim, first, kBlock, mask);
}

// What comes before each of 16 blocks, whose totals are the lanes of vectors; `chunk` is the number
// of the sixteen. The accumulators of higher levels are numbers in the scratch.
Values RunningEmitter::beforeBlocks(llvm::ArrayRef<Value> totals, int64_t count, Value chunk) {
  auto &b = e->b;
  auto lane = [&](llvm::ArrayRef<Value> vectors, int64_t number) {
    Values values;
    for (Value vector : vectors)
      values.push_back(b.CreateExtractElement(vector, uint64_t(number)));
    return values;
  };
  Values sum = lane(totals, 0), sums;
  for (Value total : totals)
    sums.push_back(llvm::PoisonValue::get(total->getType()));
  for (int64_t block = 0; block < count; ++block) {
    if (block > 0)
      sum = combined(sum, lane(totals, block));
    for (auto [vector, value] : llvm::zip_equal(sums, sum))
      vector = b.CreateInsertElement(vector, value, uint64_t(block));
  }
  Values running = sums, earlier, results;
  Value isAlone = b.CreateICmpEQ(chunk, e->i64(0));
  if (loops.levels() > 2) {
    for (Value value : loaded(before[1]))
      earlier.push_back(e->splat(value, kBlock));
    running = selected(isAlone, sums, combined(earlier, sums));
  }
  // Each block's result is for the next one, the last block's for the next sixteen.
  llvm::SmallVector<int> shifted{kBlock};
  for (int i = 0; i + 1 < kBlock; ++i)
    shifted.push_back(i);
  for (auto [i, value] : llvm::enumerate(loaded(before[0])))
    results.push_back(b.CreateShuffleVector(running[i], e->splat(value, kBlock), shifted));
  if (count < kBlock || loops.levels() <= 2)
    return results;
  keep(before[0], lane(running, kBlock - 1));
  keep(within[1], sum);
  passTotals(2, b.CreateOr(b.CreateShl(chunk, 8), e->i64(255)));
  return results;
}

void RunningEmitter::emitChunk(Value chunk, int64_t elements) {
  auto &b = e->b;
  e->variables[innerDim] = e->i64(0); // of the accumulators
  Value start = b.CreateShl(chunk, 8);
  std::vector<Values> places = turnedIn(start, elements);
  for (int64_t j = 1; j < kBlock; ++j)
    places[j] = combined(places[j - 1], places[j]);
  Values earlier = beforeBlocks(places.back(), llvm::divideCeil(elements, kBlock), chunk);
  // Nothing comes before the first block of all.
  Value first = b.CreateInsertElement(
      llvm::Constant::getNullValue(llvm::FixedVectorType::get(b.getInt1Ty(), kBlock)),
      b.CreateICmpEQ(chunk, e->i64(0)), uint64_t(0));
  for (Values &sums : places)
    sums = selected(first, sums, combined(earlier, sums));
  turnOut(start, elements, places);
}

void RunningEmitter::emitRows() {
  constexpr int64_t chunk = kBlock * kBlock;
  int64_t whole = loops.size / chunk, rest = loops.size % chunk;
  if (whole) {
    Value number = e->openLoop(e->i64(0), e->i64(whole), 1, false);
    emitChunk(number, chunk);
    e->closeLoop();
  }
  if (rest)
    emitChunk(e->i64(whole), rest);
}

bool RunningEmitter::emitCell(Value cell, llvm::Instruction *end) {
  SplitTable none;
  g = std::make_unique<EmittedGraph>(function, none);
  if (!build(*g, op, loops))
    return false;
  e = &g->emitter;
  accumulators.emplace(*e, reduction, /*takesWords=*/false);
  e->openBody(end);
  auto &b = e->b;
  Value number = cell;
  columns = {innerDim};
  firstColumn = e->i64(0);
  int64_t strips = llvm::divideCeil(loops.inner, loops.innerChunk);
  if (strips > 1) {
    std::tie(columns.low, columns.high) =
        chunkRange(*e, b.CreateURem(cell, e->i64(strips)), loops.innerChunk, loops.inner);
    firstColumn = columns.low;
    number = b.CreateUDiv(cell, e->i64(strips));
  }
  // Of many arrays at once a vector's code is too long: one number after the other.
  constexpr size_t mostTurned = 4;
  int64_t held = 0;
  for (Node *input : reduction.inputs)
    held += kBlock * kBlock * bytesOf(input);
  bool goesAlong = loops.inner == 1 && reduction.inputs.size() <= mostTurned &&
                   held <= function.features.mostHeldBytes;
  llvm::SmallVector<Node *> computed(reduction.inputs.begin(), reduction.inputs.end());
  computed.append(reduction.results);
  llvm::SmallVector<Node *> read(reduction.inputs.begin(), reduction.inputs.end());
  read.append(reduction.inits.begin(), reduction.inits.end());
  e->live = Graph::reachable(read);
  lanes = loops.inner > 1 ? e->chooseLanes(loops.innerChunk, Graph::reachable(computed)) : 1;
  if (within.empty())
    reserve();
  auto [from, to] = chunkRange(*e, number, loops.outerChunk, loops.outer);
  Value row = e->openLoop(from, to, 1, true);
  e->bindLevel(outerDim, DimSet(1) << outerDim, row, 1, nullptr);
  e->bindLevel(innerDim, DimSet(1) << innerDim, e->i64(0), 1, nullptr);
  e->streams = goesPastCaches(goesAlong ? kBlock : lanes);
  isStreamed |= e->streams;
  goesAlong ? emitRows() : emitColumns();
  e->streams = false;
  e->closeLoop();
  return true;
}

bool RunningEmitter::emit() {
  if (loops.outer * loops.inner == 0)
    return true;
  bool ok = true;
  function.forEachCell(loops.cells(),
                       [&](Value cell, llvm::Instruction *end) { ok = emitCell(cell, end); });
  if (isStreamed)
    function.endStreams();
  return ok;
}

bool emitRunningReduction(KernelFunction &function, mlir::Operation *operation) {
  // Registers of blocks that are turned wait on the stack, which LLVM leaves aligned for half of one.
  function.function->addFnAttr("stackrealign");
  auto op = mlir::cast<ReduceWindowOp>(operation);
  return RunningEmitter(function, op, *runningLoopsOf(op)).emit();
}

} // namespace tessera::codegen
