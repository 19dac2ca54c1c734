#include "passes/codegen/gpu/BlockSum.h"

#include "passes/codegen/cpu/SumSlots.h"
#include "passes/codegen/gpu/LaneShuffle.h"
#include "passes/codegen/gpu/PartedSum.h"
#include "llvm/IR/Intrinsics.h"

namespace tessera::codegen::gpu {

static constexpr int64_t kUnit = kUnitThreads, kFour = 4 * kUnit; // elements

static int64_t bytesOf(const Emitter &e, ElementKind kind) {
  llvm::Type *type = computeType(kind, e.b.getContext());
  return std::max<int64_t>(type->getScalarSizeInBits() / 8, 1);
}

// Fours that 16 threads add up before they store a sum.
static int64_t together(int64_t elements) {
  constexpr int64_t kManyFours = 128;
  return elements / kFour >= kManyFours ? 16 : 1;
}

static int64_t partialSums(int64_t elements) {
  return llvm::divideCeil(elements / kFour, together(elements));
}

// Of them, of what is left over, and of the lanes' sums.
static int64_t places(int64_t elements) {
  return (partialSums(elements) + (elements % kFour ? 2 : 1)) * kUnit;
}

int64_t mostBlockSumBytes(int64_t elements) { return places(elements) * 8; }

// Of a sum over several dimensions: for any team, whatever the number of its threads.
static SumParts partsOf(const Emitter &e, const Reduction &reduction) {
  constexpr int64_t kMostBytes = 16 << 10, kUnits = 16;
  int64_t ofPart = Units(e.graph, reduction).unit * PartedSum::bytesOfColumn(e, reduction, 0);
  return partsOfRows(e.graph, reduction, kUnits, kMostBytes / ofPart - 1);
}

static llvm::SmallVector<Value> emitParted(const Team &team, Emitter &e, const Reduction &reduction,
                                           Value space) {
  PartedSum sum(e, reduction, partsOf(e, reduction), space);
  sum.columns = Units(e.graph, reduction).unit;
  sum.teams = team.threads / sum.columns;
  sum.column = e.b.CreateAnd(team.thread, e.i64(sum.columns - 1));
  sum.team = e.b.CreateLShr(team.thread, llvm::Log2_64(sum.columns));
  return sum.emit();
}

int64_t blockSumBytes(const Emitter &e, const Reduction &reduction, int64_t threads) {
  if (reduction.loops.size() > 1)
    return Units(e.graph, reduction).unit *
           PartedSum::bytesOfColumn(e, reduction, partsOf(e, reduction).count());
  if (threads == kUnit)
    return 0;
  int64_t bytes = 0;
  for (Node *input : reduction.inputs)
    bytes += places(pointsOf(e.graph, reduction.dims)) * bytesOf(e, input->kind);
  return bytes;
}

bool isBlockSum(const Emitter &e, const Reduction &reduction) {
  // A thread by itself writes each term out for all lanes of a unit. Of the only row no other team waits.
  int64_t fewest = !reduction.deps && reduction.loops.size() == 1 ? kUnit : kFour;
  if (reduction.simple.empty() || reduction.order != Reduction::Rows ||
      pointsOf(e.graph, reduction.dims) < fewest)
    return false;
  return llvm::none_of(reduction.inputs, [](Node *input) { return bitWidth(input->kind) < 8; });
}

namespace {

class BlockSum : SumSlots {
public:
  BlockSum(const Team &team, Emitter &e, const Reduction &reduction, Value space)
      : SumSlots(e, reduction, /*width=*/1), team(team), space(space),
        size(pointsOf(e.graph, reduction.dims)), fours(size / kFour), foursTogether(together(size)),
        parts(partialSums(size)) {}

