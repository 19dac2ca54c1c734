// A long division of whole numbers: x = m 2^e and y = n 2^f, of which m 2^(e-f) modulo n is wanted. As
// many of the e - f digits as 64 bits hold come at a time.
#include "passes/codegen/gpu/DeviceRemainder.h"

#include "llvm/IR/IRBuilder.h"

namespace tessera::codegen::gpu {

using Value = llvm::Value *;

namespace {

class Remainder {
public:
  explicit Remainder(llvm::Function &function)
      : b(function.getContext()), function(function), type(function.getReturnType()),
        mantissa(type->isDoubleTy() ? 52 : 23), width(type->getScalarSizeInBits()) {
    b.SetInsertPoint(llvm::BasicBlock::Create(b.getContext(), "entry", &function));
  }

  void emit() {
    Value x = bitsOf(function.getArg(0)), y = bitsOf(function.getArg(1));
    uint64_t infinity = ((uint64_t{1} << (width - 1 - mantissa)) - 1) << mantissa;
    Value sign = b.CreateAnd(x, i64(uint64_t{1} << (width - 1))), magnitude = b.CreateXor(x, sign);
    Value divisor = b.CreateAnd(y, i64((uint64_t{1} << (width - 1)) - 1));
    Value isNone = b.CreateOr(b.CreateICmpEQ(divisor, i64(0)),
                              b.CreateOr(b.CreateICmpUGE(magnitude, i64(infinity)),
                                         b.CreateICmpUGT(divisor, i64(infinity))));
    Value isLess = b.CreateICmpULT(magnitude, divisor);
    Value rest = divide(magnitude, b.CreateSelect(isNone, i64(1), divisor));
    rest = b.CreateSelect(isLess, magnitude, rest);
    Value result = floatOf(b.CreateOr(rest, sign));
    b.CreateRet(b.CreateSelect(isNone, llvm::ConstantFP::getNaN(type), result));
  }

private:
  llvm::ConstantInt *i64(uint64_t value) { return b.getInt64(value); }
  Value bitsOf(Value x) {
    return b.CreateZExt(b.CreateBitCast(x, b.getIntNTy(width)), b.getInt64Ty());
  }
  Value floatOf(Value bits) {
    return b.CreateBitCast(b.CreateTrunc(bits, b.getIntNTy(width)), type);
  }
  // A whole number, and the power of two that it is counted in.
  std::pair<Value, Value> split(Value bits) {
    Value power = b.CreateLShr(bits, mantissa);
    Value isNormal = b.CreateICmpNE(power, i64(0));
    Value digits = b.CreateAnd(bits, i64((uint64_t{1} << mantissa) - 1));
    digits = b.CreateSelect(isNormal, b.CreateOr(digits, i64(uint64_t{1} << mantissa)), digits);
    return {digits, b.CreateSelect(isNormal, power, i64(1))};
  }

  Value divide(Value x, Value y) {
    auto [m, e] = split(x);
    auto [n, f] = split(y);
    uint64_t atOnce = 63 - mantissa;
    Value left = b.CreateBinaryIntrinsic(llvm::Intrinsic::usub_sat, e, f);
    Value first = b.CreateURem(m, n);
    llvm::BasicBlock *before = b.GetInsertBlock();
    auto *loop = llvm::BasicBlock::Create(b.getContext(), "digits", &function);
    auto *done = llvm::BasicBlock::Create(b.getContext(), "done", &function);
    b.CreateCondBr(b.CreateICmpEQ(left, i64(0)), done, loop);
    b.SetInsertPoint(loop);
    auto *rest = b.CreatePHI(b.getInt64Ty(), 2), *digits = b.CreatePHI(b.getInt64Ty(), 2);
    Value taken = b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, digits, i64(atOnce));
    Value next = b.CreateURem(b.CreateShl(rest, taken), n), more = b.CreateSub(digits, taken);
    rest->addIncoming(first, before), rest->addIncoming(next, loop);
    digits->addIncoming(left, before), digits->addIncoming(more, loop);
    b.CreateCondBr(b.CreateICmpEQ(more, i64(0)), done, loop);
    b.SetInsertPoint(done);
    auto *found = b.CreatePHI(b.getInt64Ty(), 2);
    found->addIncoming(first, before), found->addIncoming(next, loop);
    return join(found, f);
  }

  // The bits of a whole number below 2^(mantissa + 1), counted in a power of two.
  Value join(Value digits, Value power) {
    Value zeros =
        b.CreateIntrinsic(llvm::Intrinsic::ctlz, {b.getInt64Ty()}, {digits, b.getFalse()});
    Value shift = b.CreateSub(zeros, i64(63 - mantissa));
    shift = b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, shift, b.CreateSub(power, i64(1)));
    digits = b.CreateShl(digits, shift);
    // The highest digit, where it is there, counts the power up by one.
    Value base = b.CreateSub(b.CreateSub(power, shift), i64(1));
    Value bits = b.CreateAdd(digits, b.CreateShl(base, mantissa));
    return b.CreateSelect(b.CreateICmpEQ(digits, i64(0)), i64(0), bits);
  }

  llvm::IRBuilder<> b;
  llvm::Function &function;
  llvm::Type *type;
  const unsigned mantissa, width;
};

} // namespace

void writeRemainder(llvm::Function &function) { Remainder(function).emit(); }

} // namespace tessera::codegen::gpu
