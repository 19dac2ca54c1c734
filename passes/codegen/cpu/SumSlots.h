// The accumulators of a reduction of known operations, one a component, in slots of the stack.
#pragma once

#include "passes/codegen/cpu/Emitter.h"
#include "llvm/ADT/STLExtras.h"

namespace tessera::codegen {

using Slots = llvm::SmallVector<Value, 2>;

class SumSlots {
protected:
  SumSlots(Emitter &e, const Reduction &reduction, unsigned width)
      : e(e), b(e.b), reduction(reduction), width(width) {}

  llvm::Type *typeOf(size_t input) { return e.typeOf(reduction.inputs[input]->kind, width); }
  Value neutral(size_t input) {
    return e.splat(e.identity(reduction.simple[input], reduction.inputs[input]->kind), width);
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
  void add(llvm::ArrayRef<Value> into, llvm::ArrayRef<Value> terms) {
    for (auto [slot, sum] : llvm::zip(into, e.combine(reduction, loaded(into), terms)))
      b.CreateStore(sum, slot);
  }
  Slots terms() {
    Slots values;
    for (Node *input : reduction.inputs)
      values.push_back(e.splat(e.emit(input), width));
    return values;
  }
  // Lanes, a power of two of them, by halves.
  Slots foldByHalves(std::vector<Slots> lanes) {
    for (size_t half = lanes.size() / 2; half > 0; half /= 2)
      for (size_t number = 0; number < half; ++number)
        lanes[number] = Slots(e.combine(reduction, lanes[number], lanes[number + half]));
    return lanes[0];
  }

  Emitter &e;
  llvm::IRBuilder<> &b;
  const Reduction &reduction;
  unsigned width; // of what is added
};

} // namespace tessera::codegen
