// Kernels of one operation that is no function of an index: each family has a file.
#include "passes/codegen/cpu/KernelEmitter.h"

#include "dialects/stablehlo/StablehloOps.h"

namespace tessera::codegen {

using namespace tessera::stablehlo;

bool emitWhole(KernelFunction &function, bool &known) {
  mlir::Operation *whole = nullptr;
  for (mlir::Operation &op : *function.kernel.body)
    if (mlir::isa<ScatterOp, SelectAndScatterOp, SortOp>(op)) {
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
    if (output.getDefiningOp() != whole) {
      whole->emitError("'") << whole->getName() << "' must be the last operation of its kernel";
      return false;
    }
  if (mlir::isa<ScatterOp>(whole))
    return emitScatter(function, whole);
  if (mlir::isa<SelectAndScatterOp>(whole))
    return emitSelectAndScatter(function, whole);
  return emitSort(function, whole);
}

} // namespace tessera::codegen
