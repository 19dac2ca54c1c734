// The accumulators of a reduction of known operations, one a component, in slots of the stack.
#pragma once

#include "passes/codegen/cpu/Accumulators.h"
#include "llvm/ADT/STLExtras.h"

namespace tessera::codegen {

using Slots = llvm::SmallVector<Value, 2>;

// A vector as vectors of so many lanes, one after the other.
llvm::SmallVector<Value> registersOf(llvm::IRBuilder<> &b, Value value, unsigned lanes);

// Of a sum of so many, in sixteens of sixteens: how many are added up before they are added to others.
inline int64_t blockOfSixteens(int64_t most) {
  int64_t block = 1;
  while (block * 16 < most)
    block *= 16;
  return block;
}

class SumSlots {
protected:
  SumSlots(Emitter &e, const Reduction &reduction, unsigned width)
      : e(e), b(e.b), reduction(reduction), accumulators(e, reduction, /*takesWords=*/true),
        width(width) {}

  llvm::Type *typeOf(size_t input) { return e.typeOf(accumulators.kind(input), width); }
  Value neutral(size_t input) {
    return e.splat(e.identity(reduction.simple[input], accumulators.kind(input)), width);
  }
  Slots cleared() {
    Slots slots;
    for (size_t i = 0; i < reduction.inputs.size(); ++i) {
      slots.push_back(e.temporary(typeOf(i), "sum"));
      b.CreateStore(neutral(i), slots.back());
    }
    return slots;
  }
  Slots loaded(llvm::ArrayRef<Value> slots) {
    Slots values;
    for (auto [i, slot] : llvm::enumerate(slots))
      values.push_back(b.CreateLoad(typeOf(i), slot));
    return values;
  }
  Slots combined(llvm::ArrayRef<Value> before, llvm::ArrayRef<Value> fresh) {
    return Slots(e.combine(accumulators.reduction(), before, fresh));
  }
  void add(llvm::ArrayRef<Value> into, llvm::ArrayRef<Value> terms) {
    for (auto [slot, sum] : llvm::zip(into, combined(loaded(into), terms)))
      b.CreateStore(sum, slot);
  }
  Slots terms() { return terms(width); }
  Slots terms(unsigned lanes) {
    Slots values;
    for (size_t i = 0; i < reduction.inputs.size(); ++i)
      values.push_back(accumulators.term(i, lanes));
    return values;
  }
  // `each` for the numbers [low, high), `most` at most, or exactly, in sixteens of sixteens.
  void inSixteens(Value low, Value high, int64_t most, llvm::ArrayRef<Value> into,
                  llvm::function_ref<void(Value number, llvm::ArrayRef<Value> into)> each,
                  bool isExact = false) {
    int64_t block = blockOfSixteens(most);
    Value start = e.openLoop(low, high, block, /*mayBeEmpty=*/false);
    Slots part = cleared();
    bool isWhole = isExact && most % block == 0;
    if (block == 1)
      each(start, part);
    else
      inSixteens(start, endOfBlock(start, block, high, isWhole), block, part, each, isWhole);
    add(into, loaded(part));
    e.closeLoop();
  }
  // Of so many from `start` on, unless `high` comes before; `isWhole`: it never does.
  Value endOfBlock(Value start, int64_t block, Value high, bool isWhole) {
    Value end = b.CreateNSWAdd(start, e.i64(block));
    return isWhole ? end : atMost(end, high);
  }
  Value atMost(Value value, Value limit) {
    return b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, value, limit);
  }
  // Lanes, a power of two of them, by halves.
  Slots foldByHalves(std::vector<Slots> lanes) {
    for (size_t half = lanes.size() / 2; half > 0; half /= 2)
      for (size_t number = 0; number < half; ++number)
        lanes[number] = combined(lanes[number], lanes[number + half]);
    return lanes[0];
  }

  Emitter &e;
  llvm::IRBuilder<> &b;
  const Reduction &reduction;
  const Accumulators accumulators;
  unsigned width; // of what is added
};

} // namespace tessera::codegen
