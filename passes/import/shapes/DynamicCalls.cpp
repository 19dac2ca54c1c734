#include "passes/import/shapes/DynamicCalls.h"

#include "dialects/chlo/ChloOps.h"
#include "dialects/sdy/KeepSharding.h"
#include "dialects/stablehlo/ShapeInference.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace tessera {

using stablehlo::CustomCallOp;
using stablehlo::Shape;

static constexpr llvm::StringLiteral shapeOperands = "indices_of_shape_operands";

bool isDynamicCall(Operation *op) {
  auto call = dyn_cast<CustomCallOp>(op);
  return call && (call.getCallTargetName() == "shape_assertion" ||
                  call.getCallTargetName().starts_with("stablehlo.dynamic_") ||
                  call->hasAttr(shapeOperands));
}

namespace {

// All operands from `first` on, which must be constants.
FailureOr<SmallVector<Shape>> constantsFrom(CustomCallOp call, size_t first) {
  SmallVector<Shape> values;
  for (Value operand : call.getInputs().drop_front(first)) {
    std::optional<Shape> numbers = stablehlo::constantIntegers(operand);
    if (!numbers)
      return call.emitError() << "@" << call.getCallTargetName() << " takes operand "
                              << first + values.size()
                              << " as part of a shape, but it depends on data";
    values.push_back(*numbers);
  }
  return values;
}

// `{0}`, `{1}` in the message stand for the operands after the predicate.
std::string message(StringRef text, ArrayRef<Shape> values) {
  std::string result = text.str();
  for (auto [i, value] : llvm::enumerate(values)) {
    std::string name = "{" + std::to_string(i) + "}";
    std::string number = value.size() == 1 ? std::to_string(value[0]) : "?";
    for (size_t at = result.find(name); at != std::string::npos; at = result.find(name, at))
      result.replace(at, name.size(), number);
  }
  return result;
}

FailureOr<bool> checkAssertion(CustomCallOp call) {
  if (call.getInputs().empty())
    return call.emitError("@shape_assertion takes a predicate");
  FailureOr<SmallVector<Shape>> values = constantsFrom(call, 0);
  if (failed(values))
    return failure();
  if (values->front().size() != 1)
    return call.emitError("@shape_assertion takes a scalar predicate");
  if (values->front()[0] == 0) {
    auto text = call->getAttrOfType<StringAttr>("error_message");
    return call.emitError() << "a shape assertion does not hold: "
                            << message(text ? text.getValue() : "", ArrayRef(*values).drop_front());
  }
  call.erase();
  return true;
}

void replace(CustomCallOp call, Operation *by) {
  sdy::keepSharding(call->getResults(), by->getResults());
  call->replaceAllUsesWith(by->getResults());
  call.erase();
}

RankedTensorType withShape(Value like, ArrayRef<int64_t> shape) {
  return RankedTensorType::get(shape, cast<RankedTensorType>(like.getType()).getElementType());
}

// Operands: inputs, initial values, then dimensions, strides, dilations of base and window, padding.
FailureOr<bool> reduceWindow(CustomCallOp call) {
  size_t operands = call.getInputs().size();
  if (operands < 7 || operands % 2 == 0 || call.getCalledComputations().size() != 1)
    return call.emitError("@stablehlo.dynamic_reduce_window takes inputs, as many initial values, "
                          "five shapes and a computation");
  size_t n = (operands - 5) / 2;
  FailureOr<SmallVector<Shape>> shapes = constantsFrom(call, 2 * n);
  if (failed(shapes))
    return failure();
  auto body = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
      call, cast<FlatSymbolRefAttr>(call.getCalledComputations()[0]));
  if (!body || !body.getBody().hasOneBlock())
    return call.emitError("names a computation that the module lacks");
  OpBuilder b(call);
  int64_t rank = (*shapes)[0].size();
  if ((*shapes)[4].size() != size_t(2 * rank))
    return call.emitError("needs two paddings for each window dimension");
  auto padding =
      DenseIntElementsAttr::get(RankedTensorType::get({rank, 2}, b.getI64Type()), (*shapes)[4]);
  auto window = stablehlo::ReduceWindowOp::create(
      b, call.getLoc(), call.getResultTypes(), call.getInputs().take_front(n),
      call.getInputs().slice(n, n), b.getDenseI64ArrayAttr((*shapes)[0]),
      b.getDenseI64ArrayAttr((*shapes)[1]), b.getDenseI64ArrayAttr((*shapes)[2]),
      b.getDenseI64ArrayAttr((*shapes)[3]), padding);
  IRMapping mapping;
  body.getBody().cloneInto(&window.getBody(), mapping);
  Operation *end = window.getBody().front().getTerminator();
  b.setInsertionPoint(end);
  stablehlo::ReturnOp::create(b, end->getLoc(), end->getOperands());
  end->erase();
  for (auto [result, shape] : llvm::zip(window.getResults(), stablehlo::inferShapes(window)))
    result.setType(withShape(result, shape));
  replace(call, window);
  return true;
}

