// Custom calls of functions that nobody here knows: kernels that the user registers where the program
// runs (docs/outside-kernels.md).
//
//   %1 = stablehlo.custom_call @my_softmax(%0) {
//          mhlo.backend_config = {axis = 1 : i64, scratch_bytes = 256 : i64},
//          sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=8, j=64}, custom>
//        } : (tensor<8x64xf32>) -> tensor<8x64xf32>
//
// is the kernel "my_softmax" with those attributes. Three of them say what the program must know too:
// `scratch_bytes`, the memory that a call takes beside its arrays (0); `grid`, in how many cells its
// work can be divided (1); `flops`, what a call costs, for the cost model (an operation an element of
// the first result).
#include "dialects/stablehlo/OutsideCall.h"

using namespace mlir;

namespace tessera::stablehlo {
namespace {

// JAX writes a dictionary, older frontends a text.
DictionaryAttr attributesOf(CustomCallOp op) {
  MLIRContext *context = op.getContext();
  for (Attribute attribute : {op->getAttr("mhlo.backend_config"), op.getBackendConfigAttr()}) {
    if (auto dictionary = dyn_cast_or_null<DictionaryAttr>(attribute))
      return dictionary;
    if (auto text = dyn_cast_or_null<StringAttr>(attribute); text && !text.empty())
      return DictionaryAttr::get(context,
                                 NamedAttribute(StringAttr::get(context, "backend_config"), text));
  }
  return DictionaryAttr::get(context);
}

// What the dictionary says, which must be a whole number in this range; else `otherwise`.
FailureOr<int64_t> numberOf(CustomCallOp op, DictionaryAttr attributes, StringRef name,
                            int64_t least, int64_t most, int64_t otherwise) {
  Attribute attribute = attributes.get(name);
  if (!attribute)
    return otherwise;
  auto number = dyn_cast<IntegerAttr>(attribute);
  int64_t value = !number || number.getValue().getBitWidth() > 64 ? least - 1
                  : number.getType().isUnsignedInteger()
                      ? int64_t(std::min<uint64_t>(number.getValue().getZExtValue(), INT64_MAX))
                      : number.getValue().getSExtValue();
  if (value < least || value > most)
    return op.emitError("custom call @")
           << op.getCallTargetName() << ": its attribute " << name << " = " << attribute
           << " must be a whole number from " << least << " to " << most;
  return value;
}

} // namespace

FailureOr<LibraryCall> outsideCall(CustomCallOp op) {
  auto refuse = [&](StringRef why) {
    return op.emitError("custom call @") << op.getCallTargetName() << ": " << why;
  };
  if (!op.getCalledComputations().empty())
    return refuse("a kernel from outside cannot call computations of the program");
  if (!op.getOutputOperandAliases().empty())
    return refuse("results of a kernel from outside cannot share the memory of operands; leave out "
                  "output_operand_aliases");
  LibraryCall call;
  call.name = op.getCallTargetName().str();
  call.isOutside = true;
  call.attributes = attributesOf(op);
  FailureOr<int64_t> scratch =
                         numberOf(op, call.attributes, "scratch_bytes", 0, int64_t{1} << 40, 0),
                     grid = numberOf(op, call.attributes, "grid", 1, int64_t{1} << 20, 1),
                     flops = numberOf(op, call.attributes, "flops", 0, int64_t{1} << 62, -1);
  if (failed(scratch) || failed(grid) || failed(flops))
    return failure();
  call.scratchBytes = *scratch;
  call.grid = *grid;
  call.flops = *flops < 0 ? flopsOf(op) : static_cast<double>(*flops);
  return call;
}

} // namespace tessera::stablehlo
