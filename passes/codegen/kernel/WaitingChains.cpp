#include "passes/codegen/kernel/WaitingChains.h"

#include "passes/codegen/kernel/ElementWork.h"
#include "passes/codegen/kernel/FunctionWork.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>

namespace tessera::codegen {

using cost::ElementClass;

namespace {

constexpr double kLanes = 16;  // of four bytes, of a vector
constexpr double kHidden = 64; // cycles of a chain that other vectors' operations fill

// Of one vector.
struct Operation {
  double count = 0;  // instructions
  double cycles = 0; // until whoever reads its result may begin
};

double elementsOfVector(Node *node) { return kLanes / std::max(1.0, lanesOf(node->kind)); }

// As processors of several makers have it, in the instructions that elements are counted in
// (ElementWork.cpp). Rounding is one that narrows and two that widen, each after the one before.
Operation operationOf(Node *node) {
  cost::KernelWork work;
  countOperation(node, elementsOfVector(node), work);
  auto of = [&](ElementClass which) { return work.of(which) / kLanes; };
  double rounded = of(ElementClass::Narrowed), arithmetic = of(ElementClass::Arithmetic),
         divided = of(ElementClass::Division), exponential = of(ElementClass::Exponential),
         function = of(ElementClass::Function);
  double own = arithmetic - 2 * rounded; // several at once, of which at most two wait
  double cycles = isInteger(node->kind) && node->kind != ElementKind::I1 ? 1 : 4;
  return {arithmetic + rounded + divided + instructionsOfExponential * exponential +
              instructionsOfFunction * function,
          cycles * std::clamp(own, 0.0, 2.0) + 12 * rounded + 14 * divided + 48 * exponential +
              120 * std::min(function, 1.0)};
}

} // namespace

double waitsOf(llvm::ArrayRef<Node *> nodes, llvm::function_ref<double(Node *)> times) {
  struct Chain {
    Operation own;
    double elements = 0, until = 0, after = 0; // cycles, its own among the first
  };
  llvm::DenseMap<Node *, Chain> chains;
  for (Node *node : nodes)
    if (double elements = times(node); elements > 0) {
      Chain chain{operationOf(node), elements};
      for (Node *operand : node->operands)
        if (auto before = chains.find(operand); before != chains.end())
          chain.until = std::max(chain.until, before->second.until);
      chain.until += chain.own.cycles;
      chains[node] = chain;
    }
  double waits = 0;
  for (Node *node : llvm::reverse(nodes)) {
    auto found = chains.find(node);
    if (found == chains.end())
      continue;
    const Chain &chain = found->second;
    waits += chain.elements / elementsOfVector(node) * chain.own.count *
             std::max(0.0, chain.until + chain.after - kHidden);
    for (Node *operand : node->operands)
      if (auto before = chains.find(operand); before != chains.end())
        before->second.after = std::max(before->second.after, chain.after + chain.own.cycles);
  }
  return waits;
}

} // namespace tessera::codegen