  llvm::SmallVector<Value> emit(OverRow overRow) {
    lane = b.CreateAnd(team.thread, e.i64(kUnit - 1));
    auto atOnce = [&](llvm::function_ref<void(int64_t, int64_t)> add) { add(0, size); };
    if (!overRow)
      overRow = atOnce;
    return e.combine(reduction, inits(),
                     team.threads == kUnit ? inRegisters(overRow) : inSharedMemory(overRow));
  }

private:
  Value place(Value array, size_t input, Value number) {
    return b.CreateInBoundsGEP(typeOf(input), array, number);
  }
  // Of a row that these sixteen threads have for themselves.
  Slots inRegisters(OverRow overRow) {
    Slots total = cleared();
    overRow([&](int64_t, int64_t) { // of the only window
      if (parts)
        inSixteens(e.i64(0), e.i64(parts), parts, total,
                   [&](Value part, llvm::ArrayRef<Value> into) { addPart(part, into); });
      if (hasRest())
        add(total, sumOfRest());
    });
    return foldedLanes(loaded(total));
  }

  Slots inSharedMemory(OverRow overRow) {
    takePlaces();
    overRow([&](int64_t low, int64_t high) {
      int64_t each = kFour * foursTogether;
      if (parts)
        addFours(low / each, std::min<int64_t>(llvm::divideCeil(high, each), parts));
      if (high == size)
        addRest();
    });
    barrier(b);
    e.openIf(b.CreateICmpULT(team.thread, e.i64(kUnit)));
    addLane();
    e.closeLoop();
    barrier(b);
    Slots sum;
    for (size_t i = 0; i < lanes.size(); ++i)
      sum.push_back(b.CreateLoad(typeOf(i), place(lanes[i], i, e.i64(0))));
    return sum;
  }

  void takePlaces() {
    int64_t offset = 0;
    auto take = [&](Node *input, int64_t count) {
      Value place = b.CreateConstGEP1_64(b.getInt8Ty(), space, offset);
      offset += count * kUnit * bytesOf(e, input->kind);
      return place;
    };
    for (Node *input : reduction.inputs) {
      partial.push_back(take(input, parts));
      if (hasRest())
        rests.push_back(take(input, 1));
      lanes.push_back(take(input, 1));
    }
  }

  // Of parts [low, high).
  void addFours(int64_t low, int64_t high) {
    Value first = b.CreateLShr(team.thread, llvm::Log2_64(kUnit));
    if (low)
      first = b.CreateNSWAdd(first, e.i64(low));
    Value part = e.openLoop(first, e.i64(high), team.threads / kUnit,
                            /*mayBeEmpty=*/true);
    Slots sum = cleared();
    addPart(part, sum);
    Value number = b.CreateNSWAdd(b.CreateNSWMul(part, e.i64(kUnit)), lane);
    for (auto [i, value] : llvm::enumerate(loaded(sum)))
      b.CreateStore(value, place(partial[i], i, number));
    e.closeLoop();
  }

  void addPart(Value part, llvm::ArrayRef<Value> into) {
    if (foursTogether == 1)
      return addFour(part, into);
    Value low = b.CreateNSWMul(part, e.i64(foursTogether));
    Value high = atMost(b.CreateNSWAdd(low, e.i64(foursTogether)), e.i64(fours));
    Value four = e.openLoop(low, high, 1, /*mayBeEmpty=*/false);
    Slots ofFour = cleared();
    addFour(four, ofFour);
    add(into, loaded(ofFour));
    e.closeLoop();
  }

  void addFour(Value four, llvm::ArrayRef<Value> into) {
    Value start = b.CreateNSWAdd(b.CreateNSWMul(four, e.i64(kFour)), lane);
    auto openUnits = [&](int64_t step) { // from a constant to a constant: for ptxas to write out
      return b.CreateNSWAdd(start, e.openLoop(e.i64(0), e.i64(kFour), step, false));
    };
    if (!team.isAlone) {
      e.bindLoop(reduction.loops[0], openUnits(kUnit));
      add(into, terms());
      e.closeLoop();
      return;
    }
    Value at = openUnits(2 * kUnit);
    Value other = b.CreateAnd(team.thread, e.i64(kUnit)); // nothing, or a unit
    Slots before = termsAt(b.CreateNSWAdd(at, other));
    Slots after = termsAt(b.CreateNSWAdd(at, b.CreateXor(other, e.i64(kUnit))));
    Value inOrder = b.CreateICmpEQ(other, e.i64(0));
    for (auto [x, y] : llvm::zip(before, after)) {
      Value first = b.CreateSelect(inOrder, x, y);
      y = b.CreateSelect(inOrder, y, x);
      x = first;
    }
    add(into, before);
    add(into, after);
    e.closeLoop();
  }
  Slots termsAt(Value position) {
    e.openBlock();
    e.bindLoop(reduction.loops[0], position);
    Slots values = terms();
    e.closeBlock();
    return values;
  }

