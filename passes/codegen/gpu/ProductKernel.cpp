// Kernels of one contraction, by tiles.
#include "passes/codegen/gpu/ProductEmitter.h"
#include "passes/codegen/kernel/NestGraph.h"

#include "llvm/ADT/STLExtras.h"

namespace tessera::codegen::gpu {

bool emitProduct(EntryFunction &function, bool &known) {
  known = false;
  mlir::ValueRange outputs = function.kernel.outputs();
  auto elements = [](mlir::Value value) {
    return mlir::cast<mlir::ShapedType>(value.getType()).getNumElements();
  };
  bool areAlike = llvm::all_of(
      outputs, [&](mlir::Value value) { return elements(value) == elements(outputs[0]); });
  if (!areAlike || elements(outputs[0]) == 0)
    return true;
  auto all = llvm::to_vector(llvm::seq<unsigned>(outputs.size()));
  NestGraph nest(function.kernel, all, /*update=*/false);
  if (!nest.build())
    return false;
  if (llvm::any_of(nest.roots, [](const Root &root) { return root.value.im; }))
    return true;
  std::optional<GroupedProduct> grouped = findGroupedProduct(nest);
  std::optional<ContractionLoops> found = grouped ? grouped : findContraction(nest);
  constexpr int64_t leastTerms = 4; // of fewer, plain sums are as good
  // Nor where results lie along rows, or terms are left out (kernel/ConvolutionTaps.h).
  if (!found || found->kSize < leastTerms || found->isTurned ||
      !found->product->reduction->blockEnds.empty())
    return true;
  known = true;
  ProductLoops loops{*found, rangeOfTerms(nest.g->graph, *found), grouped ? &*grouped : nullptr};
  if (loops.product->reduction->isOfIntegers)
    emitProductOfIntegers(function, nest, loops);
  else if (!isForCores(loops))
    emitProductByThreads(function, nest, loops);
  else if (grouped || !function.features.hasWarpgroups ||
           !emitProductByWarpgroups(function, nest, loops))
    emitProductByCores(function, nest, loops);
  return true;
}

} // namespace tessera::codegen::gpu
