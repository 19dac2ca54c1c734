// Running reductions (cumulative sums, maxima) by the threads of a block, in the order of those of a cpu
// (cpu/RunningReduction.cpp): within blocks of 16, then over the totals of blocks in blocks of 16, and so on.
//
//   for each chunk of 4,096 elements of a row, or of 256 of each of 16 columns:
//     its elements to shared memory
//     a thread has 16 of a column: each combined with those before it; the last one is their total
//     a sixteenth of the threads has 16 totals, and so on, up to the chunk's
//     back: what comes before a sixteen of totals is combined with each of them, and so with sixteens of elements
//     results to memory
//     what comes before the next chunk, at each level
//
// The levels above a chunk's are a thread's work once in a chunk. Of rows that are shorter than a chunk a block
// has several, as many as there are threads for; there is nothing before or behind them.
#include "passes/codegen/cpu/Accumulators.h"
#include "passes/codegen/gpu/EntryFunction.h"
#include "passes/codegen/kernel/RunningGraph.h"

#include "dialects/stablehlo/TensorTypes.h"
#include "llvm/ADT/STLExtras.h"

namespace tessera::codegen::gpu {

using namespace tessera::stablehlo;
using Values = llvm::SmallVector<Value, 2>;

namespace {

constexpr int64_t kBlock = RunningLoops::block;

class RunningRows : RunningGraph {
public:
  RunningRows(EntryFunction &function, ReduceWindowOp op, const RunningLoops &loops)
      : function(function), op(op), loops(loops), kernel(function.kernel, none),
        e(function.emitter(kernel.graph)), b(e.b) {
    columns = isAcross() ? kBlock : 1;
    setLevels(isAcross() ? 2 : std::min(loops.levels(), 3));
    if (isWhole && !isAcross())
      columns = std::clamp(kMostThreads * kBlock / rows, int64_t(1), loops.outer);
  }

  bool build();
  void emit();

private:
  void fit();
  void setLevels(int count) {
    levels = count;
    rows = std::min<int64_t>(int64_t(1) << (4 * levels), llvm::alignTo(loops.size, kBlock));
    isWhole = loops.size <= rows;
  }
  // Values of a level in shared memory: elements (0), or totals of the level below; by component.
  struct Level {
    int64_t count; // of a column, in whole sixteens
    Values arrays;
  };
  // Whether columns lie side by side in memory; else they are rows.
  bool isAcross() const { return loops.inner > 1; }
  int64_t countOf(int level) const {
    return level == 0 ? rows : llvm::alignTo(countOf(level - 1) / kBlock, kBlock);
  }
  // Of rows one place more for each two sixteens: these begin in banks of their own, and elements side by side
  // lie in all banks. Across, a line more for each sixteen.
  int64_t placesOf(int64_t count) const {
    return columns * count + columns * count / (isAcross() ? kBlock : 2 * kBlock);
  }
  int64_t bytes() const;
  Values take(int64_t count);
  Value place(const Level &level, size_t component, Value row, Value column);
  Values read(const Level &level, Value row, Value column);
  void write(const Level &level, Value row, Value column, llvm::ArrayRef<Value> values);
  // A sixteen of a level lies in steps that are known: its first values' places, and those behind them.
  Values firstOf(const Level &level, Value sixteen, Value column);
  Value next(size_t component, llvm::ArrayRef<Value> first, int64_t row) {
    return b.CreateConstInBoundsGEP1_64(memoryType(component), first[component],
                                        row * (isAcross() ? columns : 1));
  }
  Values readNext(llvm::ArrayRef<Value> first, int64_t row);
  void writeNext(llvm::ArrayRef<Value> first, int64_t row, llvm::ArrayRef<Value> values);
  Values read(llvm::ArrayRef<Value> arrays, Value column);
  void write(llvm::ArrayRef<Value> arrays, Value column, llvm::ArrayRef<Value> values);