  // The partial sums [low, high), `most` at most, or exactly, in sixteens of sixteens.
  void addPartial(Value low, Value high, int64_t most, llvm::ArrayRef<Value> into, bool isExact) {
    int64_t block = blockOfSixteens(most);
    Value start = e.openLoop(low, high, block, false);
    if (block == 1) {
      Slots values;
      for (size_t i = 0; i < partial.size(); ++i)
        values.push_back(b.CreateLoad(
            typeOf(i),
            place(partial[i], i, b.CreateNSWAdd(b.CreateNSWMul(start, e.i64(kUnit)), lane))));
      add(into, values);
    } else {
      Slots part = cleared();
      bool isWhole = isExact && most % block == 0;
      addPartial(start, endOfBlock(start, block, high, isWhole), block, part, isWhole);
      add(into, loaded(part));
    }
    e.closeLoop();
  }

  bool hasRest() const { return fours * kFour < size; }
  Slots sumOfRest() {
    Slots rest = cleared();
    Value low = b.CreateNSWAdd(lane, e.i64(fours * kFour));
    e.bindLoop(reduction.loops[0], e.openLoop(low, e.i64(size), kUnit, /*mayBeEmpty=*/true));
    add(rest, terms());
    e.closeLoop();
    return loaded(rest);
  }
  void addRest() {
    if (!hasRest())
      return;
    e.openIf(b.CreateICmpULT(team.thread, e.i64(kUnit)));
    for (auto [i, value] : llvm::enumerate(sumOfRest()))
      b.CreateStore(value, place(rests[i], i, lane));
    e.closeLoop();
  }

  void addLane() {
    Slots total = cleared();
    if (parts)
      addPartial(e.i64(0), e.i64(parts), parts, total, /*isExact=*/true);
    if (hasRest()) {
      Slots rest;
      for (size_t i = 0; i < rests.size(); ++i)
        rest.push_back(b.CreateLoad(typeOf(i), place(rests[i], i, lane)));
      add(total, rest);
    }
    for (auto [i, value] : llvm::enumerate(foldedLanes(loaded(total))))
      b.CreateStore(value, place(lanes[i], i, lane));
  }

  // By halves, as foldByHalves does. Each of the sixteen has the sum: what is combined commutes.
  Slots foldedLanes(Slots values) {
    uint32_t there =
        team.isAlone ? (1u << kUnit) - 1 : kAllLanes; // the sixteen beside are elsewhere
    for (int64_t half = kUnit / 2; half > 0; half /= 2) {
      Slots others;
      for (Value value : values)
        others.push_back(fromLane(b, value, half, there));
      values = combined(values, others);
    }
    return values;
  }

  llvm::SmallVector<Value> inits() {
    llvm::SmallVector<Value> values;
    for (Node *init : reduction.inits)
      values.push_back(e.emit(init));
    return values;
  }

  const Team team;
  Value space;
  const int64_t size, fours, foursTogether, parts;
  Slots partial, rests, lanes; // in shared memory, by component
  Value lane = nullptr;
};

} // namespace

llvm::SmallVector<Value> emitBlockSum(const Team &team, Emitter &e, const Reduction &reduction,
                                      Value space, OverRow overRow) {
  if (reduction.loops.size() > 1) {
    if (!overRow)
      return emitParted(team, e, reduction, space);
    llvm::SmallVector<Value> values; // of the only window
    overRow([&](int64_t, int64_t) { values = emitParted(team, e, reduction, space); });
    return values;
  }
  return BlockSum(team, e, reduction, space).emit(overRow);
}

} // namespace tessera::codegen::gpu
