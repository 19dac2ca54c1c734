#include "passes/codegen/gpu/Quotients.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/PatternMatch.h"

#include <cmath>

namespace tessera::codegen::gpu {

using Value = llvm::Value *;

static constexpr uint32_t kSign = 0x80000000, kExponent = 0x7f800000, kFraction = 0x007fffff,
                          kTwo = 0x40000000;
static constexpr double kSmall = 0x1p-64, kEnlarged = 0x1p64;

static Value number(Value like, double x) { return llvm::ConstantFP::get(like->getType(), x); }

static Value fma(llvm::IRBuilder<> &b, Value x, Value y, Value z) {
  return b.CreateIntrinsic(x->getType(), llvm::Intrinsic::fma, {x, y, z});
}

// Of a NaN and a number the number.
static Value smaller(llvm::IRBuilder<> &b, Value x, double bound) {
  return b.CreateBinaryIntrinsic(llvm::Intrinsic::minnum, x, number(x, bound));
}

static Value about(llvm::IRBuilder<> &b, llvm::Intrinsic::ID function, Value x) {
  auto ofOne = [&](Value one) { return b.CreateIntrinsic(b.getFloatTy(), function, {one}); };
  auto *type = llvm::dyn_cast<llvm::FixedVectorType>(x->getType());
  if (!type)
    return ofOne(x);
  Value all = llvm::PoisonValue::get(type);
  for (unsigned lane = 0; lane < type->getNumElements(); ++lane)
    all = b.CreateInsertElement(all, ofOne(b.CreateExtractElement(x, lane)), lane);
  return all;
}

// Of 0 and infinity `left` is NaN, which 1 stands for: infinity + infinity, 0 + 0.
static Value reciprocal(llvm::IRBuilder<> &b, Value x) {
  Value y = about(b, llvm::Intrinsic::nvvm_rcp_approx_ftz_f, x);
  Value left = smaller(b, fma(b, b.CreateFNeg(x), y, number(x, 1)), 1);
  return fma(b, left, y, y);
}

namespace {

// What is known of a number before anything is divided by it: 1 / it = scale / significand.
struct Divisor {
  Value significand = nullptr; // from 2 to 4; NaN of a NaN
  Value inverse = nullptr;     // of the significand, as near as f32 has it
  Value scale = nullptr;       // a power of two, 0 or infinite, with the divisor's sign
  Value scaleOfSmall = nullptr;
};

class Quotients {
public:
  // What stands for it; nothing where it is none.
  Value insteadOf(llvm::Instruction &i) {
    using namespace llvm::PatternMatch;
    if (!i.getType()->getScalarType()->isFloatTy())
      return nullptr;
    llvm::IRBuilder<> b(&i);
    Value of = nullptr;
    if (match(&i, m_Sqrt(m_Value(of))))
      return root(b, of);
    if (i.getOpcode() != llvm::Instruction::FDiv)
      return nullptr;
    Value x = i.getOperand(0), divisor = i.getOperand(1);
    return match(x, m_FPOne()) ? reciprocal(b, divisor) : quotient(b, x, divisorOf(i, divisor));
  }

private:
  static Value root(llvm::IRBuilder<> &b, Value x) {
    Value isSmall = b.CreateFCmpOLT(x, number(x, kSmall));
    Value scaled = b.CreateFMul(x, b.CreateSelect(isSmall, number(x, kEnlarged), number(x, 1)));
    Value y = about(b, llvm::Intrinsic::nvvm_rsqrt_approx_ftz_f, scaled);
    Value g = b.CreateFMul(scaled, y), half = b.CreateFMul(y, number(x, 0.5));
    Value left = fma(b, b.CreateFNeg(g), g, scaled);
    Value found = b.CreateFMul(fma(b, left, half, g),
                               b.CreateSelect(isSmall, number(x, 0x1p-32), number(x, 1)));
    Value isOwnRoot = b.CreateFCmpOEQ(half, y); // y is infinite of 0, and 0 of infinity
    return b.CreateSelect(isOwnRoot, scaled, found);
  }

