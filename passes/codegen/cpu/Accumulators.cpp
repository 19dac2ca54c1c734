#include "passes/codegen/cpu/Accumulators.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/Intrinsics.h"

namespace tessera::codegen {

static Value constant(Value like, const llvm::APInt &value) {
  return llvm::ConstantInt::get(like->getType(), value);
}

static llvm::Type *withElement(llvm::Type *type, llvm::Type *element) {
  auto *vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  return vector ? llvm::FixedVectorType::get(element, vector->getNumElements()) : element;
}

// How many numbers that are none a sign has.
static llvm::APInt nansOf(llvm::Type *number) {
  const llvm::fltSemantics &semantics = number->getScalarType()->getFltSemantics();
  return llvm::APInt::getLowBitsSet(number->getScalarSizeInBits(),
                                    llvm::APFloat::semanticsPrecision(semantics) - 1);
}

// Bits of floats whose fractions' bits are `fractions`; of a subnormal one its sign. LLVM's canonicalize would be
// that, but is selected for whole registers only.
static Value withoutSubnormals(llvm::IRBuilder<> &b, Value bits, Value fractions) {
  unsigned width = bits->getType()->getScalarSizeInBits();
  Value magnitude = b.CreateAnd(bits, constant(bits, llvm::APInt::getSignedMaxValue(width)));
  Value sign = b.CreateAnd(bits, constant(bits, llvm::APInt::getSignMask(width)));
  return b.CreateSelect(b.CreateICmpULE(magnitude, fractions), sign, bits);
}

Value orderedBits(llvm::IRBuilder<> &b, Value bits) {
  unsigned width = bits->getType()->getScalarSizeInBits();
  Value isNegative = b.CreateAShr(bits, width - 1);
  return b.CreateXor(
      bits, b.CreateAnd(isNegative, constant(bits, llvm::APInt::getSignedMaxValue(width))));
}

Value extremumKey(llvm::IRBuilder<> &b, Op op, Value number) {
  llvm::Type *type = number->getType();
  Value bits = b.CreateBitCast(number, withElement(type, b.getIntNTy(type->getScalarSizeInBits())));
  Value ordered = orderedBits(b, bits), nans = constant(bits, nansOf(type));
  return op == Op::Max ? b.CreateSub(ordered, nans) : b.CreateAdd(ordered, nans);
}

Value extremumOf(llvm::IRBuilder<> &b, Op op, Value key) {
  llvm::Type *element =
      key->getType()->getScalarSizeInBits() == 64 ? b.getDoubleTy() : b.getFloatTy();
  llvm::Type *type = withElement(key->getType(), element);
  Value nans = constant(key, nansOf(type));
  Value ordered = op == Op::Max ? b.CreateAdd(key, nans) : b.CreateSub(key, nans);
  return b.CreateBitCast(withoutSubnormals(b, orderedBits(b, ordered), nans), type);
}

Accumulators::Accumulators(Emitter &e, const Reduction &reduction)
    : e(e), accumulated(reduction), keyed(reduction.inputs.size()) {
  for (auto [i, op] : llvm::enumerate(reduction.simple)) {
    llvm::Type *type = e.typeOf(reduction.inputs[i]->kind, 1);
    // Of 64 bits, AVX2 has neither this shift nor a maximum of integers.
    keyed[i] = !e.features.extrema && (op == Op::Max || op == Op::Min) &&
               (type->isFloatTy() || (type->isDoubleTy() && e.features.masks));
    if (keyed[i])
      accumulated.inputs[i] =
          e.graph.external(type->isDoubleTy() ? ElementKind::I64 : ElementKind::I32);
  }
}

} // namespace tessera::codegen
