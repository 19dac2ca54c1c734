#include "passes/codegen/gpu/BlockSum.h"

#include "passes/codegen/cpu/SumSlots.h"
#include "llvm/IR/Intrinsics.h"

namespace tessera::codegen::gpu {

static constexpr int64_t kUnit = 16, kFour = 4 * kUnit; // elements

static int64_t bytesOf(const Emitter &e, ElementKind kind) {
  llvm::Type *type = computeType(kind, e.b.getContext());
  return std::max<int64_t>(type->getScalarSizeInBits() / 8, 1);
}

// Fours that 16 threads add up before they store a sum.
static int64_t together(const Emitter &e, const Reduction &reduction) {
  constexpr int64_t kManyFours = 128;
  return pointsOf(e.graph, reduction.dims) / kFour >= kManyFours ? 16 : 1;
}

static int64_t partialSums(const Emitter &e, const Reduction &reduction) {
  return llvm::divideCeil(pointsOf(e.graph, reduction.dims) / kFour, together(e, reduction));
}

// Of the partial sums, and of the lanes' sums.
int64_t blockSumBytes(const Emitter &e, const Reduction &reduction) {
  int64_t bytes = 0;
  for (Node *input : reduction.inputs)
    bytes += (partialSums(e, reduction) + 1) * kUnit * bytesOf(e, input->kind);
  return bytes;
}

bool isBlockSum(const Emitter &e, const Reduction &reduction) {
  if (reduction.simple.empty() || reduction.order != Reduction::Rows ||
      reduction.loops.size() != 1 || pointsOf(e.graph, reduction.dims) < kFour)
    return false;
  return llvm::none_of(reduction.inputs, [](Node *input) { return bitWidth(input->kind) < 8; });
}

namespace {

class BlockSum : SumSlots {
public:
  BlockSum(const Team &team, Emitter &e, const Reduction &reduction, Value space)
      : SumSlots(e, reduction, /*width=*/1), team(team), space(space),
        size(pointsOf(e.graph, reduction.dims)), fours(size / kFour),
        foursTogether(together(e, reduction)), parts(partialSums(e, reduction)) {}

  llvm::SmallVector<Value> emit() {
    int64_t offset = 0;
    auto take = [&](Node *input, int64_t count) {
      Value place = b.CreateConstGEP1_64(b.getInt8Ty(), space, offset);
      offset += count * kUnit * bytesOf(e, input->kind);
      return place;
    };
    for (Node *input : reduction.inputs) {
      partial.push_back(take(input, parts));
      lanes.push_back(take(input, 1));
    }
    lane = b.CreateAnd(team.thread, e.i64(kUnit - 1));
    addFours();
    barrier(b);
    e.openIf(b.CreateICmpULT(team.thread, e.i64(kUnit)));
    addLane();
    e.closeLoop();
    barrier(b);
    return foldLanes();
  }

private:
  Value place(Value array, size_t input, Value number) {
    return b.CreateInBoundsGEP(typeOf(input), array, number);
  }
  void addFours() {
    Value first = b.CreateLShr(team.thread, llvm::Log2_64(kUnit));
    Value part = e.openLoop(first, e.i64(parts), team.threads / kUnit,
                            /*mayBeEmpty=*/true);
    Slots sum = cleared();
    if (foursTogether == 1) {
      addFour(part, sum);
    } else {
      Value low = b.CreateNSWMul(part, e.i64(foursTogether));
      Value high = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin,
                                           b.CreateNSWAdd(low, e.i64(foursTogether)), e.i64(fours));
      Value four = e.openLoop(low, high, 1, /*mayBeEmpty=*/false);
      Slots ofFour = cleared();
      addFour(four, ofFour);
      add(sum, loaded(ofFour));
      e.closeLoop();
    }
    Value number = b.CreateNSWAdd(b.CreateNSWMul(part, e.i64(kUnit)), lane);
    for (auto [i, value] : llvm::enumerate(loaded(sum)))
      b.CreateStore(value, place(partial[i], i, number));
    e.closeLoop();
  }

  void addFour(Value four, llvm::ArrayRef<Value> into) {
    Value start = b.CreateNSWAdd(b.CreateNSWMul(four, e.i64(kFour)), lane);
    e.bindLoop(reduction.loops[0],
               e.openLoop(start, b.CreateNSWAdd(start, e.i64(kFour)), kUnit, false));
    add(into, terms());
    e.closeLoop();
  }

  // The partial sums [low, high), `most` at most, in sixteens of sixteens.
  void addPartial(Value low, Value high, int64_t most, llvm::ArrayRef<Value> into) {
    int64_t block = 1;
    while (block * 16 < most)
      block *= 16;
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
      Value end =
          b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b.CreateNSWAdd(start, e.i64(block)), high);
      addPartial(start, end, block, part);
      add(into, loaded(part));
    }
    e.closeLoop();
  }

  void addLane() {
    Slots total = cleared();
    addPartial(e.i64(0), e.i64(parts), parts, total);
    int64_t whole = fours * kFour;
    if (whole < size) {
      Slots rest = cleared();
      e.bindLoop(reduction.loops[0], e.openLoop(b.CreateNSWAdd(lane, e.i64(whole)), e.i64(size),
                                                kUnit, /*mayBeEmpty=*/true));
      add(rest, terms());
      e.closeLoop();
      add(total, loaded(rest));
    }
    for (auto [i, value] : llvm::enumerate(loaded(total)))
      b.CreateStore(value, place(lanes[i], i, lane));
  }

  llvm::SmallVector<Value> foldLanes() {
    std::vector<Slots> values(kUnit);
    for (int64_t number = 0; number < kUnit; ++number)
      for (size_t i = 0; i < lanes.size(); ++i)
        values[number].push_back(b.CreateLoad(typeOf(i), place(lanes[i], i, e.i64(number))));
    return e.combine(reduction, inits(), foldByHalves(std::move(values)));
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
  Slots partial, lanes; // in shared memory, by component
  Value lane = nullptr;
};

} // namespace

llvm::SmallVector<Value> emitBlockSum(const Team &team, Emitter &e, const Reduction &reduction,
                                      Value space) {
  return BlockSum(team, e, reduction, space).emit();
}

} // namespace tessera::codegen::gpu
