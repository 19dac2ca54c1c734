#include "passes/codegen/kernel/FunctionWork.h"

namespace tessera::codegen {

// By their instructions (cpu/VectorMath.cpp), division apart.
std::optional<double> exponentialsOf(Op op) {
  switch (op) {
  case Op::Exp:
    return 1;
  case Op::Logistic:
    return 16 / instructionsOfExponential;
  case Op::Tanh:
    return 22 / instructionsOfExponential;
  case Op::Expm1: // by one formula near 0, by another beyond
    return 35 / instructionsOfExponential;
  default:
    return std::nullopt;
  }
}

// Of the others: their instructions beside those of log(1 + x), which is one.
double functionsOf(Op op) {
  switch (op) {
  case Op::Log:
    return 42 / instructionsOfFunction;
  case Op::Sin:
  case Op::Cos:
  case Op::Tan: // with what is done where the angle is large
    return 78 / instructionsOfFunction;
  case Op::Cbrt: // several divisions among them
  case Op::Pow:
    return 150 / instructionsOfFunction;
  default:
    return 1;
  }
}

// The same of f64, for each of its two lanes: most compute with two numbers for one (cpu/DoubleMath.h).
double doubleFunctionsOf(Op op) {
  switch (op) {
  case Op::Exp:
    return 1;
  case Op::Log:
  case Op::Log1p:
    return 3;
  case Op::Cbrt:
  case Op::Expm1:
    return 2.5;
  case Op::Pow:
    return 8;
  default:
    return 1.8;
  }
}

} // namespace tessera::codegen