  llvm::Type *typeOf(size_t component) { return e.typeOf(accumulators->kind(component), 1); }
  // What is smaller has a byte in memory.
  llvm::Type *memoryType(size_t component) {
    llvm::Type *type = typeOf(component);
    return type->getScalarSizeInBits() < 8 ? b.getInt8Ty() : type;
  }
  Value load(size_t component, Value place) {
    Value value = b.CreateLoad(memoryType(component), place);
    return value->getType() == typeOf(component) ? value : b.CreateTrunc(value, typeOf(component));
  }
  void store(size_t component, Value value, Value place) {
    if (value->getType() != memoryType(component))
      value = b.CreateZExt(value, memoryType(component));
    b.CreateStore(value, place);
  }
  Values combined(llvm::ArrayRef<Value> earlier, llvm::ArrayRef<Value> later) {
    return Values(loops.forward ? e.combine(accumulators->reduction(), earlier, later)
                                : e.combine(accumulators->reduction(), later, earlier));
  }
  Values selected(Value condition, llvm::ArrayRef<Value> one, llvm::ArrayRef<Value> other) {
    Values values;
    for (auto [x, y] : llvm::zip_equal(one, other))
      values.push_back(b.CreateSelect(condition, x, y));
    return values;
  }

  std::pair<Value, Value> divided(Value number, int64_t by); // fewer than 2^31
  // Of what goes column by column: its column, and which of that.
  std::pair<Value, Value> besideOthers(Value number) {
    return {b.CreateAnd(number, columns - 1), b.CreateLShr(number, llvm::Log2_64(columns))};
  }
  void emitBlock(Value number);
  void emitChunk(Value chunk);
  void overChunk(Value chunk, llvm::function_ref<void(Value row, Value column)> body);
  void overColumns(int64_t count, llvm::function_ref<void(Value number, Value column)> body);
  void load(Value chunk);
  void scan(int level);
  std::pair<Values, Value> beforeSixteen(int level, Value chunk, Value sixteen, Value column);
  void combineTotals(int level, Value chunk);
  void combineElements(Value chunk);
  void store(llvm::ArrayRef<Value> results);
  void carry(Value chunk);
  void passTotals(int level, Value chunk, Value column);

