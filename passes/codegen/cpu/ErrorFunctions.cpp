// erf in f32, by polynomials of our own, fitted by Lawson's reweighted least squares.
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

} // namespace tessera::codegen
