// Kernels of one contraction: as a whole, or a convolution whose left operand is dilated in phases
// (kernel/ConvolutionTaps.h), each a contraction with fewer terms.
#include "passes/codegen/cpu/ContractionEmitter.h"
#include "passes/codegen/kernel/NestParts.h"

#include "llvm/ADT/STLExtras.h"

namespace tessera::codegen {

static void emitPlanned(KernelFunction &function, NestGraph &nest, const ContractionPlan &plan) {
  if (plan.byTiles)
    return emitContractionByTiles(function, nest, plan);
  Emitter emitter = function.emitter(nest.g->graph);
  ContractionEmitter(function, nest, plan, emitter).emit();
}

// Part of a kernel whose contraction leaves out zeros.
struct PhaseOfContraction {
  Phase phase;
  std::unique_ptr<NestGraph> nest;
  std::optional<ContractionPlan> plan; // none: nothing is left
};

static bool isEmptySum(const NestGraph &nest) {
  return llvm::none_of(Graph::reachable(nest.rootNodes()),
                       [](Node *node) { return node->op == Op::Reduced; });
}

// Of so few terms that they are no contraction.
static bool isShortSum(const NestGraph &nest) {
  constexpr int64_t few = 4;
  return llvm::all_of(Graph::reachable(nest.rootNodes()), [&](Node *node) {
    return node->op != Op::Reduced || pointsOf(nest.g->graph, node->reduction->dims) < few;
  });
}

// One phase after the other in each cell; they use the same scratch. `known` is false where one of
// them is no contraction that tiles suit.
static bool emitPhases(KernelFunction &function, const NestGraph &whole,
                       llvm::ArrayRef<unsigned> outputs, bool &known) {
  std::vector<PhaseOfContraction> parts;
  for (const Phase &phase : phasesOf(whole)) {
    auto nest = std::make_unique<NestGraph>(function.kernel, outputs, /*update=*/false, phase);
    if (!nest->build())
      return false;
    std::optional<ContractionPlan> plan;
    if (!isEmptySum(*nest) && !(plan = planContraction(*nest, function.features)) &&
        !isShortSum(*nest))
      return true;
    parts.push_back({phase, std::move(nest), std::move(plan)});
  }
  known = !parts.empty();
  int64_t before = function.info.scratchBytes, most = before;
  bool ok = true;
  for (PhaseOfContraction &part : parts) {
    function.info.scratchBytes = before;
    if (part.plan)
      emitPlanned(function, *part.nest, *part.plan);
    else
      ok = ok && emitElemental(function, outputs, part.phase);
    most = std::max(most, function.info.scratchBytes);
  }
  function.info.scratchBytes = most;
  return ok;
}

bool emitContraction(KernelFunction &function, bool &known) {
  known = false;
  auto outputs = function.kernel.outputs();
  llvm::SmallVector<unsigned> all;
  for (unsigned i = 0; i < outputs.size(); ++i) {
    all.push_back(i);
    if (mlir::cast<mlir::ShapedType>(outputs[i].getType()).getNumElements() !=
        mlir::cast<mlir::ShapedType>(outputs[0].getType()).getNumElements())
      return true;
  }
  NestGraph nest(function.kernel, all, /*update=*/false);
  if (mlir::cast<mlir::ShapedType>(outputs[0].getType()).getNumElements() == 0)
    return true;
  if (!nest.build())
    return false;
  for (const Root &root : nest.roots)
    if (root.value.im)
      return true;
  if (std::optional<GroupedProduct> grouped = findGroupedProduct(nest)) {
    known = true;
    emitGroupedRows(function, nest, *grouped);
    return true;
  }
  if (!emitPhases(function, nest, all, known))
    return false;
  if (known)
    return true;
  std::optional<ContractionPlan> plan = planContraction(nest, function.features);
  known = plan || emitWindowSums(function, nest);
  if (!plan)
    return true;
  emitPlanned(function, nest, *plan);
  return true;
}

} // namespace tessera::codegen