  EntryFunction &function;
  ReduceWindowOp op;
  const RunningLoops loops;
  const SplitTable none;
  KernelGraph kernel;
  Emitter e;
  llvm::IRBuilder<> &b;
  std::optional<Accumulators> accumulators;
  static constexpr int64_t kMostThreads = 256;
  int64_t columns, rows;                        // of a chunk; columns may be rows of the array
  int levels;                                   // within it
  bool isWhole;                                 // all rows of a column are in it
  Value outer = nullptr, firstColumn = nullptr; // of the block
  std::vector<Level> inChunk;
  Values total;               // of a chunk
  std::vector<Values> before; // by level: what comes before the next chunk, of totals of that level
  std::vector<Values> within; // by level from `levels` on: what its block of 16 has so far
};

} // namespace

int64_t RunningRows::bytes() const {
  int64_t places = 0, each = 0;
  for (int level = 0; level < levels; ++level)
    places += placesOf(countOf(level));
  if (!isWhole)
    places += 2 * columns * (loops.levels() + 2);
  for (size_t i = 0; i < reduction.inputs.size(); ++i)
    each += std::max<int64_t>(byteSize(accumulators->kind(i)), 1);
  return places * each;
}

bool RunningRows::build() {
  if (!RunningGraph::build(kernel, op, loops))
    return false;
  accumulators.emplace(e, reduction, /*takesWords=*/false);
  fit();
  return true;
}

// A chunk that a block finds room for. Of several arrays a block has fewer columns, down to those of a sector
// of the widest elements, or of rows fewer; then a chunk has fewer levels.
void RunningRows::fit() {
  constexpr int64_t fewestAcross = 4;
  while (columns > (isAcross() ? fewestAcross : 1) && bytes() > function.sharedLeft())
    columns = isAcross() ? columns / 2 : llvm::divideCeil(columns, 2);
  while (levels > 1 && bytes() > function.sharedLeft())
    setLevels(levels - 1);
}

Values RunningRows::take(int64_t places) {
  Values arrays;
  for (size_t i = 0; i < reduction.inputs.size(); ++i)
    arrays.push_back(function.takeShared(llvm::ArrayType::get(memoryType(i), places), "_running"));
  return arrays;
}

Value RunningRows::place(const Level &level, size_t component, Value row, Value column) {
  Value number;
  if (isAcross()) {
    Value line = b.CreateNSWAdd(row, b.CreateLShr(row, 4));
    number = b.CreateNSWAdd(b.CreateNSWMul(line, e.i64(columns)), column);
  } else {
    number = b.CreateNSWAdd(b.CreateNSWMul(column, e.i64(level.count)), row);
    number = b.CreateNSWAdd(number, b.CreateLShr(number, 5));
  }
  return b.CreateInBoundsGEP(memoryType(component), level.arrays[component], number);
}

Values RunningRows::read(const Level &level, Value row, Value column) {
  Values values;
  for (size_t i = 0; i < level.arrays.size(); ++i)
    values.push_back(load(i, place(level, i, row, column)));
  return values;
}

void RunningRows::write(const Level &level, Value row, Value column, llvm::ArrayRef<Value> values) {
  for (size_t i = 0; i < level.arrays.size(); ++i)
    store(i, values[i], place(level, i, row, column));
}

Values RunningRows::read(llvm::ArrayRef<Value> arrays, Value column) {
  Values values;
  for (auto [i, array] : llvm::enumerate(arrays))
    values.push_back(load(i, b.CreateInBoundsGEP(memoryType(i), array, column)));
  return values;
}

void RunningRows::write(llvm::ArrayRef<Value> arrays, Value column, llvm::ArrayRef<Value> values) {
  for (auto [i, array] : llvm::enumerate(arrays))
    store(i, values[i], b.CreateInBoundsGEP(memoryType(i), array, column));
}

std::pair<Value, Value> RunningRows::divided(Value number, int64_t by) {
  Value low = b.CreateTrunc(number, b.getInt32Ty()), divisor = b.getInt32(by);
  Value quotient = b.CreateUDiv(low, divisor);
  Value rest = b.CreateSub(low, b.CreateMul(quotient, divisor));
  return {b.CreateZExt(quotient, b.getInt64Ty()), b.CreateZExt(rest, b.getInt64Ty())};
}

// The chunk's elements that exist, each by one thread; in order, as they lie.
void RunningRows::overChunk(Value chunk, llvm::function_ref<void(Value, Value)> body) {
  int64_t most = std::min(rows, loops.size);
  Value end = e.i64(most * columns);
  if (isWhole && !isAcross() && loops.outer % columns != 0) {
    Value left = b.CreateNSWSub(e.i64(loops.outer), outer);
    end = b.CreateNSWMul(b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, left, e.i64(columns)),
                         e.i64(most));
  }
  Value number = e.openLoop(function.thread, end, function.launch.threads, /*mayBeEmpty=*/true);
  Value row = number, column = e.i64(0), inner = e.i64(0);
  if (isAcross()) {
    std::tie(column, row) = besideOthers(number);
    inner = b.CreateNSWAdd(firstColumn, column);
  } else if (columns > 1) {
    std::tie(column, row) = divided(number, most);
  }
  Value step = b.CreateNSWAdd(b.CreateNSWMul(chunk, e.i64(rows)), row);
  e.openIf(b.CreateAnd(isWhole ? b.getTrue() : b.CreateICmpSLT(step, e.i64(loops.size)),
                       b.CreateICmpSLT(inner, e.i64(loops.inner))));
  Value position = loops.forward ? step : b.CreateNSWSub(e.i64(loops.size - 1), step);
  e.bindLevel(outerDim, DimSet(1) << outerDim, isAcross() ? outer : b.CreateNSWAdd(outer, column),
              1, nullptr);
  e.bindLevel(dim, DimSet(1) << dim, position, 1, nullptr);
  e.bindLevel(innerDim, DimSet(1) << innerDim, inner, 1, nullptr);
  body(row, column);
  e.closeLoop();
  e.closeLoop();
}

// `count` threads for each column. Columns that are rows may be past the last: what they compute nobody reads.
void RunningRows::overColumns(int64_t count, llvm::function_ref<void(Value, Value)> body) {
  e.openIf(b.CreateICmpSLT(function.thread, e.i64(count * columns)));
  Value number = function.thread, column = e.i64(0);
  if (isAcross())
    std::tie(column, number) = besideOthers(function.thread);
  else if (columns > 1)
    std::tie(column, number) = divided(function.thread, count);
  body(number, column);
  e.closeLoop();
  barrier(b);
}

void RunningRows::load(Value chunk) {
  overChunk(chunk, [&](Value row, Value column) {
    Values terms;
    for (auto [i, input] : llvm::enumerate(reduction.inputs))
      terms.push_back(accumulators->fromTerm(i, e.emit(input)));
    write(inChunk[0], row, column, terms);
  });
  barrier(b);
}