  // Scaled, x is 2^-64 at least, or 0: `left` is not subnormal. It is NaN of infinity, which any number stands for.
  static Value quotient(llvm::IRBuilder<> &b, Value x, const Divisor &by) {
    auto everywhere = [&](Value v) {
      auto *type = llvm::dyn_cast<llvm::FixedVectorType>(x->getType());
      return type && !v->getType()->isVectorTy() ? b.CreateVectorSplat(type->getNumElements(), v)
                                                 : v;
    };
    Value m = everywhere(by.significand), r = everywhere(by.inverse);
    Value magnitude = b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
    Value isSmall = b.CreateFCmpOLT(magnitude, number(x, kSmall));
    Value scaled = b.CreateFMul(x, b.CreateSelect(isSmall, number(x, kEnlarged), number(x, 1)));
    Value about = b.CreateFMul(scaled, r);
    Value left =
        smaller(b, fma(b, m, about, b.CreateFNeg(scaled)), 0x1p126); // which it is less than
    return b.CreateFMul(fma(b, b.CreateFNeg(left), r, about),
                        b.CreateSelect(isSmall, everywhere(by.scaleOfSmall), everywhere(by.scale)));
  }

  static Divisor prepared(llvm::IRBuilder<> &b, Value d) {
    llvm::Type *bits = d->getType()->getWithNewType(b.getInt32Ty());
    auto word = [&](uint32_t value) { return llvm::ConstantInt::get(bits, value); };
    auto asNumber = [&](Value value) { return b.CreateBitCast(value, d->getType()); };
    Value x = b.CreateBitCast(d, bits);
    Value m = asNumber(b.CreateOr(b.CreateAnd(x, word(kFraction)), word(kTwo)));
    Value below = b.CreateFNeg(b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, d));
    m = b.CreateBinaryIntrinsic(llvm::Intrinsic::maximum, m, below); // a NaN's is one
    Value y = about(b, llvm::Intrinsic::nvvm_rcp_approx_ftz_f, m);
    Value inverse = fma(b, y, fma(b, b.CreateFNeg(m), y, number(d, 1)), y);
    Value scale = asNumber(b.CreateAnd(b.CreateXor(x, word(kExponent)), word(kSign | kExponent)));
    return {m, inverse, scale, b.CreateFMul(scale, number(d, kSmall))};
  }

  static Divisor prepared(llvm::LLVMContext &context, float d) {
    auto x = llvm::bit_cast<uint32_t>(d);
    auto m = std::isnan(d) ? d : llvm::bit_cast<float>((x & kFraction) | kTwo);
    auto scale = llvm::bit_cast<float>((x ^ kExponent) & (kSign | kExponent));
    auto number = [&](float value) { return llvm::ConstantFP::get(context, llvm::APFloat(value)); };
    return {number(m), number(1 / m), number(scale), number(scale * static_cast<float>(kSmall))};
  }

  // Once for all that is divided by it: where it is computed, but within a block before the first quotient.
  const Divisor &divisorOf(llvm::Instruction &quotient, Value divisor) {
    if (Value shared = llvm::getSplatValue(divisor))
      divisor = shared;
    auto [known, isNew] = divisors.try_emplace(divisor);
    if (!isNew)
      return known->second;
    if (auto *constant = llvm::dyn_cast<llvm::ConstantFP>(divisor))
      return known->second =
                 prepared(quotient.getContext(), constant->getValueAPF().convertToFloat());
    auto *made = llvm::dyn_cast<llvm::Instruction>(divisor);
    llvm::IRBuilder<> b(&quotient);
    if (!made)
      b.SetInsertPoint(&*quotient.getFunction()->getEntryBlock().getFirstInsertionPt());
    else if (made->getParent() != quotient.getParent())
      b.SetInsertPoint(*made->getInsertionPointAfterDef());
    return known->second = prepared(b, divisor);
  }

  llvm::DenseMap<Value, Divisor> divisors;
};

} // namespace

llvm::PreservedAnalyses QuotientsPass::run(llvm::Function &function,
                                           llvm::FunctionAnalysisManager &) {
  Quotients quotients;
  llvm::SmallVector<llvm::Instruction *> replaced; // may be known as a divisor, until all are done
  for (llvm::Instruction &i : llvm::make_early_inc_range(llvm::instructions(function)))
    if (Value instead = quotients.insteadOf(i)) {
      i.replaceAllUsesWith(instead);
      replaced.push_back(&i);
    }
  if (replaced.empty())
    return llvm::PreservedAnalyses::all();
  for (llvm::Instruction *i : replaced)
    i->eraseFromParent();
  llvm::PreservedAnalyses kept;
  kept.preserveSet<llvm::CFGAnalyses>();
  return kept;
}

} // namespace tessera::codegen::gpu
