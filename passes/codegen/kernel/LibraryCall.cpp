#include "passes/codegen/kernel/LibraryCall.h"

#include "mlir/IR/Builders.h"

namespace tessera::codegen {

using namespace mlir;

LibraryCallOpInterface libraryOperation(Block &body) {
  for (Operation &op : body)
    if (auto called = dyn_cast<LibraryCallOpInterface>(op))
      return called;
  return {};
}

LogicalResult callLibrary(exec::KernelOp kernel, LibraryCallOpInterface op) {
  // The kernel is this operation: its operands are the inputs in order, its results the outputs.
  bool alone = ValueRange(kernel.getBlock()->getArguments()) == op->getOperands() &&
               kernel.getBlock()->getTerminator()->getOperands() == op->getResults();
  if (!alone)
    return op->emitError("'") << op->getName()
                              << "' is computed by a library and must be alone in its kernel";
  FailureOr<LibraryCall> call = op.getLibraryCall();
  if (failed(call))
    return failure();
  Builder b(kernel.getContext());
  if (call->isOutside) {
    kernel.setOutside(call->name);
    kernel.setOutsideAttributesAttr(call->attributes);
  } else {
    kernel.setLibrary(call->name);
    kernel.setNumbers(call->numbers);
  }
  kernel.setGrid(call->grid);
  kernel.setScratchBytes(call->scratchBytes);
  kernel.setFlopsAttr(b.getF64FloatAttr(call->flops));
  return success();
}

} // namespace tessera::codegen
