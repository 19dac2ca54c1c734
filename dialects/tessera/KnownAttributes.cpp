#include "dialects/tessera/KnownAttributes.h"

#include "dialects/sdy/SdyOps.h"
#include "dialects/tessera/TesseraDialect.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;

namespace tessera {
namespace {

// By dialect; the first word of a name.
constexpr StringLiteral kKnown[] = {
    "tessera", // marks, verified by the dialect
    "sdy",     // shardings and rules of ours and the user's, verified by the dialect
    "exec",    // of the module: what codegen leaves for package
    "mhlo", // XLA's: numbers of devices, configuration of custom calls, layouts and kinds of memory
    "jax",  // names of results, donation of arguments
    "tf",   // which result takes an argument's buffer
};

// Attributes of an operation, or of one argument or result of a function.
template <typename Verify>
LogicalResult verifyAll(Operation *op, ArrayRef<NamedAttribute> attributes, Verify verify) {
  for (NamedAttribute attribute : attributes) {
    if (!isKnownAttribute(attribute.getName()))
      return op->emitError() << "attribute '" << attribute.getName().getValue()
                             << "' is none that a phase reads; --tessera-drop-unread-attributes "
                                "takes such out";
    Dialect *dialect = attribute.getNameDialect();
    if (isa_and_nonnull<TesseraDialect, sdy::SdyDialect>(dialect) &&
        failed(verify(dialect, attribute)))
      return failure();
  }
  return success();
}

LogicalResult verifyOp(Operation *op) {
  if (isa_and_nonnull<sdy::SdyDialect>(op->getDialect()) &&
      failed(op->getName().verifyInvariants(op)))
    return failure();
  if (failed(verifyAll(op, llvm::to_vector(op->getDiscardableAttrs()),
                       [&](Dialect *dialect, NamedAttribute attribute) {
                         return dialect->verifyOperationAttribute(op, attribute);
                       })))
    return failure();
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!function)
    return success();
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (failed(
            verifyAll(op, function.getArgAttrs(i), [&](Dialect *dialect, NamedAttribute attribute) {
              return dialect->verifyRegionArgAttribute(op, 0, i, attribute);
            })))
      return failure();
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    if (failed(verifyAll(op, function.getResultAttrs(i),
                         [&](Dialect *dialect, NamedAttribute attribute) {
                           return dialect->verifyRegionResultAttribute(op, 0, i, attribute);
                         })))
      return failure();
  return success();
}

} // namespace

bool isKnownAttribute(StringAttr name) {
  auto [dialect, rest] = name.strref().split('.');
  return !rest.empty() && llvm::is_contained(kKnown, dialect);
}

LogicalResult verifyAttributes(ModuleOp module) {
  WalkResult walk = module.walk([&](Operation *op) { return WalkResult(verifyOp(op)); });
  return failure(walk.wasInterrupted());
}

} // namespace tessera
