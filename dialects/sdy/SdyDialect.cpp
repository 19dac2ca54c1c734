#include "dialects/sdy/SdyOps.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Transforms/InliningUtils.h"
#include "llvm/ADT/TypeSwitch.h"

#include "dialects/sdy/SdyDialect.cpp.inc"
#include "dialects/sdy/SdyEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/sdy/SdyAttrs.cpp.inc"

using namespace mlir;

namespace tessera::sdy {

void SdyDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/sdy/SdyAttrs.cpp.inc"
      >();
}

namespace {
// Functions with constraints and manual computations may be inlined anywhere.
struct SdyInliner : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;
  bool isLegalToInline(Operation *, Operation *, bool) const final { return true; }
  bool isLegalToInline(Region *, Region *, bool, IRMapping &) const final { return true; }
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final { return true; }
};
} // namespace

void SdyDialect::initialize() {
  addInterfaces<SdyInliner>();
  registerAttributes();
  registerBytecode();
  addOperations<
#define GET_OP_LIST
#include "dialects/sdy/SdyOps.cpp.inc"
      >();
}

LogicalResult SdyDialect::verifyOperationAttribute(Operation *op, NamedAttribute attr) {
  // In a portable artifact types are in the versioned form; checked when the operation is
  // StableHLO's.
  if (op->getName().getDialectNamespace() == "vhlo")
    return success();
  auto error = [&](const Twine &what) {
    return op->emitError() << "'" << attr.getName().getValue() << "': " << what;
  };
  if (attr.getName() == kShardingAttr) {
    if (auto sharding = dyn_cast<TensorShardingAttr>(attr.getValue());
        sharding && isa<FunctionOpInterface>(op))
      return error("goes on arguments and results of a function");
    auto shardings = dyn_cast<TensorShardingPerValueAttr>(attr.getValue());
    if (!shardings)
      return error("must be a #sdy.sharding_per_value with a sharding for each result");
    // On an op without results it speaks of the op itself (a custom call with side effects).
    if (op->getNumResults() == 0 && shardings.getShardings().size() == 1)
      return verifySharding(shardings.getShardings()[0], Type(), op, error);
    return verifyShardings(shardings, op->getResultTypes(), op, error);
  }
  if (attr.getName() == kShardingRuleAttr) {
    auto rule = dyn_cast<OpShardingRuleAttr>(attr.getValue());
    if (!rule)
      return error("must be a #sdy.op_sharding_rule");
    return verifyRule(rule, op, error);
  }
  return success();
}

static LogicalResult verifyFunctionSharding(Operation *op, Location loc, Type type,
                                            NamedAttribute attr, const Twine &where) {
  if (attr.getName() != kShardingAttr)
    return success();
  auto error = [&](const Twine &what) {
    return emitError(loc) << "sharding of " << where << ": " << what;
  };
  auto sharding = dyn_cast<TensorShardingAttr>(attr.getValue());
  if (!sharding)
    return error("must be a #sdy.sharding");
  return verifySharding(sharding, type, op, error);
}

LogicalResult SdyDialect::verifyRegionArgAttribute(Operation *op, unsigned region, unsigned index,
                                                   NamedAttribute attr) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!function)
    return success();
  bool hasBody = !function.getFunctionBody().empty();
  return verifyFunctionSharding(op, hasBody ? function.getArgument(index).getLoc() : op->getLoc(),
                                function.getArgumentTypes()[index], attr,
                                "argument " + Twine(index));
}

LogicalResult SdyDialect::verifyRegionResultAttribute(Operation *op, unsigned region,
                                                      unsigned index, NamedAttribute attr) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!function)
    return success();
  return verifyFunctionSharding(op, op->getLoc(), function.getResultTypes()[index], attr,
                                "result " + Twine(index));
}

} // namespace tessera::sdy
