#include "passes/codegen/gpu/PartedSum.h"

namespace tessera::codegen::gpu {

Units::Units(const Graph &graph, const Reduction &reduction)
    : size(pointsOf(graph, reduction.loops.back())),
      unit(std::min<int64_t>(16, llvm::PowerOf2Ceil(size))), fours(size / (4 * unit)) {}

std::optional<SumParts> partsOfColumns(const Graph &graph, const Reduction &reduction,
                                       int64_t threads, int64_t most) {
  SumParts parts;
  std::optional<SumParts> found;
  for (const auto &loop : reduction.loops) {
    int64_t count = pointsOf(graph, loop);
    for (int64_t rows : {16384, 1024, 64, 4, 1}) {
      if (rows == 1 && count > 4) // a term is no node: fours are
        continue;
      SumParts tried = parts;
      tried.rows = rows;
      tried.counts.push_back(llvm::divideCeil(count, rows));
      if (tried.count() > most)
        break;
      if (tried.count() >= 2 * threads)
        return found ? found : tried;
      if (!found && tried.count() >= (rows >= 64 ? threads / 2 : threads))
        found = tried;
    }
    parts.counts.push_back(count);
    ++parts.depth;
  }
  return found;
}

SumParts partsOfRows(const Graph &graph, const Reduction &reduction, int64_t units, int64_t most) {
  SumParts parts, found;
  auto isEnough = [&](int64_t rows, int64_t count) {
    SumParts tried = parts;
    tried.rows = rows;
    tried.counts.push_back(count);
    if (tried.count() <= most)
      found = tried;
    return tried.count() > most || tried.count() >= 2 * units;
  };
  for (const auto &loop : llvm::ArrayRef(reduction.loops).drop_back()) {
    int64_t count = pointsOf(graph, loop);
    for (int64_t rows : {262144, 16384, 1024, 64, 4, 1})
      if (isEnough(rows, llvm::divideCeil(count, rows)))
        return found;
    parts.counts.push_back(count);
    ++parts.depth;
  }
  Units inner(graph, reduction);
  for (int64_t fours : {65536, 4096, 256, 16, 1})
    if (isEnough(fours, llvm::divideCeil(inner.fours, fours) + (inner.hasRest() ? 1 : 0)))
      break;
  return found;
}

static int64_t bytesOf(const Emitter &e, const Node *input) {
  llvm::Type *type = computeType(input->kind, e.b.getContext());
  return std::max<int64_t>(type->getScalarSizeInBits() / 8, 1);
}

int64_t PartedSum::bytesOfColumn(const Emitter &e, const Reduction &reduction, int64_t parts) {
  int64_t bytes = 0;
  for (const Node *input : reduction.inputs)
    bytes += (parts + 1) * bytesOf(e, input);
  return bytes;
}

PartedSum::PartedSum(Emitter &e, const Reduction &reduction, const SumParts &parts, Value space)
    : SumSlots(e, reduction, /*width=*/1), parts(parts), space(space) {
  if (reduction.order == Reduction::Rows)
    units.emplace(e.graph, reduction);
}

llvm::SmallVector<Value> PartedSum::emit(Value exists) {
  int64_t offset = 0, count = parts.count();
  for (const Node *input : reduction.inputs) {
    places.push_back(b.CreateConstGEP1_64(b.getInt8Ty(), space, offset));
    offset += (count + 1) * columns * bytesOf(e, input);
  }
  Value end = e.i64(count);
  if (exists)
    end = b.CreateSelect(exists, end, e.i64(0));
  addPart(e.openLoop(team, end, teams, /*mayBeEmpty=*/true));
  e.closeLoop();
  barrier(b);
  e.openIf(b.CreateICmpEQ(team, e.i64(0)));
  Slots total = cleared();
  addTree(0, e.i64(0), total);
  keep(e.i64(count), loaded(total));
  e.closeLoop();
  barrier(b);
  Slots sums = units ? foldLanes(e.i64(count)) : kept(e.i64(count), column);
  for (auto [i, sum] : llvm::enumerate(sums))
    sum = accumulators.toTerm(i, sum);
  llvm::SmallVector<Value> inits;
  for (Node *init : reduction.inits)
    inits.push_back(e.emit(init));
  return e.combine(reduction, inits, sums);
}

Value PartedSum::lane() {
  return columns == units->unit ? column : b.CreateAnd(column, e.i64(units->unit - 1));
}

Value PartedSum::place(size_t input, Value part, Value column) {
  Value at = b.CreateNSWAdd(b.CreateNSWMul(part, e.i64(columns)), column);
  return b.CreateInBoundsGEP(typeOf(input), places[input], at);
}

void PartedSum::keep(Value part, llvm::ArrayRef<Value> values) {
  for (auto [i, value] : llvm::enumerate(values))
    b.CreateStore(value, place(i, part, column));
}

Slots PartedSum::kept(Value part, Value column) {
  Slots values;
  for (size_t i = 0; i < places.size(); ++i)
    values.push_back(b.CreateLoad(typeOf(i), place(i, part, column)));
  return values;
}

Slots PartedSum::foldLanes(Value total) {
  std::vector<Slots> lanes;
  Value first = b.CreateNSWSub(column, lane());
  for (int64_t number = 0; number < units->unit; ++number)
    lanes.push_back(kept(total, b.CreateNSWAdd(first, e.i64(number))));
  return foldByHalves(std::move(lanes));
}

// `each` for the terms [low, high), `most` at most, or exactly, of a loop of more than four: in fours, and these in
// sixteens.
void PartedSum::inFours(Value low, Value high, int64_t most, bool isExact,
                        llvm::ArrayRef<Value> into,
                        llvm::function_ref<void(Value term, llvm::ArrayRef<Value> into)> each) {
  auto overTerms = [&](Value low, Value high, llvm::ArrayRef<Value> into) {
    each(e.openLoop(low, high, 1, /*mayBeEmpty=*/false), into);
    e.closeLoop();
  };
  if (most <= 4)
    return overTerms(low, high, into);
  Value end = b.CreateLShr(b.CreateNSWAdd(high, e.i64(3)), 2);
  inSixteens(
      b.CreateLShr(low, 2), end, llvm::divideCeil(most, 4), into,
      [&](Value four, llvm::ArrayRef<Value> into) {
        Value first = b.CreateShl(four, 2);
        overTerms(first, endOfBlock(first, 4, high, isExact && most % 4 == 0), into);
      },
      isExact);
}

void PartedSum::addLoop(size_t depth, llvm::ArrayRef<Value> into) {
  if (isOfUnits(depth)) {
    addUnits(e.i64(0), e.i64(units->fours), units->fours, /*isExact=*/true, into);
    return addRest(into);
  }
  int64_t count = pointsOf(e.graph, reduction.loops[depth]);
  addTerms(depth, e.i64(0), e.i64(count), count, /*isExact=*/true, into);
}

// Of a part: from the loop at `depth` on, of which it has [low, high).
void PartedSum::addTerms(size_t depth, Value low, Value high, int64_t most, bool isExact,
                         llvm::ArrayRef<Value> into) {
  inFours(low, high, most, isExact, into, [&](Value at, llvm::ArrayRef<Value> into) {
    e.bindLoop(reduction.loops[depth], at);
    if (depth + 1 == reduction.loops.size())
      return add(into, terms());
    Slots inner = cleared();
    addLoop(depth + 1, inner);
    add(into, loaded(inner));
  });
}

// The lane's elements of the fours [low, high), `most` at most, or exactly.
void PartedSum::addUnits(Value low, Value high, int64_t most, bool isExact,
                         llvm::ArrayRef<Value> into) {
  if (!most)
    return;
  auto addFour = [&](Value four, llvm::ArrayRef<Value> into) {
    Value start = b.CreateNSWMul(four, e.i64(4 * units->unit));
    start = b.CreateNSWAdd(start, lane());
    Value unit = e.openLoop(e.i64(0), e.i64(4 * units->unit), units->unit, /*mayBeEmpty=*/false);
    e.bindLoop(reduction.loops.back(), b.CreateNSWAdd(start, unit));
    add(into, terms());
    e.closeLoop();
  };
  inSixteens(low, high, most, into, addFour, isExact);
}

void PartedSum::addRest(llvm::ArrayRef<Value> into) {
  if (!units->hasRest())
    return;
  Slots rest = cleared();
  Value low = b.CreateNSWAdd(e.i64(units->fours * 4 * units->unit), lane());
  e.bindLoop(reduction.loops.back(),
             e.openLoop(low, e.i64(units->size), units->unit, /*mayBeEmpty=*/true));
  add(rest, terms());
  e.closeLoop();
  add(into, loaded(rest));
}

void PartedSum::addPart(Value number) {
  Value rest = number;
  llvm::SmallVector<Value> digits(parts.counts.size());
  for (size_t depth = digits.size(); depth-- > 0;) {
    digits[depth] = depth ? b.CreateURem(rest, e.i64(parts.counts[depth])) : rest;
    rest = depth ? b.CreateUDiv(rest, e.i64(parts.counts[depth])) : rest;
  }
  for (size_t depth = 0; depth < parts.depth; ++depth)
    e.bindLoop(reduction.loops[depth], digits[depth]);
  Slots sum = cleared();
  if (isOfUnits(parts.depth)) {
    addPartOfUnits(digits.back(), sum);
  } else {
    int64_t count = pointsOf(e.graph, reduction.loops[parts.depth]);
    Value low = b.CreateNSWMul(digits.back(), e.i64(parts.rows));
    bool isExact = count % parts.rows == 0;
    addTerms(parts.depth, low, endOfBlock(low, parts.rows, e.i64(count), isExact),
             std::min(parts.rows, count), isExact, sum);
  }
  keep(number, loaded(sum));
}

void PartedSum::addPartOfUnits(Value number, llvm::ArrayRef<Value> into) {
  e.openIf(b.CreateICmpSLT(number, e.i64(wholeParts())));
  Value low = b.CreateNSWMul(number, e.i64(parts.rows));
  bool isExact = units->fours % parts.rows == 0;
  addUnits(low, endOfBlock(low, parts.rows, e.i64(units->fours), isExact),
           std::min(parts.rows, units->fours), isExact, into);
  e.closeLoop();
  if (!units->hasRest())
    return;
  e.openIf(b.CreateICmpEQ(number, e.i64(wholeParts())));
  addRest(into);
  e.closeLoop();
}

// The parts from `first` on, which are all of the loop at `depth` and of those within.
void PartedSum::addTree(size_t depth, Value first, llvm::ArrayRef<Value> into) {
  int64_t count = parts.counts[depth];
  auto each = [&](Value at, llvm::ArrayRef<Value> into) {
    Value number = b.CreateNSWAdd(first, at);
    if (depth < parts.depth) {
      Slots inner = cleared();
      addTree(depth + 1, b.CreateNSWMul(number, e.i64(parts.counts[depth + 1])), inner);
      return add(into, loaded(inner));
    }
    add(into, kept(number, column));
  };
  if (isOfUnits(depth)) {
    if (int64_t whole = wholeParts())
      inSixteens(e.i64(0), e.i64(whole), whole, into, each, /*isExact=*/true);
    if (units->hasRest())
      each(e.i64(wholeParts()), into);
    return;
  }
  if (depth < parts.depth || parts.rows == 1)
    return inFours(e.i64(0), e.i64(count), count, /*isExact=*/true, into, each);
  inSixteens(e.i64(0), e.i64(count), count, into, each, /*isExact=*/true);
}

} // namespace tessera::codegen::gpu
