#include "passes/codegen/kernel/RunningGraph.h"

#include "passes/codegen/kernel/InnerProducts.h"

#include "dialects/stablehlo/TensorTypes.h"
#include "llvm/ADT/STLExtras.h"

namespace tessera::codegen {

using namespace tessera::stablehlo;

// Whether a start value that may be taken any number of times (isSplittable) can be more than
// neutral.
static bool mayChange(Op step, Node *start) {
  bool isInfinity = start->op == Op::Constant && isFloat(start->kind) &&
                    numberOf(start) == (step == Op::Max ? -HUGE_VAL : HUGE_VAL);
  return (step == Op::Max || step == Op::Min || step == Op::And || step == Op::Or) && !isInfinity;
}

bool RunningGraph::build(KernelGraph &g, ReduceWindowOp op, const RunningLoops &loops) {
  Graph &graph = g.graph;
  outerDim = graph.addDim(loops.outer), dim = graph.addDim(loops.size);
  innerDim = graph.addDim(loops.inner);
  offset = graph.linearise({graph.dim(outerDim), graph.dim(dim), graph.dim(innerDim)},
                           {loops.outer, loops.size, loops.inner});
  reduction = {};
  kinds.clear();
  if (!g.builder.buildReducer(op.getBody().front(), reduction))
    return false;
  for (auto [i, value] : llvm::enumerate(op.getInputs())) {
    std::optional<ElementType> known = elementType(value.getType());
    if (!known) {
      op.emitError("no kernel code for element type ") << value.getType();
      return false;
    }
    ElementType type = *known;
    Element element;
    if (auto argument = mlir::dyn_cast<mlir::BlockArgument>(value)) {
      int buffer = static_cast<int>(argument.getArgNumber());
      Index at = type.complex ? graph.multiply(offset, 2) : offset;
      element.re = graph.load(type.kind, buffer, at, nullptr);
      if (type.complex)
        element.im = graph.load(type.kind, buffer, graph.addConstant(at, 1), nullptr);
    } else {
      element = g.builder.at(value, graph.delinearise(offset, shapeOf(value)));
    }
    Element init = g.builder.at(op.getInitValues()[i], {});
    if (!element || !init)
      return false;
    for (auto [node, start] : {std::pair(element.re, init.re), std::pair(element.im, init.im)}) {
      if (!node)
        continue;
      // Sums and products of narrow floats are kept in f32.
      Op step = reduction.simple.empty() ? Op::Constant : reduction.simple[kinds.size()];
      bool widen = isNarrowFloat(node->kind) && (step == Op::Add || step == Op::Mul);
      reduction.inputs.push_back(widen ? graph.convert(node, ElementKind::F32) : node);
      reduction.inits.push_back(widen ? graph.convert(start, ElementKind::F32) : start);
      kinds.push_back(node->kind);
    }
  }
  bool hasStart = false;
  for (auto [step, start] : llvm::zip(reduction.simple, reduction.inits))
    hasStart |= mayChange(step, start);
  if (!hasStart)
    reduction.inits.clear();
  return true;
}

} // namespace tessera::codegen
