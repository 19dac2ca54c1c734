#include "passes/codegen/gpu/Quotients.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/PatternMatch.h"

#include <cmath>

namespace tessera::codegen::gpu {

using Value = llvm::Value *;

static Value number(Value like, double x) { return llvm::ConstantFP::get(like->getType(), x); }

static Value fma(llvm::IRBuilder<> &b, Value x, Value y, Value z) {
  return b.CreateIntrinsic(x->getType(), llvm::Intrinsic::fma, {x, y, z});
}

// Of a NaN and a number the number.
static Value smaller(llvm::IRBuilder<> &b, Value x, double bound) {
  return b.CreateBinaryIntrinsic(llvm::Intrinsic::minnum, x, number(x, bound));
}

static Value aboutReciprocal(llvm::IRBuilder<> &b, Value x) {
  auto ofOne = [&](Value one) {
    return b.CreateIntrinsic(b.getFloatTy(), llvm::Intrinsic::nvvm_rcp_approx_ftz_f, {one});
  };
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
  Value y = aboutReciprocal(b, x);
  Value left = smaller(b, fma(b, b.CreateFNeg(x), y, number(x, 1)), 1);
  return fma(b, left, y, y);
}

// Scaled, x is within 2^-62 and 2^64, and the divisor within 2^-32 and 2^32: no remainder is subnormal. Of a
// negative divisor it is -x by its magnitude, so that a zero keeps its sign.
static Value quotient(llvm::IRBuilder<> &b, Value x, float divisor) {
  if (divisor < 0)
    x = b.CreateFNeg(x);
  divisor = std::fabs(divisor);
  Value isSmall = b.CreateFCmpOLT(b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x), number(x, 1));
  Value large = number(x, 0x1p64), small = number(x, 0x1p-64), d = number(x, divisor);
  Value inverse = number(x, 1 / divisor);
  Value scaled = b.CreateFMul(x, b.CreateSelect(isSmall, large, small));
  Value about = b.CreateFMul(scaled, inverse);
  Value left = smaller(b, fma(b, d, about, b.CreateFNeg(scaled)), 0x1p64); // which it is less than
  return b.CreateFMul(fma(b, b.CreateFNeg(left), inverse, about),
                      b.CreateSelect(isSmall, small, large));
}

// What stands for it; nothing where ptxas has the shorter code.
static Value insteadOf(llvm::Instruction &i) {
  using namespace llvm::PatternMatch;
  if (i.getOpcode() != llvm::Instruction::FDiv || !i.getType()->getScalarType()->isFloatTy())
    return nullptr;
  llvm::IRBuilder<> b(&i);
  Value x = i.getOperand(0), divisor = i.getOperand(1);
  if (match(x, m_FPOne()))
    return reciprocal(b, divisor);
  const llvm::APFloat *constant = nullptr;
  if (!match(divisor, m_APFloat(constant)))
    return nullptr;
  float value = constant->convertToFloat(), magnitude = std::fabs(value);
  return magnitude >= 0x1p-32F && magnitude <= 0x1p32F ? quotient(b, x, value) : nullptr;
}

llvm::PreservedAnalyses QuotientsPass::run(llvm::Function &function,
                                           llvm::FunctionAnalysisManager &) {
  bool changes = false;
  for (llvm::Instruction &i : llvm::make_early_inc_range(llvm::instructions(function)))
    if (Value instead = insteadOf(i)) {
      i.replaceAllUsesWith(instead);
      i.eraseFromParent();
      changes = true;
    }
  if (!changes)
    return llvm::PreservedAnalyses::all();
  llvm::PreservedAnalyses kept;
  kept.preserveSet<llvm::CFGAnalyses>();
  return kept;
}

} // namespace tessera::codegen::gpu
