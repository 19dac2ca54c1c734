// Running reductions (cumulative sums, maxima) by the threads of a block, in the order of those of a cpu
// (cpu/RunningReduction.cpp): within blocks of 16, then over the totals of blocks in blocks of 16, and so on.
//
//   for each chunk of 4,096 elements of a row, or of 256 of each of 16 columns:
//     its elements to shared memory
//     a thread has 16 of a column: each combined with those before it; the last one is their total
//     a sixteenth of the threads has 16 totals, and so on, up to the chunk's
//     back: what comes before a sixteen of totals is combined with each of them, and so with the elements
//     results to memory
//     what comes before the next chunk, at each level
//
// The levels above a chunk's are a thread's work once in a chunk.
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
    columns = loops.inner > 1 ? kBlock : 1;
    levels = columns == 1 && loops.size > kBlock * kBlock ? 3 : 2;
    rows = int64_t(1) << (4 * levels);
  }

  bool build() { return RunningGraph::build(kernel, op, loops); }
  // Whether a block finds room for a chunk.
  bool suits();
  void emit();

private:
  // Values of a level in shared memory: elements (0), or totals of the level below; by component.
  struct Level {
    int64_t count; // of a column
    Values arrays;
  };
  int64_t placesOf(int64_t count) const { return count * columns + count * columns / kBlock; }
  int64_t bytes() const;
  Values take(int64_t count);
  Value place(Value array, size_t component, Value row, Value column);
  Values read(llvm::ArrayRef<Value> arrays, Value row, Value column);
  void write(llvm::ArrayRef<Value> arrays, Value row, Value column, llvm::ArrayRef<Value> values);

  llvm::Type *typeOf(size_t component) { return e.typeOf(accumulators->kind(component), 1); }
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

  void emitBlock(Value number);
  void overChunk(Value chunk, llvm::function_ref<void(Value row, Value column)> body);
  void overColumns(int64_t count, llvm::function_ref<void(Value number, Value column)> body);
  void load(Value chunk);
  void scan(int level);
  void combineWithBefore(int level, Value chunk);
  Values withBefore(int level, Value chunk, Value row, Value column);
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
  int64_t columns, rows; // of a chunk
  int levels;            // within it
  Value firstColumn = nullptr;
  std::vector<Level> inChunk;
  Values total;               // of a chunk
  std::vector<Values> before; // by level: what comes before the next chunk, of totals of that level
  std::vector<Values> within; // by level from `levels` on: what its block of 16 has so far
};

} // namespace

int64_t RunningRows::bytes() const {
  int64_t places = 0, each = 0;
  for (int level = 0; level < levels; ++level)
    places += placesOf(rows >> (4 * level));
  places += 2 * columns * (loops.levels() + 2);
  for (size_t i = 0; i < reduction.inputs.size(); ++i)
    each += std::max<int64_t>(byteSize(accumulators->kind(i)), 1);
  return places * each;
}

bool RunningRows::suits() {
  accumulators.emplace(e, reduction, /*takesWords=*/false);
  for (size_t i = 0; i < reduction.inputs.size(); ++i)
    if (typeOf(i)->getScalarSizeInBits() < 8)
      return false;
  return bytes() <= function.sharedLeft();
}

Values RunningRows::take(int64_t places) {
  Values arrays;
  for (size_t i = 0; i < reduction.inputs.size(); ++i)
    arrays.push_back(function.takeShared(llvm::ArrayType::get(typeOf(i), places), "_running"));
  return arrays;
}

// Sixteens of a column begin in banks of their own.
Value RunningRows::place(Value array, size_t component, Value row, Value column) {
  Value number = b.CreateNSWAdd(b.CreateNSWMul(row, e.i64(columns)), column);
  if (columns == 1)
    number = b.CreateNSWAdd(number, b.CreateLShr(row, 4));
  return b.CreateInBoundsGEP(typeOf(component), array, number);
}

Values RunningRows::read(llvm::ArrayRef<Value> arrays, Value row, Value column) {
  Values values;
  for (auto [i, array] : llvm::enumerate(arrays))
    values.push_back(b.CreateLoad(typeOf(i), place(array, i, row, column)));
  return values;
}

