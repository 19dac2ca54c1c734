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

// How many numbers that are none a sign has, of floats of so many bits: f64, f32 or bf16.
static llvm::APInt nansOf(unsigned width) {
  const llvm::fltSemantics &semantics = width == 64   ? llvm::APFloat::IEEEdouble()
                                        : width == 32 ? llvm::APFloat::IEEEsingle()
                                                      : llvm::APFloat::BFloat();
  return llvm::APInt::getLowBitsSet(width, llvm::APFloat::semanticsPrecision(semantics) - 1);
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

// The same of keys and bits.
static Value keyOfBits(llvm::IRBuilder<> &b, Op op, Value bits) {
  Value ordered = orderedBits(b, bits);
  Value nans = constant(bits, nansOf(bits->getType()->getScalarSizeInBits()));
  return op == Op::Max ? b.CreateSub(ordered, nans) : b.CreateAdd(ordered, nans);
}

static Value bitsOfKey(llvm::IRBuilder<> &b, Op op, Value key) {
  Value nans = constant(key, nansOf(key->getType()->getScalarSizeInBits()));
  Value ordered = op == Op::Max ? b.CreateAdd(key, nans) : b.CreateSub(key, nans);
  return withoutSubnormals(b, orderedBits(b, ordered), nans);
}

Value extremumKey(llvm::IRBuilder<> &b, Op op, Value number) {
  llvm::Type *type = number->getType();
  return keyOfBits(
      b, op, b.CreateBitCast(number, withElement(type, b.getIntNTy(type->getScalarSizeInBits()))));
}

Value extremumOf(llvm::IRBuilder<> &b, Op op, Value key) {
  llvm::Type *element =
      key->getType()->getScalarSizeInBits() == 64 ? b.getDoubleTy() : b.getFloatTy();
  return b.CreateBitCast(bitsOfKey(b, op, key), withElement(key->getType(), element));
}

Accumulators::Accumulators(Emitter &e, const Reduction &reduction, bool takesWords)
    : e(e), terms(reduction.inputs), accumulated(reduction), keyed(reduction.inputs.size()),
      words(reduction.inputs.size()) {
  for (auto [i, op] : llvm::enumerate(reduction.simple)) {
    llvm::Type *type = e.typeOf(terms[i]->kind, 1);
    // Of 64 bits, AVX2 has neither this shift nor a maximum of integers.
    keyed[i] = !e.features.extrema && (op == Op::Max || op == Op::Min) &&
               (type->isFloatTy() || (type->isDoubleTy() && e.features.masks));
    if (!keyed[i])
      continue;
    bool isOfWords = takesWords && terms[i]->kind == ElementKind::BF16;
    words[i] = isOfWords ? e.graph.movedBits(terms[i]) : nullptr;
    // Where they are neither loaded nor narrowed by an instruction, making them takes longer.
    isOfWords = isOfWords && (words[i] || e.features.bf16);
    accumulated.inputs[i] = e.graph.external(isOfWords            ? ElementKind::I16
                                             : type->isDoubleTy() ? ElementKind::I64
                                                                  : ElementKind::I32);
  }
}

Value Accumulators::term(size_t i, unsigned lanes) const {
  if (isOfWords(i) && words[i])
    return keyOfBits(e.b, accumulated.simple[i], e.splat(e.emit(words[i]), lanes));
  return fromTerm(i, e.splat(e.emit(terms[i]), lanes));
}

Value Accumulators::fromTerm(size_t i, Value term) const {
  if (isOfWords(i))
    return keyOfBits(e.b, accumulated.simple[i], e.toMemory(ElementKind::BF16, term));
  return keyed[i] ? extremumKey(e.b, accumulated.simple[i], term) : term;
}

Value Accumulators::toTerm(size_t i, Value value) const {
  if (isOfWords(i))
    return e.fromMemory(ElementKind::BF16, bitsOfKey(e.b, accumulated.simple[i], value));
  return keyed[i] ? extremumOf(e.b, accumulated.simple[i], value) : value;
}

} // namespace tessera::codegen
