#include "passes/codegen/cpu/TinyFloat.h"

#include "llvm/IR/Intrinsics.h"

#include <cmath>

namespace tessera::codegen {

using Value = llvm::Value *;

namespace {

struct Format {
  int exponentBits, mantissaBits, bias;
  enum Special {
    Ieee,       // infinities and NaNs, as in f32
    NaNOnly,    // all ones are NaN
    OneNaN,     // the pattern of -0 is the only NaN
    FiniteOnly, // neither
  } special;
  int total() const { return exponentBits + mantissaBits; }
  int64_t all() const { return (1 << total()) - 1; }
  int64_t sign() const { return 1 << total(); }
  int64_t top() const { return ((1 << exponentBits) - 1) << mantissaBits; }
  // The pattern of the largest finite number.
  int64_t largest() const {
    return special == Ieee ? top() - 1 : special == NaNOnly ? all() - 1 : all();
  }
};

Format formatOf(ElementKind kind) {
  switch (kind) {
  case ElementKind::F4E2M1FN:
    return {2, 1, 1, Format::FiniteOnly};
  case ElementKind::F6E2M3FN:
    return {2, 3, 1, Format::FiniteOnly};
  case ElementKind::F6E3M2FN:
    return {3, 2, 3, Format::FiniteOnly};
  case ElementKind::F8E3M4:
    return {3, 4, 3, Format::Ieee};
  case ElementKind::F8E4M3:
    return {4, 3, 7, Format::Ieee};
  case ElementKind::F8E4M3FN:
    return {4, 3, 7, Format::NaNOnly};
  case ElementKind::F8E4M3FNUZ:
    return {4, 3, 8, Format::OneNaN};
  case ElementKind::F8E4M3B11FNUZ:
    return {4, 3, 11, Format::OneNaN};
  case ElementKind::F16:
    return {5, 10, 15, Format::Ieee};
  case ElementKind::F8E5M2:
    return {5, 2, 15, Format::Ieee};
  default: // F8E5M2FNUZ
    return {5, 2, 16, Format::OneNaN};
  }
}

llvm::Type *like(Value value, llvm::Type *scalar) {
  if (auto *vector = llvm::dyn_cast<llvm::FixedVectorType>(value->getType()))
    return llvm::FixedVectorType::get(scalar, vector->getNumElements());
  return scalar;
}

constexpr int64_t quietNaN = 0x7fc00000, infinityBits = 0x7f800000;
// The NaN of types that write it as -0: below all numbers in a total order, as their bits are.
constexpr int64_t negativeNaN = quietNaN - 0x80000000;

} // namespace

static Value decodeExponent(llvm::IRBuilder<> &b, Value bits) { // f8E8M0FNU
  auto number = [&](int64_t n) { return llvm::ConstantInt::get(bits->getType(), n); };
  Value single = b.CreateShl(bits, 23);
  single = b.CreateSelect(b.CreateICmpEQ(bits, number(0)), number(0x400000), single); // 2^-127
  return b.CreateSelect(b.CreateICmpEQ(bits, number(255)), number(quietNaN), single);
}

Value decodeTinyFloat(llvm::IRBuilder<> &b, ElementKind kind, Value byte) {
  llvm::Type *floatType = like(byte, b.getFloatTy());
  Value bits = b.CreateZExt(byte, like(byte, b.getInt32Ty()));
  if (kind == ElementKind::F8E8M0FNU)
    return b.CreateBitCast(decodeExponent(b, bits), floatType);
  Format f = formatOf(kind);
  auto number = [&](int64_t n) { return llvm::ConstantInt::get(bits->getType(), n); };
  Value magnitude = b.CreateAnd(bits, number(f.all()));
  Value sign = b.CreateAnd(b.CreateShl(bits, 31 - f.total()), number(0x80000000));
  Value moved = b.CreateShl(magnitude, 23 - f.mantissaBits);
  Value single = b.CreateAdd(moved, number(int64_t(127 - f.bias) << 23));
  // Subnormal ones by way of integers: f32's own may be flushed to zero.
  Value small =
      b.CreateFMul(b.CreateUIToFP(magnitude, floatType),
                   llvm::ConstantFP::get(floatType, std::ldexp(1.0, 1 - f.bias - f.mantissaBits)));
  single = b.CreateSelect(b.CreateICmpULT(magnitude, number(1 << f.mantissaBits)),
                          b.CreateBitCast(small, bits->getType()), single);
  if (f.special == Format::Ieee)
    single = b.CreateSelect(b.CreateICmpUGE(magnitude, number(f.top())),
                            b.CreateOr(moved, number(infinityBits)), single);
  if (f.special == Format::NaNOnly)
    single = b.CreateSelect(b.CreateICmpEQ(magnitude, number(f.all())), number(quietNaN), single);
  single = b.CreateOr(single, sign);
  if (f.special == Format::OneNaN)
    single = b.CreateSelect(b.CreateICmpEQ(bits, number(f.sign())), number(negativeNaN), single);
  return b.CreateBitCast(single, floatType);
}

static Value encodeExponent(llvm::IRBuilder<> &b, Value bits) { // f8E8M0FNU
  auto number = [&](int64_t n) { return llvm::ConstantInt::get(bits->getType(), n); };
  Value isSubnormal = b.CreateICmpULT(bits, number(0x800000));
  Value half = b.CreateSelect(isSubnormal, number(0x200000), number(0x400000));
  Value code = b.CreateLShr(b.CreateAdd(bits, half), 23);
  // Zero, negative numbers, infinity and NaN; a tie above 2^127 overflows into it.
  Value isBad = b.CreateICmpUGE(b.CreateSub(bits, number(1)), number(infinityBits - 1));
  return b.CreateSelect(isBad, number(255), code);
}

Value encodeTinyFloat(llvm::IRBuilder<> &b, ElementKind kind, Value single) {
  llvm::Type *byteType = like(single, kind == ElementKind::F16 ? b.getInt16Ty() : b.getInt8Ty());
  Value bits = b.CreateBitCast(single, like(single, b.getInt32Ty()));
  if (kind == ElementKind::F8E8M0FNU)
    return b.CreateTrunc(encodeExponent(b, bits), byteType);
  Format f = formatOf(kind);
  auto number = [&](int64_t n) { return llvm::ConstantInt::get(bits->getType(), n); };
  Value magnitude = b.CreateAnd(bits, number(0x7fffffff));
  Value sign = b.CreateShl(b.CreateLShr(bits, 31), f.total());
  // Half of the last kept place, less one where the place is even, carries into it.
  int drop = 23 - f.mantissaBits;
  Value isOdd = b.CreateAnd(b.CreateLShr(magnitude, drop), number(1));
  Value rounded = b.CreateAdd(magnitude, b.CreateAdd(isOdd, number((1 << (drop - 1)) - 1)));
  Value code =
      b.CreateSub(b.CreateLShr(rounded, drop), number(int64_t(127 - f.bias) << f.mantissaBits));
  // Below the normal numbers: adding a number whose last place is the smallest one rounds.
  double shift = std::ldexp(1.0, 24 - f.bias - f.mantissaBits);
  Value shifted = b.CreateFAdd(b.CreateBitCast(magnitude, single->getType()),
                               llvm::ConstantFP::get(single->getType(), shift));
  Value small = b.CreateSub(b.CreateBitCast(shifted, bits->getType()),
                            number(int64_t(127 + 24 - f.bias - f.mantissaBits) << 23));
  code =
      b.CreateSelect(b.CreateICmpULT(magnitude, number(int64_t(128 - f.bias) << 23)), small, code);
  Value isLarge = b.CreateICmpUGT(code, number(f.largest()));
  Value isNaN = b.CreateICmpUGT(magnitude, number(infinityBits));
  switch (f.special) {
  case Format::Ieee:
    code = b.CreateSelect(isLarge, number(f.top()), code);
    code = b.CreateSelect(isNaN, number(f.top() | (1 << (f.mantissaBits - 1))), code);
    code = b.CreateOr(code, sign);
    break;
  case Format::NaNOnly:
    code = b.CreateOr(b.CreateSelect(isLarge, number(f.all()), code), sign);
    break;
  case Format::OneNaN: {
    Value isZero = b.CreateICmpEQ(code, number(0));
    code = b.CreateOr(code, b.CreateSelect(isZero, number(0), sign));
    code = b.CreateSelect(isLarge, number(f.sign()), code);
    break;
  }
  case Format::FiniteOnly:
    code = b.CreateOr(b.CreateSelect(isLarge, number(f.largest()), code), sign);
    code = b.CreateSelect(isNaN, number(f.sign()), code);
    break;
  }
  return b.CreateTrunc(code, byteType);
}

} // namespace tessera::codegen
