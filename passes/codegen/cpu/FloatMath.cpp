#include "passes/codegen/cpu/FloatMath.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

#include <cmath>
#include <limits>

namespace tessera::codegen {

using Value = llvm::Value *;
static constexpr double inf = std::numeric_limits<double>::infinity();

llvm::Type *likeType(llvm::Type *type, llvm::Type *scalar) {
  if (auto *vector = llvm::dyn_cast<llvm::FixedVectorType>(type))
    return llvm::FixedVectorType::get(scalar, vector->getNumElements());
  return scalar;
}

llvm::Type *FloatMath::integerType(Value x) {
  return likeType(x->getType(), b.getIntNTy(x->getType()->getScalarSizeInBits()));
}

Value FloatMath::integer(Value x, int64_t value) {
  return llvm::ConstantInt::getSigned(integerType(x), value);
}

Value FloatMath::fma(Value x, Value y, Value z) {
  return b.CreateIntrinsic(llvm::Intrinsic::fma, {x->getType()}, {x, y, z});
}

Value FloatMath::horner(Value x, llvm::ArrayRef<double> coefficients) {
  Value sum = number(x, coefficients.back());
  for (double c : llvm::reverse(coefficients.drop_back()))
    sum = fma(sum, x, number(x, c));
  return sum;
}

Value FloatMath::abs(Value x) { return b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x); }

Value FloatMath::copySign(Value magnitude, Value sign) {
  return b.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, magnitude, sign);
}

Value FloatMath::maximum(Value x, Value y) {
  return b.CreateBinaryIntrinsic(llvm::Intrinsic::maximum, x, y);
}

Value FloatMath::minimum(Value x, Value y) {
  return b.CreateBinaryIntrinsic(llvm::Intrinsic::minimum, x, y);
}

Value FloatMath::callEachLane(llvm::StringRef function, llvm::ArrayRef<Value> operands) {
  llvm::Type *type = operands[0]->getType(), *scalar = type->getScalarType();
  llvm::Module *module = b.GetInsertBlock()->getModule();
  llvm::SmallVector<llvm::Type *> parameters(operands.size(), scalar);
  auto callee = module->getOrInsertFunction(
      function, llvm::FunctionType::get(scalar, parameters, /*isVarArg=*/false));
  auto *vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  if (!vector)
    return b.CreateCall(callee, operands);
  // A loop over the lanes, through the stack.
  llvm::BasicBlock &entry = b.GetInsertBlock()->getParent()->getEntryBlock();
  llvm::IRBuilder<> atEntry(&entry, entry.begin());
  llvm::SmallVector<Value> slots;
  for (Value operand : operands) {
    slots.push_back(atEntry.CreateAlloca(type));
    b.CreateStore(operand, slots.back());
  }
  llvm::Instruction *after = &*b.GetInsertPoint();
  llvm::BasicBlock *before = after->getParent();
  llvm::BasicBlock *exit = before->splitBasicBlock(after);
  auto *loop = llvm::BasicBlock::Create(b.getContext(), "lanes", before->getParent(), exit);
  before->getTerminator()->setSuccessor(0, loop);
  b.SetInsertPoint(loop);
  auto *lane = b.CreatePHI(b.getInt64Ty(), 2);
  lane->addIncoming(b.getInt64(0), before);
  llvm::SmallVector<Value> arguments;
  for (Value slot : slots)
    arguments.push_back(b.CreateLoad(scalar, b.CreateInBoundsGEP(scalar, slot, lane)));
  b.CreateStore(b.CreateCall(callee, arguments), b.CreateInBoundsGEP(scalar, slots[0], lane));
  Value next = b.CreateAdd(lane, b.getInt64(1));
  lane->addIncoming(next, loop);
  b.CreateCondBr(b.CreateICmpULT(next, b.getInt64(vector->getNumElements())), loop, exit);
  b.SetInsertPoint(after);
  return b.CreateLoad(type, slots[0]);
}

