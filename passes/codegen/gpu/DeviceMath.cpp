#include "passes/codegen/gpu/DeviceMath.h"

#include "passes/codegen/cpu/LlvmTypes.h"
#include "passes/codegen/gpu/DeviceRemainder.h"
#include "llvm/IR/IRBuilder.h"

namespace tessera::codegen::gpu {

using Value = llvm::Value *;

namespace {

// Sine and cosine of f32 beyond 2^50, where the emitter's own reduction ends (VectorMath.cpp). What
// is left of x after whole turns, by the digits of 2 / pi that matter (M. Payne and R. Hanek,
// "Radian reduction for trigonometric functions", 1983):
//
//   x = m 2^e, a whole number m below 2^24; digits of 2 / pi above 2^(1-e) give whole turns, and 96
//   of those that follow, times m, the quadrant and 94 digits of the angle within it
class HugeAngle {
public:
  HugeAngle(llvm::Function *function) : b(function->getContext()), function(function) {
    b.SetInsertPoint(llvm::BasicBlock::Create(b.getContext(), "entry", function));
  }

  void emit(char which) {
    Value x = function->getArg(0);
    Value bits = b.CreateBitCast(x, b.getInt32Ty());
    Value product = turns(bits);
    // The nearest quadrant, and the signed rest: 64 digits of it.
    Value shifted = b.CreateTrunc(b.CreateLShr(product, wide(30)), b.getInt64Ty());
    Value high = b.CreateTrunc(b.CreateLShr(product, wide(93)), b.getInt32Ty());
    Value quadrant = b.CreateLShr(b.CreateAdd(high, b.getInt32(1)), 1);
    Value rest = b.CreateFMul(b.CreateSIToFP(shifted, b.getDoubleTy()),
                              number(0x1.921fb54442d18p-64)); // pi/2 2^-64
    Value isNegative = b.CreateICmpSLT(bits, b.getInt32(0));
    rest = b.CreateSelect(isNegative, b.CreateFNeg(rest), rest);
    quadrant = b.CreateSelect(isNegative, b.CreateNeg(quadrant), quadrant);
    Value sine = ofQuadrant(rest, quadrant),
          cosine = ofQuadrant(rest, b.CreateAdd(quadrant, b.getInt32(1)));
    Value result = which == 's' ? sine : which == 'c' ? cosine : b.CreateFDiv(sine, cosine);
    Value isFinite =
        b.CreateICmpNE(b.CreateAnd(bits, b.getInt32(0x7f800000)), b.getInt32(0x7f800000));
    result = b.CreateFPTrunc(result, b.getFloatTy());
    b.CreateRet(b.CreateSelect(isFinite, result, llvm::ConstantFP::getNaN(b.getFloatTy())));
  }

private:
  Value wide(uint64_t value) { return llvm::ConstantInt::get(b.getInt128Ty(), value); }
  Value number(double value) { return llvm::ConstantFP::get(b.getDoubleTy(), value); }

  // |x| 2 / pi modulo 4, in units of 2^-94.
  Value turns(Value bits) {
    static constexpr uint32_t digits[] = {0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0,
                                          0xdb629599, 0x3c439041, 0xfe5163ab, 0xdebbc561,
                                          0xb7246e3a, 0x424dd2e0};
    auto *data = llvm::ConstantDataArray::get(b.getContext(), digits);
    llvm::Module &module = *function->getParent();
    llvm::GlobalVariable *table = module.getGlobalVariable("two_over_pi", /*AllowInternal=*/true);
    if (!table)
      table = new llvm::GlobalVariable(module, data->getType(), true,
                                       llvm::GlobalValue::PrivateLinkage, data, "two_over_pi");
    Value field = b.CreateAnd(b.CreateLShr(bits, 23), b.getInt32(0xff));
    // Digit e - 1 of 2 / pi is the first; this is its place from 0 on. It lies in the table for all
    // that is finite and beyond 2^50.
    Value first = b.CreateSub(field, b.getInt32(152));
    first = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, first, b.getInt32(0));
    first = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, first, b.getInt32(102));
    Value word = b.CreateZExt(b.CreateLShr(first, 5), b.getInt64Ty());
    Value window = wide(0);
    for (int64_t i = 0; i < 4; ++i) {
      Value at = b.CreateInBoundsGEP(b.getInt32Ty(), table, b.CreateAdd(word, b.getInt64(i)));
      Value part = b.CreateZExt(b.CreateLoad(b.getInt32Ty(), at), b.getInt128Ty());
      window = b.CreateOr(b.CreateShl(window, wide(32)), part);
    }
    window = b.CreateShl(window, b.CreateZExt(b.CreateAnd(first, b.getInt32(31)), b.getInt128Ty()));
    window = b.CreateLShr(window, wide(32)); // 96 digits
    Value m = b.CreateOr(b.CreateAnd(bits, b.getInt32(0x7fffff)), b.getInt32(0x800000));
    Value product = b.CreateMul(window, b.CreateZExt(m, b.getInt128Ty()));
    return b.CreateLShr(b.CreateShl(product, wide(32)), wide(32)); // modulo 4
  }

  // Sine of rest + quadrant pi/2, by the polynomials of VectorMath.cpp.
  Value ofQuadrant(Value rest, Value quadrant) {
    Value square = b.CreateFMul(rest, rest);
    auto horner = [&](std::initializer_list<double> coefficients) {
      Value sum = nullptr;
      for (auto it = coefficients.end(); it != coefficients.begin();) {
        Value c = number(*--it);
        sum = sum ? b.CreateFAdd(b.CreateFMul(sum, square), c) : c;
      }
      return sum;
    };
    Value p = horner({-0x1.555545995a603p-3, 0x1.1107605230bc4p-7, -0x1.994eb3774cf24p-13});
    Value sine = b.CreateFAdd(b.CreateFMul(b.CreateFMul(rest, square), p), rest);
    Value cosine = horner({1, -0x1.ffffffd0c621cp-2, 0x1.55553e1068f19p-5, -0x1.6c087e89a359dp-10,
                           0x1.99343027bf8c3p-16});
    Value isOdd = b.CreateICmpNE(b.CreateAnd(quadrant, b.getInt32(1)), b.getInt32(0));
    Value value = b.CreateSelect(isOdd, cosine, sine);
    Value isTurned = b.CreateICmpNE(b.CreateAnd(quadrant, b.getInt32(2)), b.getInt32(0));
    return b.CreateSelect(isTurned, b.CreateFNeg(value), value);
  }

  llvm::IRBuilder<> b;
  llvm::Function *function;
};

} // namespace

std::string defineMath(llvm::Module &module) {
  for (llvm::Function &function : module) {
    if (!function.isDeclaration() || function.isIntrinsic())
      continue;
    llvm::StringRef name = function.getName();
    bool isAngle = name == "sinf" || name == "cosf" || name == "tanf";
    if (!isAngle && name != "fmodf" && name != "fmod")
      return name.str();
    function.setLinkage(llvm::GlobalValue::InternalLinkage);
    function.addFnAttr(llvm::Attribute::AlwaysInline);
    flushSubnormals(function);
    if (isAngle)
      HugeAngle(&function).emit(name[0]);
    else
      writeRemainder(function);
  }
  return "";
}

} // namespace tessera::codegen::gpu
