// Writes custom calls that name what StableHLO has words for in those words. Passes.td shows an example.
#include "passes/import/MemoryKinds.h"
#include "passes/import/Passes.h"

#include "dialects/chlo/ChloOps.h"
#include "dialects/comm/CommOps.h"
#include "dialects/sdy/KeepSharding.h"
#include "dialects/stablehlo/StablehloOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "passes/OpsWithin.h"
#include "llvm/ADT/StringSwitch.h"

namespace tessera {
#define GEN_PASS_DEF_DECOMPOSECUSTOMCALLS
#include "passes/import/Passes.h.inc"

using namespace mlir;
using stablehlo::CustomCallOp;

namespace {

// The integer (or boolean) that a call's dictionaries of attributes give a name.
std::optional<int64_t> integerOf(CustomCallOp call, StringRef name) {
  for (Attribute attribute : {call->getAttr("mhlo.attributes"),
                              call->getAttr("mhlo.backend_config"), call.getBackendConfigAttr()})
    if (auto dictionary = dyn_cast_or_null<DictionaryAttr>(attribute)) {
      if (auto integer = dictionary.getAs<IntegerAttr>(name))
        return integer.getType().isInteger(1) ? integer.getValue().getZExtValue()
                                              : integer.getInt();
    }
  return std::nullopt;
}

// The first of each row of sorted values.
SmallVector<Value> firstOf(OpBuilder &b, Location loc, ValueRange sorted, TypeRange types) {
  SmallVector<Value> parts;
  for (auto [value, type] : llvm::zip(sorted, types)) {
    ArrayRef<int64_t> limits = cast<RankedTensorType>(type).getShape();
    SmallVector<int64_t> starts(limits.size(), 0), strides(limits.size(), 1);
    parts.push_back(
        value.getType() == type
            ? value
            : stablehlo::SliceOp::create(b, loc, value, starts, limits, strides).getResult());
  }
  return parts;
}

LogicalResult fromTopK(CustomCallOp call) {
  auto type = dyn_cast<RankedTensorType>(call->getOperand(0).getType());
  bool fits =
      type && type.getRank() > 0 && call->getNumOperands() == 1 && call->getNumResults() == 2;
  if (!fits)
    return call.emitError("a top-k takes one array and gives values and indices");
  auto values = cast<RankedTensorType>(call->getResult(0).getType());
  int64_t k = integerOf(call, "k").value_or(values.getShape().back());
  OpBuilder b(call);
  Location loc = call.getLoc();
  Value operand = call->getOperand(0);
  // The smallest are the largest of the complement, which has their order reversed.
  bool smallest = integerOf(call, "largest") == 0;
  bool isFloat = isa<FloatType>(type.getElementType());
  auto turned = [&](Value value) -> Value {
    if (!smallest)
      return value;
    if (isFloat)
      return stablehlo::NegOp::create(b, loc, value);
    return stablehlo::NotOp::create(b, loc, value);
  };
  auto top = chlo::TopKOp::create(b, loc, values, call->getResult(1).getType(), turned(operand), k);
  call->replaceAllUsesWith(ValueRange{turned(top.getValues()), top.getIndices()});
  call.erase();
  return success();
}

// Operands: arrays, then as many initial values; the called function compares.
LogicalResult fromApproxTopK(CustomCallOp call) {
  size_t count = call->getNumResults();
  std::optional<int64_t> dim = integerOf(call, "reduction_dim");
  auto names = call.getCalledComputations();
  auto comparator = names && names.size() == 1 ? SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
                                                     call, cast<FlatSymbolRefAttr>(names[0]))
                                               : func::FuncOp();
  if (!dim || !comparator || comparator.isExternal() || call->getNumOperands() != 2 * count ||
      comparator.getNumArguments() != 2 * count)
    return call.emitError("an approximate top-k needs reduction_dim, a comparator in "
                          "called_computations and an initial value for each array");
  OpBuilder b(call);
  ValueRange arrays = call->getOperands().take_front(count);
  auto sort = stablehlo::SortOp::create(b, call.getLoc(), arrays.getTypes(), arrays,
                                        /*dimension=*/*dim, /*is_stable=*/true);
  IRMapping mapping;
  comparator.getBody().cloneInto(&sort.getComparator(), mapping);
  Operation *end = sort.getComparator().front().getTerminator();
  b.setInsertionPoint(end);
  stablehlo::ReturnOp::create(b, end->getLoc(), end->getOperands());
  end->erase();
  b.setInsertionPointAfter(sort);
  call->replaceAllUsesWith(firstOf(b, call.getLoc(), sort.getResults(), call->getResultTypes()));
  call.erase();
  return success();
}

// The elementwise function that frontends name mhlo.<name> where the specification had no word.
StringRef functionOf(StringRef target) {
  if (!target.consume_front("mhlo."))
    return "";
  return llvm::StringSwitch<StringRef>(target)
      .Case("acos", "chlo.acos")
      .Case("acosh", "chlo.acosh")
      .Case("asin", "chlo.asin")
      .Case("asinh", "chlo.asinh")
      .Case("atan", "chlo.atan")
      .Case("atanh", "chlo.atanh")
      .Case("cosh", "chlo.cosh")
      .Case("erf", "chlo.erf")
      .Case("sinh", "chlo.sinh")
      .Case("tan", "stablehlo.tan")
      .Default("");
}

// @annotate_device_placement names a kind of memory; XLA's own words are @MoveToHost, @MoveToDevice.
LogicalResult fromPlacement(CustomCallOp call) {
  StringRef target = call.getCallTargetName(), kind;
  if (target == "annotate_device_placement") {
    auto attributes = call->getAttrOfType<DictionaryAttr>("mhlo.frontend_attributes");
    auto named = attributes ? attributes.getAs<StringAttr>("_xla_buffer_placement") : StringAttr();
    if (!named)
      return call.emitError("@annotate_device_placement names no memory: it needs "
                            "_xla_buffer_placement in mhlo.frontend_attributes");
    kind = named.getValue();
  } else {
    kind = target == "MoveToHost" ? "pinned_host" : "device";
  }
  std::optional<comm::Space> space = import::spaceOfKind(kind);
  if (!space)
    return call.emitError() << import::unknownKind(kind);
  if (TypeRange(call->getOperandTypes()) != TypeRange(call->getResultTypes()))
    return call.emitError() << "@" << target << " gives what it takes, of the same types";
  OpBuilder b(call);
  for (auto [operand, result] : llvm::zip(call->getOperands(), call->getResults())) {
    if (!isa<RankedTensorType>(operand.getType()))
      return call.emitError() << "@" << target << " of a " << operand.getType()
                              << "; only arrays can be placed";
    auto transfer = comm::TransferOp::create(b, call.getLoc(), operand, *space);
    result.replaceAllUsesWith(transfer.getOutput());
  }
  call.erase();
  return success();
}

// jax.experimental.compute_on
LogicalResult verifyComputesOnDevice(Operation *op) {
  auto attributes = op->getAttrOfType<DictionaryAttr>("mhlo.frontend_attributes");
  auto type = attributes ? attributes.getAs<StringAttr>("_xla_compute_type") : StringAttr();
  if (!type)
    return success();
  return op->emitError()
         << "is to be computed on '" << type.getValue()
         << "' (compute_on); programs compute on devices only: take the value there "
            "with jax.device_put, and compute_on out";
}

LogicalResult decompose(CustomCallOp call) {
  StringRef target = call.getCallTargetName();
  if (target == "mhlo.topk" || target == "TopK")
    return fromTopK(call);
  if (target == "ApproxTopK" || target == "PartialReduce")
    return fromApproxTopK(call);
  if (target == "annotate_device_placement" || target == "MoveToDevice" || target == "MoveToHost")
    return fromPlacement(call);
  if (target.contains("python") && target.contains("callback"))
    return call.emitError() << "@" << target
                            << " calls back into Python, where no compiled program goes; leave "
                               "jax.debug.print and callbacks out of what you export";
  if (target == "InspectSharding" && call->use_empty()) { // jax.debug.inspect_array_sharding
    call.emitRemark("how this value is sharded is printed by `tessera explain --all`; a compiled "
                    "program has nobody to tell");
    call.erase();
    return success();
  }
  // What programs for StableHLO's interpreter expect of their values.
  if (target.starts_with("check.expect_") && call->getNumResults() == 0) {
    call.emitWarning() << "@" << target
                       << " is left out: a compiled program gives its results and compares none";
    call.erase();
    return success();
  }
  StringRef function = functionOf(target);
  if (!function.empty() && call->getNumOperands() == 1 && call->getNumResults() == 1) {
    OpBuilder b(call);
    Operation *made = b.create(call.getLoc(), b.getStringAttr(function), call->getOperands(),
                               call->getResultTypes());
    sdy::keepSharding(call->getResults(), made->getResults());
    if (Attribute sharding = call->getAttr("mhlo.sharding"))
      made->setAttr("mhlo.sharding", sharding);
    call->replaceAllUsesWith(made);
    call.erase();
  }
  return success();
}

struct DecomposeCustomCallsPass : impl::DecomposeCustomCallsBase<DecomposeCustomCallsPass> {
  void runOnOperation() override {
    WalkResult walked = getOperation().walk<WalkOrder::PreOrder>(
        [](Operation *op) { return WalkResult(verifyComputesOnDevice(op)); });
    if (walked.wasInterrupted())
      return signalPassFailure();
    for (CustomCallOp call : opsWithin<CustomCallOp>(getOperation()))
      if (failed(decompose(call)))
        return signalPassFailure();
  }
};

} // namespace
} // namespace tessera
