#include "dialects/sdy/ModuleShardings.h"

#include "dialects/sdy/SdyOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;

namespace tessera::sdy {
namespace {

// What MLIR's verifier asks of the attributes of an op, a function's arguments and results.
LogicalResult verifyAttributes(Operation *op, SdyDialect *dialect) {
  for (NamedAttribute attr : op->getDiscardableAttrs())
    if (attr.getNameDialect() == dialect && failed(dialect->verifyOperationAttribute(op, attr)))
      return failure();
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!function)
    return success();
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    for (NamedAttribute attr : function.getArgAttrs(i))
      if (failed(dialect->verifyRegionArgAttribute(op, 0, i, attr)))
        return failure();
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    for (NamedAttribute attr : function.getResultAttrs(i))
      if (failed(dialect->verifyRegionResultAttribute(op, 0, i, attr)))
        return failure();
  return success();
}

} // namespace

LogicalResult verifyShardings(ModuleOp module) {
  auto *dialect = module.getContext()->getLoadedDialect<SdyDialect>();
  if (!dialect)
    return success();
  WalkResult walk = module.walk([&](Operation *op) {
    if (op->getDialect() == dialect && failed(op->getName().verifyInvariants(op)))
      return WalkResult::interrupt();
    return WalkResult(verifyAttributes(op, dialect));
  });
  return failure(walk.wasInterrupted());
}

} // namespace tessera::sdy