Values RunningRows::firstOf(const Level &level, Value sixteen, Value column) {
  Values first;
  for (size_t i = 0; i < level.arrays.size(); ++i)
    first.push_back(place(level, i, b.CreateShl(sixteen, 4), column));
  return first;
}

Values RunningRows::readNext(llvm::ArrayRef<Value> first, int64_t row) {
  Values values;
  for (size_t i = 0; i < first.size(); ++i)
    values.push_back(load(i, next(i, first, row)));
  return values;
}

void RunningRows::writeNext(llvm::ArrayRef<Value> first, int64_t row,
                            llvm::ArrayRef<Value> values) {
  for (size_t i = 0; i < first.size(); ++i)
    store(i, values[i], next(i, first, row));
}

// Sixteens of a level: each of its values becomes what the sixteen has up to it.
void RunningRows::scan(int level) {
  const Level &own = inChunk[level];
  bool isTop = level + 1 == levels;
  overColumns(own.count / kBlock, [&](Value sixteen, Value column) {
    Values first = firstOf(own, sixteen, column), sum = readNext(first, 0);
    for (int64_t row = 1; row < kBlock; ++row) {
      sum = combined(sum, readNext(first, row));
      writeNext(first, row, sum);
    }
    if (!isTop)
      write(inChunk[level + 1], sixteen, column, sum);
    else if (!isWhole)
      write(total, column, sum);
  });
}

// What comes before a sixteen of a level, and whether there is anything.
std::pair<Values, Value> RunningRows::beforeSixteen(int level, Value chunk, Value sixteen,
                                                    Value column) {
  bool isTop = level + 1 == levels;
  Value isFirst = b.CreateICmpEQ(sixteen, e.i64(0));
  Values earlier;
  if (!isTop) {
    Value one =
        b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, b.CreateNSWSub(sixteen, e.i64(1)), e.i64(0));
    earlier = read(inChunk[level + 1], one, column);
  }
  if (isWhole)
    return {earlier, b.CreateNot(isFirst)};
  Values carried = read(before[level + 1], column);
  Value isAlone = b.CreateAnd(isFirst, b.CreateICmpEQ(chunk, e.i64(0)));
  return {isTop ? carried : selected(isFirst, carried, earlier), b.CreateNot(isAlone)};
}

// Of totals: a thread has one of them.
void RunningRows::combineTotals(int level, Value chunk) {
  overColumns(inChunk[level - 1].count / kBlock, [&](Value number, Value column) {
    Values own = read(inChunk[level], number, column);
    auto [earlier, exists] = beforeSixteen(level, chunk, b.CreateLShr(number, 4), column);
    write(inChunk[level], number, column, selected(exists, combined(earlier, own), own));
  });
}

// Of elements: a thread has a sixteen, whose total before it is read once.
void RunningRows::combineElements(Value chunk) {
  overColumns(inChunk[0].count / kBlock, [&](Value sixteen, Value column) {
    auto [earlier, exists] = beforeSixteen(0, chunk, sixteen, column);
    e.openIf(exists);
    Values first = firstOf(inChunk[0], sixteen, column);
    for (int64_t row = 0; row < kBlock; ++row)
      writeNext(first, row, combined(earlier, readNext(first, row)));
    e.closeLoop();
  });
}

// The start value comes last.
void RunningRows::store(llvm::ArrayRef<Value> values) {
  Values results(values);
  if (!reduction.inits.empty()) {
    Values inits;
    for (auto [i, init] : llvm::enumerate(reduction.inits))
      inits.push_back(accumulators->fromTerm(i, e.emit(init)));
    results = Values(e.combine(accumulators->reduction(), inits, values));
  }
  unsigned next = 0;
  auto component = [&] {
    unsigned c = next++;
    Value value = accumulators->toTerm(c, results[c]);
    return e.convert(value, reduction.inputs[c]->kind, kinds[c]);
  };
  for (unsigned i = 0; i < op->getNumResults(); ++i) {
    ElementType type = *elementType(op->getResult(i).getType());
    Value re = component(), im = type.complex ? component() : nullptr;
    if (int output = function.kernel.outputOf(op, i); output >= 0)
      e.store(function.outputBuffer(output), type.kind,
              type.complex ? kernel.graph.multiply(offset, 2) : offset, re, im);
  }
}

