// What localize leaves: no op or attribute of a sharding but on @main's signature, local types of
// known shape only. Passes.td shows an example.
#include "passes/localize/Passes.h"

#include "dialects/comm/CommOps.h"
#include "dialects/interfaces/OpInterfaces.h"
#include "dialects/sdy/SdyOps.h"
#include "dialects/tessera/KnownAttributes.h"
#include "dialects/tessera/Marks.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinTypes.h"

namespace tessera {
#define GEN_PASS_DEF_VERIFYLOCALIZE
#include "passes/localize/Passes.h.inc"
} // namespace tessera

using namespace mlir;

namespace tessera::localize {
namespace {

// What a device holds; places in its memory are counted from zero, sums of many of them in 64 bits.
constexpr int64_t kMostBytes = int64_t(1) << 44;

LogicalResult verifyBytes(Operation *op, TypeRange types) {
  for (Type type : types)
    if (auto tensor = dyn_cast<RankedTensorType>(type);
        tensor && tensor.hasStaticShape() && byteSize(tensor) > kMostBytes)
      return op->emitError() << "each device would hold an array of type " << tensor
                             << ", more than 16 TiB, which none can; shard it";
  return success();
}

LogicalResult verifyOp(Operation *op) {
  if (isa_and_nonnull<sdy::SdyDialect>(op->getDialect()) && !isa<sdy::MeshOp>(op))
    return op->emitError() << "'" << op->getName() << "' must be gone after localize";
  if (!isa<func::FuncOp>(op))
    for (NamedAttribute attribute : op->getDiscardableAttrs())
      if (isa_and_nonnull<sdy::SdyDialect>(attribute.getNameDialect()) ||
          speaksOfGlobalValues(attribute.getName()))
        return op->emitError() << "attribute '" << attribute.getName().strref()
                               << "' must be gone after localize: it speaks of global values";
  for (Type type : op->getResultTypes())
    if (auto shaped = dyn_cast<ShapedType>(type); shaped && !shaped.hasStaticShape())
      return op->emitError() << "shapes must be static after localize, not " << type;
  for (Region &region : op->getRegions())
    for (Block &block : region)
      if (failed(verifyBytes(op, block.getArgumentTypes())))
        return failure();
  return verifyBytes(op, op->getResultTypes());
}

LogicalResult verifySignature(func::FuncOp function) {
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (!getGlobalType(function.getArgAttrDict(i)))
      return function.emitError() << "argument " << i
                                  << " must name its global type in 'tessera.global'";
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    if (!getGlobalType(function.getResultAttrDict(i)))
      return function.emitError() << "result " << i
                                  << " must name its global type in 'tessera.global'";
  return success();
}

struct VerifyLocalize : impl::VerifyLocalizeBase<VerifyLocalize> {
  void runOnOperation() override {
    if (failed(verifyAttributes(getOperation())))
      return signalPassFailure();
    WalkResult walked = getOperation().walk([](Operation *op) {
      if (failed(verifyOp(op)))
        return WalkResult::interrupt();
      auto function = dyn_cast<func::FuncOp>(op);
      return function && function.isPublic() && failed(verifySignature(function))
                 ? WalkResult::interrupt()
                 : WalkResult::advance();
    });
    if (walked.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace
} // namespace tessera::localize