void RunningRows::write(llvm::ArrayRef<Value> arrays, Value row, Value column,
                        llvm::ArrayRef<Value> values) {
  for (auto [i, array] : llvm::enumerate(arrays))
    b.CreateStore(values[i], place(array, i, row, column));
}

// The chunk's elements that exist, each by one thread; in order, as they lie.
void RunningRows::overChunk(Value chunk, llvm::function_ref<void(Value, Value)> body) {
  int64_t most = std::min(rows, loops.size);
  Value number = e.openLoop(function.thread, e.i64(most * columns), function.launch.threads,
                            /*mayBeEmpty=*/true);
  Value row = columns == 1 ? number : b.CreateLShr(number, 4);
  Value column = columns == 1 ? e.i64(0) : b.CreateAnd(number, columns - 1);
  Value step = b.CreateNSWAdd(b.CreateNSWMul(chunk, e.i64(rows)), row);
  Value inner = b.CreateNSWAdd(firstColumn, column);
  e.openIf(b.CreateAnd(b.CreateICmpSLT(step, e.i64(loops.size)),
                       b.CreateICmpSLT(inner, e.i64(loops.inner))));
  Value position = loops.forward ? step : b.CreateNSWSub(e.i64(loops.size - 1), step);
  e.bindLevel(dim, DimSet(1) << dim, position, 1, nullptr);
  e.bindLevel(innerDim, DimSet(1) << innerDim, inner, 1, nullptr);
  body(row, column);
  e.closeLoop();
  e.closeLoop();
}

// `count` threads for each column.
void RunningRows::overColumns(int64_t count, llvm::function_ref<void(Value, Value)> body) {
  e.openIf(b.CreateICmpSLT(function.thread, e.i64(count * columns)));
  Value number = columns == 1 ? function.thread : b.CreateLShr(function.thread, 4);
  Value column = columns == 1 ? e.i64(0) : b.CreateAnd(function.thread, columns - 1);
  body(number, column);
  e.closeLoop();
  barrier(b);
}

void RunningRows::load(Value chunk) {
  overChunk(chunk, [&](Value row, Value column) {
    Values terms;
    for (auto [i, input] : llvm::enumerate(reduction.inputs))
      terms.push_back(accumulators->fromTerm(i, e.emit(input)));
    write(inChunk[0].arrays, row, column, terms);
  });
  barrier(b);
}

// Sixteens of a level: each of its values becomes what the sixteen has up to it.
void RunningRows::scan(int level) {
  const Level &own = inChunk[level];
  bool isTop = level + 1 == levels;
  overColumns(own.count / kBlock, [&](Value number, Value column) {
    Value first = b.CreateShl(number, 4);
    Values sum = read(own.arrays, first, column), slots;
    for (auto [i, value] : llvm::enumerate(sum)) {
      slots.push_back(e.temporary(typeOf(i), "sum"));
      b.CreateStore(value, slots.back());
    }
    auto current = [&] {
      Values values;
      for (auto [i, slot] : llvm::enumerate(slots))
        values.push_back(b.CreateLoad(typeOf(i), slot));
      return values;
    };
    Value row = e.openLoop(b.CreateNSWAdd(first, e.i64(1)), b.CreateNSWAdd(first, e.i64(kBlock)), 1,
                           /*mayBeEmpty=*/false);
    sum = combined(current(), read(own.arrays, row, column));
    for (auto [slot, value] : llvm::zip(slots, sum))
      b.CreateStore(value, slot);
    write(own.arrays, row, column, sum);
    e.closeLoop();
    write(isTop ? total : inChunk[level + 1].arrays, number, column, current());
  });
}

