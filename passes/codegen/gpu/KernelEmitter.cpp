// The roads that a kernel for a GPU can take.
#include "dialects/stablehlo/StablehloOps.h"
#include "passes/codegen/gpu/DeviceMath.h"
#include "passes/codegen/gpu/EntryFunction.h"
#include "passes/codegen/kernel/RunningLoops.h"
#include "llvm/ADT/STLExtras.h"

namespace tessera::codegen::gpu {

using namespace tessera::stablehlo;

static bool isOfCells(const KernelSource &kernel) {
  return llvm::any_of(*kernel.body, [](mlir::Operation &op) {
    if (auto window = mlir::dyn_cast<ReduceWindowOp>(op))
      return runningLoopsOf(window).has_value();
    return mlir::isa<ScatterOp, SelectAndScatterOp, SortOp>(op);
  });
}

static int64_t contractions(const KernelSource &kernel) {
  return llvm::count_if(
      *kernel.body, [](mlir::Operation &op) { return mlir::isa<DotGeneralOp, ConvolutionOp>(op); });
}

static bool emitBody(EntryFunction &function) {
  bool known = false, ok = true;
  if (isOfCells(function.kernel))
    return emitSort(function, known) && (known || emitRunning(function, known)) &&
           (known || emitCells(function));
  if (int64_t count = contractions(function.kernel); count > 0)
    ok = count == 1 ? emitProduct(function, known) : emitFlash(function, known);
  return ok && (known || emitNests(function));
}

bool emitKernel(const KernelSource &kernel, llvm::Module &module, const GpuFeatures &features,
                Launch &launch) {
  std::optional<Strands> strands;
  if (kernel.strands > 1)
    strands.emplace(kernel);
  EntryFunction function =
      strands ? EntryFunction(*strands, module, features) : EntryFunction(kernel, module, features);
  if (!emitBody(function))
    return false;
  function.addStrands();
  mlir::Operation *last = kernel.body->getTerminator();
  if (std::string missing = defineMath(module); !missing.empty()) {
    last->emitError("calls '" + missing +
                    "', for which there is no code for --target=cuda yet "
                    "(docs/limits.md)");
    return false;
  }
  launch = function.launch;
  launch.blocks = std::max<int64_t>(launch.blocks, 1);
  if (launch.blocks <= kMostBlocks) {
    function.tellNumbers(launch);
    return true;
  }
  last->emitError("a kernel of ") << launch.blocks << " blocks: a launch has " << kMostBlocks
                                  << " at most";
  return false;
}

} // namespace tessera::codegen::gpu
