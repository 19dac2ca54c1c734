// Kernels of one operation that is no function of an index: each family has a file.
#include "passes/codegen/cpu/KernelEmitter.h"

#include "dialects/stablehlo/StablehloOps.h"

namespace tessera::codegen {

using namespace tessera::stablehlo;

int outputOf(const KernelFunction &function, mlir::Operation *op, unsigned result) {
  for (auto [i, value] : llvm::enumerate(function.kernel.outputs()))
    if (value == op->getResult(result))
      return i;
  return -1;
}

int64_t sharedInput(const KernelFunction &function, unsigned output, mlir::Value value) {
  int64_t input = function.kernel.inplaceOf(output);
  if (input < 0 || value != function.kernel.body->getArgument(input))
    return -1;
  return input;
}

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
