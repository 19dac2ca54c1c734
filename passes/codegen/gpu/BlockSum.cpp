#include "passes/codegen/gpu/BlockSum.h"

#include "passes/codegen/cpu/SumSlots.h"
#include "llvm/IR/Intrinsics.h"

namespace tessera::codegen::gpu {

static constexpr int64_t kUnit = 16, kFour = 4 * kUnit; // elements
static constexpr unsigned kShared = 3;                  // the address space

static int64_t bytesOf(const Emitter &e, ElementKind kind) {
  llvm::Type *type = computeType(kind, e.b.getContext());
  return std::max<int64_t>(type->getScalarSizeInBits() / 8, 1);
}

// Of the partial sums, and of the lanes' sums.
static int64_t sharedBytes(const Emitter &e, const Reduction &reduction) {
  int64_t fours = pointsOf(e.graph, reduction.dims) / kFour, bytes = 0;
  for (Node *input : reduction.inputs)
    bytes += (fours + 1) * kUnit * bytesOf(e, input->kind);
  return bytes;
}

bool isBlockSum(const EntryFunction &function, const Emitter &e, const Reduction &reduction) {
  if (reduction.simple.empty() || reduction.order != Reduction::Rows ||
      reduction.loops.size() != 1 || pointsOf(e.graph, reduction.dims) < kFour)
    return false;
  bool isOfBits =
      llvm::any_of(reduction.inputs, [](Node *input) { return bitWidth(input->kind) < 8; });
  return !isOfBits && function.sharedBytes + sharedBytes(e, reduction) <= kMostSharedBytes;
}

namespace {

class BlockSum : SumSlots {
public:
  BlockSum(EntryFunction &function, Emitter &e, const Reduction &reduction)
      : SumSlots(e, reduction, /*width=*/1), function(function),
        size(pointsOf(e.graph, reduction.dims)), fours(size / kFour) {}

  llvm::SmallVector<Value> emit() {
    function.sharedBytes += sharedBytes(e, reduction);
    for (Node *input : reduction.inputs) {
      partial.push_back(shared(input, fours * kUnit));
      lanes.push_back(shared(input, kUnit));
    }
    lane = b.CreateAnd(function.thread, e.i64(kUnit - 1));
    addFours();
    barrier(b);
    e.openIf(b.CreateICmpULT(function.thread, e.i64(kUnit)));
    addLane();
    e.closeLoop();
    barrier(b);
    return foldLanes();
  }

private:
  Value shared(Node *input, int64_t count) {
    auto *type = llvm::ArrayType::get(computeType(input->kind, b.getContext()), count);
    auto *made =
        new llvm::GlobalVariable(function.module, type, false, llvm::GlobalValue::InternalLinkage,
                                 llvm::PoisonValue::get(type), function.kernel.symbol + "_sums",
                                 nullptr, llvm::GlobalValue::NotThreadLocal, kShared);
    made->setAlignment(llvm::Align(16));
    return made;
  }
  Value place(Value array, size_t input, Value number) {
    return b.CreateInBoundsGEP(typeOf(input), array, number);
  }
  void addFours() {
    Value first = b.CreateLShr(function.thread, llvm::Log2_64(kUnit));
    Value four = e.openLoop(first, e.i64(fours), function.launch.threads / kUnit,
                            /*mayBeEmpty=*/true);
    Value start = b.CreateNSWAdd(b.CreateNSWMul(four, e.i64(kFour)), lane);
    Slots sum = cleared();
    e.bindLoop(reduction.loops[0],
               e.openLoop(start, b.CreateNSWAdd(start, e.i64(kFour)), kUnit, false));
    add(sum, terms());
    e.closeLoop();
    Value number = b.CreateNSWAdd(b.CreateNSWMul(four, e.i64(kUnit)), lane);
    for (auto [i, value] : llvm::enumerate(loaded(sum)))
      b.CreateStore(value, place(partial[i], i, number));
    e.closeLoop();
  }

  // The fours [low, high), `most` at most, in sixteens of sixteens.
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
    addPartial(e.i64(0), e.i64(fours), fours, total);
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

  EntryFunction &function;
  const int64_t size, fours;
  Slots partial, lanes; // in shared memory, by component
  Value lane = nullptr;
};

} // namespace

llvm::SmallVector<Value> emitBlockSum(EntryFunction &function, Emitter &e,
                                      const Reduction &reduction) {
  return BlockSum(function, e, reduction).emit();
}

} // namespace tessera::codegen::gpu