// A total of the level below joins those of this level; `chunk` counts those of the first level above a
// chunk's.
void RunningRows::passTotals(int level, Value chunk, Value column) {
  int64_t below = int64_t(1) << (4 * (level - levels));
  Value digit = b.CreateAnd(b.CreateLShr(chunk, e.i64(4 * (level - levels))), kBlock - 1);
  Value isFirst = b.CreateICmpEQ(digit, e.i64(0));
  bool isLast = level + 1 == loops.levels();
  Values fresh = read(level == levels ? total : within[level - 1], column);
  Values sum = selected(isFirst, fresh, combined(read(within[level], column), fresh));
  write(within[level], column, sum);
  if (!isLast) {
    Value isAlone = b.CreateICmpULT(chunk, e.i64(below * kBlock));
    sum = selected(isAlone, sum, combined(read(before[level + 1], column), sum));
  }
  write(before[level], column, sum);
  if (isLast)
    return;
  e.openIf(b.CreateICmpEQ(digit, e.i64(kBlock - 1)));
  passTotals(level + 1, chunk, column);
  e.closeLoop();
}

void RunningRows::carry(Value chunk) {
  overColumns(1, [&](Value, Value column) {
    for (int level = 1; level < levels; ++level)
      write(before[level], column, read(inChunk[level], e.i64(inChunk[level].count - 1), column));
    passTotals(levels, chunk, column);
  });
}

void RunningRows::emitBlock(Value number) {
  outer = number;
  firstColumn = e.i64(0);
  if (int64_t strips = llvm::divideCeil(loops.inner, columns); isAcross() && strips > 1) {
    firstColumn = b.CreateNSWMul(b.CreateURem(number, e.i64(strips)), e.i64(columns));
    outer = b.CreateUDiv(number, e.i64(strips));
  } else if (!isAcross()) {
    outer = b.CreateNSWMul(number, e.i64(columns));
  }
  if (isWhole)
    return emitChunk(e.i64(0));
  Value chunk = e.openLoop(e.i64(0), e.i64(llvm::divideCeil(loops.size, rows)), 1,
                           /*mayBeEmpty=*/false);
  emitChunk(chunk);
  carry(chunk); // which ends with a barrier, so that elements are read before the next ones come
  e.closeLoop();
}

void RunningRows::emitChunk(Value chunk) {
  load(chunk);
  for (int level = 0; level < levels; ++level)
    scan(level);
  for (int level = levels - (isWhole ? 2 : 1); level > 0; --level)
    combineTotals(level, chunk);
  if (!isWhole || levels > 1)
    combineElements(chunk);
  overChunk(chunk, [&](Value row, Value column) { store(read(inChunk[0], row, column)); });
}

void RunningRows::emit() {
  function.launch.threads = llvm::alignTo(columns * rows / kBlock, kWarp);
  llvm::SmallVector<Node *> used(reduction.inputs.begin(), reduction.inputs.end());
  used.append(reduction.inits.begin(), reduction.inits.end());
  e.live = Graph::reachable(used);
  e.variables.resize(kernel.graph.dims.size());
  for (int level = 0; level < levels; ++level)
    inChunk.push_back({countOf(level), take(placesOf(countOf(level)))});
  if (!isWhole) {
    total = take(columns);
    before.resize(std::max(loops.levels(), levels) + 1);
    within.resize(loops.levels());
    for (Values &arrays : llvm::drop_begin(before))
      arrays = take(columns);
    for (int level = levels; level < loops.levels(); ++level)
      within[level] = take(columns);
  }
  int64_t blocks = isAcross() ? loops.outer * llvm::divideCeil(loops.inner, columns)
                              : llvm::divideCeil(loops.outer, columns);
  function.addBlocks(blocks, [&](Value number, llvm::Instruction *end) {
    e.openBody(end);
    emitBlock(number);
  });
}

bool emitRunning(EntryFunction &function, bool &known) {
  auto windows = function.kernel.body->getOps<ReduceWindowOp>();
  if (!llvm::hasSingleElement(windows))
    return true;
  ReduceWindowOp op = *windows.begin();
  std::optional<RunningLoops> loops = runningLoopsOf(op);
  if (!loops || loops->outer * loops->inner == 0)
    return true;
  RunningRows rows(function, op, *loops);
  known = rows.build();
  if (known)
    rows.emit();
  return known;
}

} // namespace tessera::codegen::gpu
