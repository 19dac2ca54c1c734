// Masked loads.
//
// Without AVX-512's mask registers a mask is a vector of numbers, of which the processor looks at
// the sign. LLVM 22 splits a wider load into registers late, and where a register's mask is a
// constant by then, it may hold ones for lanes that are off. The next step of LLVM's takes what is
// not 0 for a lane that is on, and loads the whole register:
//
//   %mask = and <8 x i1> splat(%row), <1, 1, 0, 0, 0, 0, 0, 0>
//   masked.load <8 x double> %mask          ->   the upper four are loaded, whatever %row is
//
// So each register's load is written here, with a mask of its own, made from the start in the
// width of a register: it is folded to a constant before LLVM's masks become numbers.
#include "passes/codegen/cpu/Emitter.h"

#include "llvm/Analysis/VectorUtils.h"

#include <numeric>

namespace tessera::codegen {

namespace {

// Lanes [first, first + count) of vectors, computed by themselves.
class SomeLanes {
public:
  SomeLanes(llvm::IRBuilder<> &b, unsigned first, unsigned count)
      : b(b), first(first), count(count) {}

  Value of(Value vector) {
    if (Value known = done.lookup(vector))
      return known;
    return done[vector] = make(vector);
  }

private:
  Value make(Value vector) {
    if (auto *op = llvm::dyn_cast<llvm::BinaryOperator>(vector))
      return b.CreateBinOp(op->getOpcode(), of(op->getOperand(0)), of(op->getOperand(1)));
    if (auto *compare = llvm::dyn_cast<llvm::ICmpInst>(vector))
      return b.CreateICmp(compare->getPredicate(), of(compare->getOperand(0)),
                          of(compare->getOperand(1)));
    if (Value splat = llvm::getSplatValue(vector))
      return b.CreateVectorSplat(count, splat);
    llvm::SmallVector<int> order(count);
    std::iota(order.begin(), order.end(), first);
    return b.CreateShuffleVector(vector, order);
  }

  llvm::IRBuilder<> &b;
  unsigned first, count;
  llvm::DenseMap<Value, Value> done;
};

} // namespace

Value Emitter::maskedLoad(llvm::Type *type, Value pointer, llvm::Align align, Value mask) {
  auto *vector = llvm::cast<llvm::FixedVectorType>(type);
  llvm::Type *scalar = vector->getElementType();
  unsigned width = vector->getNumElements(), bytes = scalar->getPrimitiveSizeInBits() / 8;
  unsigned lanes = bytes >= 4 ? features.bytes / bytes : width; // narrower ones go one by one
  auto load = [&](llvm::Type *type, Value from, Value mask) {
    return b.CreateMaskedLoad(type, from, align, mask, llvm::Constant::getNullValue(type));
  };
  if (features.masks || width <= lanes)
    return load(type, pointer, mask);
  llvm::SmallVector<Value> registers;
  for (unsigned first = 0; first < width; first += lanes)
    registers.push_back(load(llvm::FixedVectorType::get(scalar, lanes),
                             b.CreateConstGEP1_64(scalar, pointer, first),
                             SomeLanes(b, first, lanes).of(mask)));
  return llvm::concatenateVectors(b, registers);
}

} // namespace tessera::codegen