FailureOr<bool> bitGenerator(CustomCallOp call) {
  FailureOr<SmallVector<Shape>> shapes = constantsFrom(call, 1);
  auto algorithm = call->getAttrOfType<stablehlo::RngAlgorithmAttr>("rng_algorithm");
  if (failed(shapes) || shapes->size() != 1 || !algorithm || call.getNumResults() != 2)
    return call.emitError("@stablehlo.dynamic_rng_bit_generator takes a state, the shape of the "
                          "output and an rng_algorithm");
  OpBuilder b(call);
  replace(call, stablehlo::RngBitGeneratorOp::create(
                    b, call.getLoc(), call.getInputs()[0].getType(),
                    withShape(call.getResult(1), (*shapes)[0]), algorithm, call.getInputs()[0]));
  return true;
}

FailureOr<bool> topK(CustomCallOp call) {
  FailureOr<SmallVector<Shape>> k = constantsFrom(call, 1);
  if (failed(k) || k->size() != 1 || (*k)[0].size() != 1 || call.getNumResults() != 2)
    return call.emitError("@stablehlo.dynamic_top_k takes an operand and the number k");
  OpBuilder b(call);
  Shape shape(cast<RankedTensorType>(call.getInputs()[0].getType()).getShape());
  if (shape.empty())
    return call.emitError("@stablehlo.dynamic_top_k takes an operand of rank 1 or more");
  shape.back() = (*k)[0][0];
  replace(call, chlo::TopKOp::create(b, call.getLoc(), withShape(call.getResult(0), shape),
                                     withShape(call.getResult(1), shape), call.getInputs()[0],
                                     b.getI64IntegerAttr((*k)[0][0])));
  return true;
}

// The last operands, one for each result, are the results' shapes.
FailureOr<bool> dropShapes(CustomCallOp call) {
  auto indices = call->getAttrOfType<DenseIntElementsAttr>(shapeOperands);
  size_t operands = call.getInputs().size(), results = call.getNumResults();
  if (!indices || size_t(indices.getNumElements()) != results || results > operands)
    return call.emitError() << shapeOperands << " must name one operand for each result";
  for (auto [i, index] : llvm::enumerate(indices.getValues<APInt>()))
    if (index.getSExtValue() != int64_t(operands - results + i))
      return call.emitError() << shapeOperands << " must be the last operands, in order";
  FailureOr<SmallVector<Shape>> shapes = constantsFrom(call, operands - results);
  if (failed(shapes))
    return failure();
  for (auto [result, shape] : llvm::zip(call.getResults(), *shapes))
    if (auto type = dyn_cast<RankedTensorType>(result.getType());
        type && type.getRank() == int64_t(shape.size()))
      result.setType(withShape(result, shape));
  call->eraseOperands(operands - results, results);
  call->removeAttr(shapeOperands);
  if (std::optional<ArrayAttr> layouts = call.getOperandLayouts())
    call.setOperandLayoutsAttr(
        ArrayAttr::get(call.getContext(), layouts->getValue().take_front(operands - results)));
  return false; // still a custom call
}

} // namespace

FailureOr<bool> rewriteDynamicCall(CustomCallOp call) {
  StringRef name = call.getCallTargetName();
  if (name == "shape_assertion")
    return checkAssertion(call);
  if (name == "stablehlo.dynamic_reduce_window")
    return reduceWindow(call);
  if (name == "stablehlo.dynamic_rng_bit_generator")
    return bitGenerator(call);
  if (name == "stablehlo.dynamic_top_k")
    return topK(call);
  if (call->hasAttr(shapeOperands))
    return dropShapes(call);
  return false;
}

} // namespace tessera