// In f64, where a quotient below 2^29 times a number of 24 bits is exact; a larger one is taken away in
// pieces of 29 bits, the leading ones first.
Value FloatMath::remainder(Value x, Value y) {
  constexpr int bitsAtOnce = 29, pieces = 9; // quotients are below 2^277
  llvm::Type *wide = likeType(x->getType(), b.getDoubleTy());
  Value a = abs(b.CreateFPExt(x, wide)), d = abs(b.CreateFPExt(y, wide));
  auto scaled = [&](int piece) {
    return b.CreateFMul(d, number(d, std::ldexp(1.0, bitsAtOnce * piece)));
  };
  auto reduce = [&](Value from, Value by) {
    Value quotient = b.CreateUnaryIntrinsic(llvm::Intrinsic::trunc, b.CreateFDiv(from, by));
    Value rest = fma(b.CreateFNeg(quotient), by, from);
    // A quotient that was rounded up to a whole number is one too large.
    return select(b.CreateFCmpOLT(rest, number(d, 0)), b.CreateFAdd(rest, by), rest);
  };
  Value isFar = b.CreateAnd(b.CreateFCmpOGE(a, scaled(1)), b.CreateFCmpOGT(d, number(d, 0)));
  isFar = b.CreateAnd(isFar, b.CreateFCmpOLT(a, number(a, inf)));
  Value near = reduce(a, d);
  Value rest = unlessRare(isFar, near, [&]() -> llvm::SmallVector<Value> {
    Value left = a;
    for (int piece = pieces; piece > 0; --piece)
      left = reduce(left, scaled(piece));
    return {reduce(left, d)};
  })[0];
  rest = select(b.CreateFCmpOLT(a, d), a, rest); // of an infinite y, too
  return copySign(b.CreateFPTrunc(rest, x->getType()), x);
}

Value FloatMath::power2(Value exponent) {
  llvm::Type *type = exponent->getType();
  bool isSingle = type->getScalarSizeInBits() == 32;
  Value biased = b.CreateAdd(exponent, llvm::ConstantInt::getSigned(type, isSingle ? 127 : 1023));
  return b.CreateBitCast(b.CreateShl(biased, isSingle ? 23 : 52),
                         likeType(type, isSingle ? b.getFloatTy() : b.getDoubleTy()));
}

Value FloatMath::powerOfSigned(Value x, Value y, Value magnitude) {
  Value zero = number(x, 0), one = number(x, 1), a = abs(x);
  // A negative base: the sign of an odd power, NaN where the power is no integer.
  Value isWhole = b.CreateFCmpOEQ(b.CreateUnaryIntrinsic(llvm::Intrinsic::trunc, y), y);
  Value half = b.CreateFMul(y, number(x, 0.5));
  Value isOdd = b.CreateAnd(
      isWhole, b.CreateFCmpUNE(b.CreateUnaryIntrinsic(llvm::Intrinsic::trunc, half), half));
  Value isNegative = b.CreateICmpSLT(bits(x), integer(x, 0));
  Value result = select(b.CreateAnd(isNegative, isOdd), b.CreateFNeg(magnitude), magnitude);
  Value isBad = b.CreateAnd(b.CreateFCmpOLT(x, zero), b.CreateNot(isWhole));
  isBad = b.CreateAnd(isBad, b.CreateFCmpONE(a, number(x, inf)));
  isBad = b.CreateAnd(isBad, b.CreateFCmpONE(abs(y), number(x, inf)));
  result = select(isBad, number(x, std::numeric_limits<double>::quiet_NaN()), result);
  Value isOne = b.CreateOr(b.CreateFCmpOEQ(y, zero), b.CreateFCmpOEQ(x, one));
  isOne = b.CreateOr(isOne,
                     b.CreateAnd(b.CreateFCmpOEQ(a, one), b.CreateFCmpOEQ(abs(y), number(x, inf))));
  return select(isOne, one, result);
}

llvm::SmallVector<Value>
FloatMath::unlessRare(Value predicate, llvm::ArrayRef<Value> values,
                      llvm::function_ref<llvm::SmallVector<Value>()> compute) {
  Value isAny = predicate->getType()->isVectorTy() ? b.CreateOrReduce(predicate) : predicate;
  llvm::Instruction *after = &*b.GetInsertPoint();
  llvm::BasicBlock *plain = after->getParent();
  llvm::Instruction *rare = llvm::SplitBlockAndInsertIfThen(isAny, after, /*Unreachable=*/false);
  b.SetInsertPoint(rare);
  llvm::SmallVector<Value> found = compute();
  for (auto [value, other] : llvm::zip(found, values))
    value = select(predicate, value, other);
  llvm::BasicBlock *rareEnd = rare->getParent();
  b.SetInsertPoint(after);
  for (auto [value, other] : llvm::zip(found, values)) {
    auto *merged = llvm::PHINode::Create(other->getType(), 2, "", after->getParent()->begin());
    merged->addIncoming(other, plain);
    merged->addIncoming(value, rareEnd);
    value = merged;
  }
  return found;
}

} // namespace tessera::codegen
