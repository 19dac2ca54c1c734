// Kernels of one operation that is no function of an index: each family has a file.
#include "passes/codegen/cpu/KernelEmitter.h"

#include "dialects/stablehlo/StablehloOps.h"
#include "passes/codegen/kernel/RunningLoops.h"

namespace tessera::codegen {

using namespace tessera::stablehlo;

// Of a sort no more is written than is wanted.
static bool isFirstRows(mlir::Value output, mlir::Operation *whole) {
  auto slice = output.getDefiningOp<SliceOp>();
  return slice && mlir::isa<SortOp>(whole) && slice.getOperand().getDefiningOp() == whole;
}

bool emitWhole(KernelFunction &function, bool &known) {
  mlir::Operation *whole = nullptr;
  auto isWhole = [](mlir::Operation &op) {
    if (auto window = mlir::dyn_cast<ReduceWindowOp>(op))
      return runningLoopsOf(window).has_value();
    return mlir::isa<ScatterOp, SelectAndScatterOp, SortOp, WhileOp>(op);
  };
  for (mlir::Operation &op : *function.kernel.body)
    if (isWhole(op)) {
      if (whole) {
        op.emitError("a kernel with two operations of the kind '") << op.getName() << "'";
        return false;
      }
      whole = &op;
    }
  known = whole != nullptr;
  if (!known)
    return true;
  for (mlir::Value output : function.kernel.outputs())
    if (output.getDefiningOp() != whole && !isFirstRows(output, whole)) {
      whole->emitError("'") << whole->getName() << "' must be the last operation of its kernel";
      return false;
    }
  if (mlir::isa<ScatterOp>(whole))
    return emitScatter(function, whole);
  if (mlir::isa<SelectAndScatterOp>(whole))
    return emitSelectAndScatter(function, whole);
  if (mlir::isa<ReduceWindowOp>(whole))
    return emitRunningReduction(function, whole);
  if (mlir::isa<WhileOp>(whole))
    return emitLoop(function, whole);
  return emitSort(function, whole);
}

} // namespace tessera::codegen
