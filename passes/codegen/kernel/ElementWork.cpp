#include "passes/codegen/kernel/ElementWork.h"

#include "passes/codegen/kernel/FunctionWork.h"

#include <optional>

namespace tessera::codegen {

using cost::ElementClass;
using cost::KernelWork;

bool countsAsFlop(Node *node) {
  return isFunction(node->op) ||
         (node->op >= Op::Add && node->op <= Op::RoundEven && isFloat(node->kind));
}

static void countRounding(double times, KernelWork &work) {
  work.of(ElementClass::Narrowed) += times;
  work.of(ElementClass::Arithmetic) += kWiden * times;
}

static constexpr double kRoot = 1.3; // of a division

static bool rounds(Op op) {
  switch (op) {
  case Op::Add:
  case Op::Sub:
  case Op::Mul:
  case Op::Div:
  case Op::Convert:
    return true;
  default:
    return isFunction(op) || op == Op::Sqrt || op == Op::Rsqrt;
  }
}

// One evaluation of the node.
void countOperation(Node *node, double times, KernelWork &work) {
  ElementKind kind = node->op == Op::Compare ? node->operands[0]->kind : node->kind;
  double lanes = lanesOf(kind) * times;
  if (isHalfFloat(kind) && rounds(node->op) && !scalesExactly(node->op, kind, node))
    countRounding(times, work);
  switch (node->op) {
  case Op::Keep:
    work.moved += times * double(byteSize(kind));
    return;
  case Op::Load:
  case Op::Constant:
  case Op::External:
  case Op::Reduced:
  case Op::Bitcast:
    return;
  case Op::Div:
  case Op::Rem:
    if (isInteger(kind) && node->operands[1]->op == Op::Constant)
      work.of(ElementClass::Arithmetic) += 6 * lanes; // by a product
    else if (isInteger(kind) || (node->op == Op::Rem && byteSize(kind) == 8))
      work.of(ElementClass::OneByOne) += times;
    else if (node->op == Op::Rem) // in f64
      work.of(ElementClass::Division) += 4 * lanes;
    else
      work.of(isPowerOfTwo(node->operands[1]) ? ElementClass::Arithmetic
                                              : ElementClass::Division) += lanes;
    return;
  case Op::Rsqrt: // a root and a division
    work.of(ElementClass::Division) += (kRoot + 1) * lanes;
    return;
  case Op::Sqrt:
    work.of(ElementClass::Division) += kRoot * lanes;
    return;
  case Op::FloorDiv:
  case Op::FloorRem:
    work.of(ElementClass::Division) += lanes;
    return;
  case Op::Convert: {
    ElementKind from = node->operands[0]->kind;
    if (isHalfFloat(from) && kind == ElementKind::F32)
      return; // as which it is held
    bool isTiny = isTinyFloat(from) || isTinyFloat(kind);
    work.of(ElementClass::Arithmetic) += (isTiny ? 8 : 1) * std::max(lanesOf(from) * times, lanes);
    return;
  }
  default:
    break;
  }
  if (!isFunction(node->op)) {
    work.of(ElementClass::Arithmetic) += (isExtremum(node->op, kind) ? kExtremum : 1) * lanes;
  } else if (kind == ElementKind::F64) {
    work.of(ElementClass::Function) += doubleFunctionsOf(node->op) * lanes;
  } else {
    std::optional<double> exponentials = exponentialsOf(node->op);
    work.of(exponentials ? ElementClass::Exponential : ElementClass::Function) +=
        exponentials.value_or(functionsOf(node->op)) * lanes;
    if (node->op == Op::Logistic || node->op == Op::Tanh)
      work.of(ElementClass::Division) += lanes;
  }
}

} // namespace tessera::codegen
