// erf and erfc in f32, by polynomials of our own, fitted by Lawson's reweighted least squares.
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

} // namespace tessera::codegen
