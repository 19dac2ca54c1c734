// erf and erfc by polynomials of our own: in f32 fitted by Lawson's reweighted least squares, in f64
// through Chebyshev points.
#include "passes/codegen/cpu/DoubleMath.h"
#include "passes/codegen/cpu/VectorMath.h"

namespace tessera::codegen {

using Value = llvm::Value *;

// x + x p(x^2); 1.3e-9
Value VectorMath::erfCentre(Value x) {
  Value p =
      horner(b.CreateFMul(x, x),
             {0.12837916572667168, -0.37612625823964985, 0.11283585145570096, -0.026853811807946826,
              0.005188327443780127, -0.0008010191499728982, 7.853854335631276e-05});
  return fma(x, p, x);
}

Value VectorMath::erf(Value x) {
  Value a = abs(x);
  Value y = select(b.CreateFCmpOGT(a, number(x, 4)), number(x, 4), a);
  // 1 - exp(p(|x|)) beyond 1; 1.3e-9
  Value exponent = horner(y, {-0.0003415125918767433, -1.127089233770337, -0.6381447581812034,
                              -0.10310682136395657, 0.021838096965437735, -0.0029476667959544888,
                              0.00018638008419288895});
  Value outer = copySign(b.CreateFSub(number(x, 1), exp(exponent)), x);
  return select(b.CreateFCmpOLE(a, number(x, 1)), erfCentre(x), outer);
}

Value VectorMath::erfc(Value x) {
  Value a = abs(x), zero = number(x, 0), two = number(x, 2);
  Value y = select(b.CreateFCmpOGT(a, number(x, 30)), number(x, 30), a); // infinity would make NaN
  // exp(-y^2) t p(t) with t = 2 / (2 + y), for y > 0.3; 2e-9
  Value sum = b.CreateFAdd(y, two), t = b.CreateFDiv(two, sum), square = b.CreateFMul(y, y);
  Value first = number(x, 0.282081663608551);
  Value rest = horner(t, {0.2824450433254242, 0.24284489452838898, 0.20165567100048065,
                          -0.014697686769068241, 0.23404011130332947, -0.4012337923049927,
                          0.18974396586418152, -0.003215726697817445, -0.013671504333615303});
  Value p = fma(t, rest, first);
  // What rounding lost: of t, which the function makes about 1.7 times as large, of y^2, of p, and
  // of both products.
  Value ofSum = b.CreateFSub(y, b.CreateFSub(sum, two));
  Value ofQuotient = fma(b.CreateFNeg(t), sum, two);
  Value ofSquare = fma(y, y, b.CreateFNeg(square));
  Value lost =
      fma(fma(b.CreateFNeg(t), ofSum, ofQuotient), number(x, 1.7 / 2), b.CreateFNeg(ofSquare));
  Value factor = b.CreateFMul(t, p);
  // As much larger as keeps what is lost of it from being subnormal.
  Value gauss = b.CreateFMul(exp(b.CreateFNeg(square)), number(x, 0x1p64));
  Value ofP = fma(t, rest, b.CreateFSub(first, p));
  Value ofFactor = fma(t, ofP, fma(t, p, b.CreateFNeg(factor)));
  Value tail = b.CreateFMul(gauss, factor), ofTail = fma(gauss, factor, b.CreateFNeg(tail));
  tail = b.CreateFAdd(tail, fma(tail, lost, fma(gauss, ofFactor, ofTail)));
  tail = b.CreateFMul(tail, number(x, 0x1p-64));
  tail = select(b.CreateFCmpOLT(x, zero), b.CreateFSub(two, tail), tail);
  Value centre = b.CreateFSub(number(x, 1), erfCentre(x));
  return select(b.CreateFCmpOLE(a, number(x, 0.46875)), centre, tail);
}

//===--- f64 ---===//

// x + x p(x^2); 2^-56
Value DoubleMath::erfCentre(Value x) {
  Value p = horner(b.CreateFMul(x, x),
                   {0x1.06eba8214db69p-3, -0x1.812746b0379e7p-2, 0x1.ce2f21a042bdep-4,
                    -0x1.b82ce312889bap-6, 0x1.565bcd0e6502dp-8, -0x1.c02db3feeb579p-11,
                    0x1.f9a326c233146p-14, -0x1.f4d2561aeafd4p-17, 0x1.b9e6509b9867dp-20,
                    -0x1.5f6d925a0bc7ap-23, 0x1.fc4356498c2d9p-27, -0x1.4e607b41a6416p-30,
                    0x1.7f072188e194dp-34, -0x1.29b9f1b3df556p-38});
  return fma(x, p, x);
}

Value DoubleMath::erfcTail(Value x) {
  // exp(-x^2) R(t) / (1 + 2x) with t = (x - 4) / (x + 4), x in [0.46, 28]; 2^-54
  Value y = between(x, 0.46, 28), one = number(x, 1);
  Pair t = quotient(sum(y, number(x, -4)), sum(y, number(x, 4)));
  Value r = horner(t.hi, {-0x1.1df1ad154a28dp-3,  0x1.f7f5df66fd724p-7,   0x1.16ecefcfa52a0p-4,
                          -0x1.9ddb23c3e8b7dp-4,  0x1.7fee004e14f25p-4,   -0x1.0fb06dfe52a71p-4,
                          0x1.3079edf618baep-5,   -0x1.09623882fb92ep-6,  0x1.49c672ab8c726p-8,
                          -0x1.8d4a9c0e737d6p-11, -0x1.a1df45c115cbcp-13, 0x1.3be068fed1fa4p-13,
                          -0x1.9954c535ab809p-16, -0x1.788d7a7e697a7p-17, 0x1.7ef4326eac944p-18,
                          0x1.3bd0641315639p-22,  -0x1.b7f32a23ff40dp-21, 0x1.3e5488d9c7b42p-24,
                          0x1.bb6702996486bp-24,  -0x1.2c08f1bac5d61p-26, -0x1.4b8d4c2fcc5d8p-27,
                          0x1.cc3b5c475279fp-30});
  Pair slope = product(t.hi, r), value = fastSum(number(x, 0x1.3ba5916e9fd7fp+0), slope.hi);
  value.lo = b.CreateFAdd(value.lo, fma(t.lo, r, slope.lo));
  Pair square = product(y, y), divisor = sum(b.CreateFAdd(y, y), one);
  Pair gauss = exp({b.CreateFNeg(square.hi), b.CreateFNeg(square.lo)});
  return total(product(gauss, quotient(value, divisor)));
}

Value DoubleMath::erf(Value x) {
  Value a = abs(x), one = number(x, 1);
  Value outer = copySign(b.CreateFSub(one, erfcTail(a)), x);
  Value isCentre = b.CreateFCmpOLE(a, one);
  return select(isCentre, erfCentre(select(isCentre, x, one)), outer);
}

Value DoubleMath::erfc(Value x) {
  Value a = abs(x), tail = erfcTail(a);
  tail = select(b.CreateFCmpOLT(x, number(x, 0)), b.CreateFSub(number(x, 2), tail), tail);
  Value isCentre = b.CreateFCmpOLE(a, number(x, 0.46875));
  Value centre = b.CreateFSub(number(x, 1), erfCentre(select(isCentre, x, number(x, 0))));
  return select(isCentre, centre, tail);
}

} // namespace tessera::codegen