// A value of a level, with what comes before its sixteen.
Values RunningRows::withBefore(int level, Value chunk, Value row, Value column) {
  Values own = read(inChunk[level].arrays, row, column);
  Value sixteen = b.CreateLShr(row, 4);
  Value isFirst = b.CreateICmpEQ(sixteen, e.i64(0));
  Values earlier = read(before[level + 1], e.i64(0), column);
  if (level + 1 < levels) {
    Value one =
        b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, b.CreateNSWSub(sixteen, e.i64(1)), e.i64(0));
    earlier = selected(isFirst, earlier, read(inChunk[level + 1].arrays, one, column));
  }
  Value isAlone = b.CreateAnd(isFirst, b.CreateICmpEQ(chunk, e.i64(0)));
  return selected(isAlone, own, combined(earlier, own));
}

void RunningRows::combineWithBefore(int level, Value chunk) {
  overColumns(inChunk[level].count, [&](Value number, Value column) {
    write(inChunk[level].arrays, number, column, withBefore(level, chunk, number, column));
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
  Value isFirst = b.CreateICmpEQ(digit, e.i64(0)), zero = e.i64(0);
  bool isLast = level + 1 == loops.levels();
  Values fresh = read(level == levels ? total : within[level - 1], zero, column);
  Values sum = selected(isFirst, fresh, combined(read(within[level], zero, column), fresh));
  write(within[level], zero, column, sum);
  if (!isLast) {
    Value isAlone = b.CreateICmpULT(chunk, e.i64(below * kBlock));
    sum = selected(isAlone, sum, combined(read(before[level + 1], zero, column), sum));
  }
  write(before[level], zero, column, sum);
  if (isLast)
    return;
  e.openIf(b.CreateICmpEQ(digit, e.i64(kBlock - 1)));
  passTotals(level + 1, chunk, column);
  e.closeLoop();
}

void RunningRows::carry(Value chunk) {
  overColumns(1, [&](Value, Value column) {
    for (int level = 1; level < levels; ++level)
      write(before[level], e.i64(0), column,
            read(inChunk[level].arrays, e.i64(inChunk[level].count - 1), column));
    passTotals(levels, chunk, column);
  });
}

void RunningRows::emitBlock(Value number) {
  Value outer = number;
  firstColumn = e.i64(0);
  if (int64_t strips = llvm::divideCeil(loops.inner, columns); strips > 1) {
    firstColumn = b.CreateNSWMul(b.CreateURem(number, e.i64(strips)), e.i64(columns));
    outer = b.CreateUDiv(number, e.i64(strips));
  }
  e.bindLevel(outerDim, DimSet(1) << outerDim, outer, 1, nullptr);
  int64_t chunks = llvm::divideCeil(loops.size, rows);
  Value chunk = e.openLoop(e.i64(0), e.i64(chunks), 1, /*mayBeEmpty=*/false);
  load(chunk);
  for (int level = 0; level < levels; ++level)
    scan(level);
  for (int level = levels - 1; level > 0; --level)
    combineWithBefore(level, chunk);
  overChunk(chunk, [&](Value row, Value column) { store(withBefore(0, chunk, row, column)); });
  barrier(b);
  if (chunks > 1)
    carry(chunk);
  e.closeLoop();
}

void RunningRows::emit() {
  function.launch.threads = std::max(rows * columns / kBlock, kWarp);
  llvm::SmallVector<Node *> used(reduction.inputs.begin(), reduction.inputs.end());
  used.append(reduction.inits.begin(), reduction.inits.end());
  e.live = Graph::reachable(used);
  e.variables.resize(kernel.graph.dims.size());
  for (int level = 0; level < levels; ++level) {
    int64_t count = rows >> (4 * level);
    inChunk.push_back({count, take(placesOf(count))});
  }
  total = take(columns);
  before.resize(std::max(loops.levels(), levels) + 1);
  within.resize(loops.levels());
  for (Values &arrays : llvm::drop_begin(before))
    arrays = take(columns);
  for (int level = levels; level < loops.levels(); ++level)
    within[level] = take(columns);
  function.addBlocks(loops.outer * llvm::divideCeil(loops.inner, columns),
                     [&](Value number, llvm::Instruction *end) {
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
  if (!rows.build())
    return false;
  known = rows.suits();
  if (known)
    rows.emit();
  return true;
}

} // namespace tessera::codegen::gpu
