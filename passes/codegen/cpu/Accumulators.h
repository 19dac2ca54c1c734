// What a reduction adds its terms up in.
//
// A maximum of floats that is NaN where one is, and for which 0 is more than -0, takes five or six
// instructions, each of which waits for the one before. So maxima and minima of floats are taken of
// integers in the same order: what waits is one instruction, and the other terms' keys are made meanwhile.
//
//   bits in the order of floats:  -NaN .. -inf .. -0 0 .. inf .. NaN
//   keys of a maximum:                    -inf .. -0 0 .. inf .. NaN -NaN
//   keys of a minimum:        NaN -NaN .. -inf .. -0 0 .. inf
//
// Those of bf16 are made of its 16 bits, where they are loaded without being widened.
#pragma once

#include "passes/codegen/cpu/Emitter.h"

namespace tessera::codegen {

// A float's bits as a signed integer in the order of the floats, and that integer's as the float's.
Value orderedBits(llvm::IRBuilder<> &b, Value bits);

// Of a maximum or minimum (`op`) of floats of 32 or 64 bits.
Value extremumKey(llvm::IRBuilder<> &b, Op op, Value number);
// The number; zero for a subnormal one.
Value extremumOf(llvm::IRBuilder<> &b, Op op, Value key);

class Accumulators {
public:
  // `takesWords`: those of bf16 are keys of 16 bits, twice as many a register.
  Accumulators(Emitter &e, const Reduction &reduction, bool takesWords);

  // The reduction as accumulators see it: to combine them, and for their kinds.
  const Reduction &reduction() const { return accumulated; }
  ElementKind kind(size_t i) const { return accumulated.inputs[i]->kind; }
  // The term at the current position, by so many lanes.
  Value term(size_t i, unsigned lanes) const;
  Value fromTerm(size_t i, Value term) const;
  Value toTerm(size_t i, Value value) const;

private:
  bool isOfWords(size_t i) const { return keyed[i] && kind(i) == ElementKind::I16; }

  Emitter &e;
  llvm::SmallVector<Node *, 2> terms;
  Reduction accumulated;
  llvm::SmallVector<bool, 2> keyed;   // by component
  llvm::SmallVector<Node *, 2> words; // the bits of those that are only moved
};

} // namespace tessera::codegen
