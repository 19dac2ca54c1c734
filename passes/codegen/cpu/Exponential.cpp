// exp in f32: 2^n exp(r), with n from the low bits of a sum. With AVX-512 n is a sixteenth of an
// integer, and 2 to the power of its fraction one of sixteen numbers, which a permutation looks up
// (Tang 1989, Table-driven implementation of the exponential function).
#include "passes/codegen/cpu/VectorMath.h"

#include "llvm/ADT/bit.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/IntrinsicsX86.h"

#include <numeric>

namespace tessera::codegen {

using Value = llvm::Value *;

static float single(uint32_t pattern) { return llvm::bit_cast<float>(pattern); }

// `compute` of whole registers of 16 elements; `values` may have fewer, or be scalars.
Value VectorMath::byRegisters(llvm::ArrayRef<Value> values,
                              llvm::function_ref<Value(llvm::ArrayRef<Value>)> compute) {
  constexpr unsigned width = 16;
  auto *type = llvm::dyn_cast<llvm::FixedVectorType>(values[0]->getType());
  unsigned lanes = type ? type->getNumElements() : 1;
  auto part = [&](Value value, unsigned first) -> Value {
    if (!type)
      return b.CreateInsertElement(
          llvm::PoisonValue::get(llvm::FixedVectorType::get(value->getType(), width)), value,
          uint64_t(0));
    if (lanes == width)
      return value;
    llvm::SmallVector<int> order(width, -1);
    std::iota(order.begin(), order.begin() + std::min(lanes - first, width), first);
    return b.CreateShuffleVector(value, order);
  };
  llvm::SmallVector<Value> parts;
  for (unsigned first = 0; first < lanes; first += width) {
    llvm::SmallVector<Value, 2> operands;
    for (Value value : values)
      operands.push_back(part(value, first));
    parts.push_back(compute(operands));
  }
  if (!type)
    return b.CreateExtractElement(parts[0], uint64_t(0));
  Value all = llvm::concatenateVectors(b, parts);
  if (lanes % width == 0)
    return all;
  llvm::SmallVector<int> order(lanes);
  std::iota(order.begin(), order.end(), 0);
  return b.CreateShuffleVector(all, order);
}

// Of the sixteen in `table` those that the lowest four bits of `places` say.
Value VectorMath::lookUp(Value places, const std::array<uint32_t, 16> &table) {
  llvm::SmallVector<llvm::Constant *> numbers;
  for (uint32_t pattern : table)
    numbers.push_back(llvm::ConstantFP::get(b.getFloatTy(), single(pattern)));
  Value from = llvm::ConstantVector::get(numbers);
  return byRegisters({places}, [&](llvm::ArrayRef<Value> part) {
    return b.CreateIntrinsic(llvm::Intrinsic::x86_avx512_permvar_sf_512, {}, {from, part[0]});
  });
}

// x 2^floor(exponent), for any exponent.
Value VectorMath::scale(Value x, Value exponent) {
  return byRegisters({x, exponent}, [&](llvm::ArrayRef<Value> part) {
    constexpr uint32_t currentRounding = 4;
    return b.CreateIntrinsic(
        llvm::Intrinsic::x86_avx512_mask_scalef_ps_512, {},
        {part[0], part[1], part[0], b.getInt16(-1), b.getInt32(currentRounding)});
  });
}

// The one of x and `most` whose magnitude is less, with the sign of x; `most` where x is NaN.
Value VectorMath::withinMagnitude(Value x, float most) {
  return byRegisters({x}, [&](llvm::ArrayRef<Value> part) {
    constexpr uint32_t leastMagnitude = 2, currentRounding = 4;
    return b.CreateIntrinsic(llvm::Intrinsic::x86_avx512_mask_range_ps_512, {},
                             {part[0], number(part[0], most), b.getInt32(leastMagnitude), part[0],
                              b.getInt16(-1), b.getInt32(currentRounding)});
  });
}

const std::array<uint32_t, 16> VectorMath::powersOfTwo = {
    0x3f800000, 0x3f85aac3, 0x3f8b95c2, 0x3f91c3d3, 0x3f9837f0, 0x3f9ef532, 0x3fa5fed7, 0x3fad583f,
    0x3fb504f3, 0x3fbd08a4, 0x3fc5672a, 0x3fce248c, 0x3fd744fd, 0x3fe0ccdf, 0x3feac0c7, 0x3ff5257d};

Value VectorMath::expByTable(Value x) {
  auto numberOf = [&](uint32_t pattern) { return number(x, single(pattern)); };
  // Adding 1.5 * 2^19 rounds to a sixteenth, and leaves the sixteenths in the low bits.
  Value magic = number(x, 786432);
  Value shifted = fma(x, numberOf(0x3fb8aa3b), magic);
  Value n = b.CreateFSub(shifted, magic);
  Value r = fma(n, numberOf(0xbf318000), x); // ln 2 in two parts
  r = fma(n, numberOf(0x395e8083), r);
  // Of an x far out, or of none, r is anything: n alone makes the result 0, infinite or NaN.
  r = withinMagnitude(r, 0.03125f);
  // exp(r) - 1 = r + r^2 Q(r), |r| <= ln 2 / 32; 1.6e-9
  Value q = fma(numberOf(0x3e2aaba0), r, numberOf(0x3f000111));
  q = fma(q, b.CreateFMul(r, r), r);
  // What the powers of two lack.
  constexpr std::array<uint32_t, 16> low = {0x00000000, 0x334f9891, 0xb260aba1, 0x33675624,
                                            0x33231b71, 0x33412342, 0xb32c9d5e, 0xb22deaf6,
                                            0x32cfe77a, 0xb3414fe8, 0x320aa837, 0x3228fc24,
                                            0xb2d4a58a, 0xb21eab59, 0xb24116de, 0x32292436};
  Value power = lookUp(bits(shifted), powersOfTwo);
  power = b.CreateFAdd(power, fma(power, q, lookUp(bits(shifted), low)));
  return scale(power, n);
}

Value VectorMath::exp(Value x) {
  if (looksUp)
    return expByTable(x);
  auto numberOf = [&](uint32_t pattern) { return number(x, single(pattern)); };
  // Beyond these the result is 0 or infinite anyhow. Ordered comparisons leave NaN alone.
  Value y = select(b.CreateFCmpOLT(x, number(x, -87.8f)), number(x, -87.8f), x);
  y = select(b.CreateFCmpOGT(y, number(x, 88.8f)), number(x, 88.8f), y);
  // Adding 1.5 * 2^23 rounds to an integer, and leaves it in the low bits; 127 is the bias.
  Value magic = number(x, 12582912.0 + 127);
  Value shifted = fma(y, numberOf(0x3fb8aa3b), magic);
  Value n = b.CreateFSub(shifted, magic);
  Value r = fma(n, numberOf(0xbf318000), y); // ln 2 in two parts
  r = fma(n, numberOf(0x395e8083), r);
  // exp(r) - 1 = r + r^2 Q(r); 3e-9
  Value q = numberOf(0x3ab5121d);
  for (uint32_t coefficient : {0x3c091cf0u, 0x3d2aac79u, 0x3e2aaa49u, 0x3efffffeu})
    q = fma(q, r, numberOf(coefficient));
  q = fma(q, b.CreateFMul(r, r), r);
  // No number is 2^128: n is 127 at most, and one doubling more does the rest.
  Value most = number(x, 12582912.0 + 254);
  Value exponent = select(b.CreateFCmpOGT(shifted, most), most, shifted);
  Value power = b.CreateBitCast(b.CreateShl(bits(exponent), 23), x->getType());
  Value result = fma(q, power, power);
  return fma(result, b.CreateFSub(shifted, exponent), result);
}

} // namespace tessera::codegen
