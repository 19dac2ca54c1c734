// Writes operations on quantized values by what they mean: real arithmetic between dequantising and
// quantising. Values travel as the integers that they are stored as. Passes.td shows an example.
#include "passes/import/Passes.h"

#include "dialects/sdy/KeepSharding.h"
#include "dialects/stablehlo/StablehloOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Quant/IR/QuantTypes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "passes/import/chlo/ScalarFunctions.h"

namespace tessera {
#define GEN_PASS_DEF_DECOMPOSEQUANTIZED
#include "passes/import/Passes.h.inc"

using namespace mlir;

namespace {

using import::Expr;

quant::QuantizedType quantized(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? dyn_cast<quant::QuantizedType>(tensor.getElementType()) : quant::QuantizedType();
}
quant::QuantizedType quantized(Value value) { return quantized(value.getType()); }

// Quantized elements are stored as integers that carry their sign in the type.
Type storageElement(quant::QuantizedType type) {
  unsigned width = type.getStorageTypeIntegralWidth();
  return IntegerType::get(type.getContext(), width,
                          type.isSigned() ? IntegerType::Signless : IntegerType::Unsigned);
}

Type storage(Type type) {
  if (auto tuple = dyn_cast<TupleType>(type)) {
    SmallVector<Type> parts;
    for (Type part : tuple.getTypes())
      parts.push_back(storage(part));
    return TupleType::get(type.getContext(), parts);
  }
  quant::QuantizedType element = quantized(type);
  return element ? Type(cast<RankedTensorType>(type).clone(storageElement(element))) : type;
}

Type expressed(Type type) {
  quant::QuantizedType element = quantized(type);
  return element ? Type(cast<RankedTensorType>(type).clone(element.getExpressedType())) : type;
}

struct Parameters {
  SmallVector<double> scales, zeros;
  int64_t dimension = -1; // of the scales; -1: one for all
};

FailureOr<Parameters> parametersOf(quant::QuantizedType type) {
  Parameters p;
  if (auto one = dyn_cast<quant::UniformQuantizedType>(type)) {
    p.scales = {one.getScale()};
    p.zeros = {double(one.getZeroPoint())};
    return p;
  }
  auto many = dyn_cast<quant::UniformQuantizedPerAxisType>(type);
  if (!many)
    return failure();
  p.scales.assign(many.getScales().begin(), many.getScales().end());
  p.zeros.assign(many.getZeroPoints().begin(), many.getZeroPoints().end());
  p.dimension = many.getQuantizedDimension();
  return p;
}

// Numbers of one each or one an index of a dimension, as a tensor like `like`.
Expr spread(OpBuilder &b, Expr like, Location loc, ArrayRef<double> values, int64_t dimension) {
  if (dimension < 0)
    return like.number(values[0]);
  SmallVector<Attribute> elements;
  for (double value : values)
    elements.push_back(b.getFloatAttr(like.element(), value));
  auto type = RankedTensorType::get({int64_t(values.size())}, like.element());
  Value vector = stablehlo::ConstantOp::create(b, loc, DenseElementsAttr::get(type, elements));
  return Expr(b, loc,
              stablehlo::BroadcastInDimOp::create(b, loc, like.type(), vector,
                                                  ArrayRef<int64_t>{dimension}));
}

// From and to the quantized type; a bitcast stands between it and the integers until all types are
// changed.
FailureOr<Value> dequantize(OpBuilder &b, Location loc, Value value) {
  quant::QuantizedType type = quantized(value);
  FailureOr<Parameters> p = parametersOf(type);
  if (failed(p))
    return failure();
  Expr stored(b, loc, stablehlo::BitcastConvertOp::create(b, loc, storage(value.getType()), value));
  Expr real = stored.convert(type.getExpressedType());
  real = real - spread(b, real, loc, p->zeros, p->dimension);
  return (real * spread(b, real, loc, p->scales, p->dimension)).get();
}

FailureOr<Value> quantize(OpBuilder &b, Location loc, Value value, Type to) {
  quant::QuantizedType type = quantized(to);
  FailureOr<Parameters> p = parametersOf(type);
  if (failed(p))
    return failure();
  Expr real(b, loc, value);
  real = real / spread(b, real, loc, p->scales, p->dimension);
  real = real + spread(b, real, loc, p->zeros, p->dimension);
  Expr low = real.number(double(type.getStorageTypeMin())),
       high = real.number(double(type.getStorageTypeMax()));
  Expr rounded = low.apply<stablehlo::ClampOp>(real, high).apply<stablehlo::RoundNearestEvenOp>();
  return stablehlo::BitcastConvertOp::create(b, loc, to,
                                             rounded.convert(storageElement(type)).get())
      .getResult();
}

// Operations that hand elements on without computing with them.
bool moves(Operation *op) {
  return isa<stablehlo::BroadcastInDimOp, stablehlo::BroadcastOp, stablehlo::ConcatenateOp,
             stablehlo::ConstantOp, stablehlo::DynamicSliceOp, stablehlo::DynamicUpdateSliceOp,
             stablehlo::GatherOp, stablehlo::PadOp, stablehlo::ReshapeOp, stablehlo::ReverseOp,
             stablehlo::SliceOp, stablehlo::TransposeOp, stablehlo::SelectOp,
             stablehlo::BitcastConvertOp, stablehlo::OptimizationBarrierOp, stablehlo::TupleOp,
             stablehlo::GetTupleElementOp, stablehlo::ReturnOp, func::ReturnOp>(op) ||
         op->getNumRegions() != 0 || op->getName().getDialectNamespace() == "sdy" ||
         op->getName().getDialectNamespace() == "func";
}

struct Decomposition {
  LogicalResult run(Operation *op) {
    if (auto quantizeOp = dyn_cast<stablehlo::UniformQuantizeOp>(op)) {
      Value value = quantizeOp.getOperand();
      return replace(op, [&](OpBuilder &b) -> FailureOr<Value> {
        if (quantized(value)) {
          FailureOr<Value> real = dequantize(b, op->getLoc(), value);
          if (failed(real))
            return failure();
          value = *real;
        }
        return quantize(b, op->getLoc(), value, quantizeOp.getType());
      });
    }
    if (isa<stablehlo::UniformDequantizeOp>(op))
      return replace(op,
                     [&](OpBuilder &b) { return dequantize(b, op->getLoc(), op->getOperand(0)); });
    auto isQuantized = [](Value value) { return bool(quantized(value)); };
    if (!llvm::any_of(op->getOperands(), isQuantized) &&
        !llvm::any_of(op->getResults(), isQuantized))
      return success();
    if (isa<stablehlo::CustomCallOp>(op))
      return success(); // gets the integers
    return moves(op) ? align(op) : compute(op);
  }

private:
  LogicalResult replace(Operation *op, llvm::function_ref<FailureOr<Value>(OpBuilder &)> make) {
    OpBuilder b(op);
    FailureOr<Value> value = make(b);
    if (failed(value))
      return unknownKind(op);
    sdy::keepSharding(op->getResults(), *value);
    op->getResult(0).replaceAllUsesWith(*value);
    op->erase();
    return success();
  }

  static LogicalResult unknownKind(Operation *op) {
    return op->emitError() << "'" << op->getName()
                           << "' has values quantized by blocks, which are not supported; quantize "
                              "them per tensor or per axis";
  }

  // Operands that are moved into the result beside others get its parameters.
  LogicalResult align(Operation *op) {
    if (!isa<stablehlo::ConcatenateOp, stablehlo::SelectOp, stablehlo::PadOp,
             stablehlo::DynamicUpdateSliceOp>(op))
      return success();
    OpBuilder b(op);
    quant::QuantizedType to = quantized(op->getResult(0));
    for (OpOperand &operand : op->getOpOperands()) {
      quant::QuantizedType from = quantized(operand.get());
      if (!from || from == to)
        continue;
      FailureOr<Value> real = dequantize(b, op->getLoc(), operand.get());
      if (failed(real))
        return unknownKind(op);
      Type type = cast<RankedTensorType>(operand.get().getType()).clone(Type(to));
      FailureOr<Value> again = quantize(b, op->getLoc(), *real, type);
      if (failed(again))
        return unknownKind(op);
      operand.set(*again);
    }
    return success();
  }

  LogicalResult compute(Operation *op) {
    OpBuilder b(op);
    for (OpOperand &operand : op->getOpOperands())
      if (quantized(operand.get())) {
        FailureOr<Value> real = dequantize(b, op->getLoc(), operand.get());
        if (failed(real))
          return unknownKind(op);
        operand.set(*real);
      }
    b.setInsertionPointAfter(op);
    for (Value result : op->getResults()) {
      Type type = result.getType();
      if (!quantized(type))
        continue;
      result.setType(expressed(type));
      SmallVector<OpOperand *> uses;
      for (OpOperand &use : result.getUses())
        uses.push_back(&use);
      FailureOr<Value> stored = quantize(b, op->getLoc(), result, type);
      if (failed(stored))
        return unknownKind(op);
      for (OpOperand *use : uses)
        use->set(*stored);
    }
    return success();
  }
};

void store(Value value) { value.setType(storage(value.getType())); }

struct DecomposeQuantizedPass : impl::DecomposeQuantizedBase<DecomposeQuantizedPass> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      SmallVector<Operation *> ops;
      bool any = llvm::any_of(function.getArgumentTypes(), [](Type t) { return storage(t) != t; });
      function.walk([&](Operation *op) {
        ops.push_back(op);
        for (Type type : op->getResultTypes())
          any |= storage(type) != type;
      });
      if (!any)
        continue;
      for (Operation *op : ops)
        if (failed(Decomposition().run(op)))
          return signalPassFailure();
      function.walk([&](Operation *op) {
        for (Value result : op->getResults())
          store(result);
        for (Region &region : op->getRegions())
          for (Block &block : region)
            for (BlockArgument argument : block.getArguments())
              store(argument);
      });
      SmallVector<Type> inputs, results;
      for (Type type : function.getFunctionType().getInputs())
        inputs.push_back(storage(type));
      for (Type type : function.getFunctionType().getResults())
        results.push_back(storage(type));
      function.setType(FunctionType::get(&getContext(), inputs, results));
      function.walk([](stablehlo::ConstantOp constant) {
        auto value = dyn_cast<DenseElementsAttr>(constant.getValue());
        Type element = constant.getType().getElementType();
        if (value && value.getElementType() != element && isa<IntegerType>(element) &&
            value.getElementType().isIntOrFloat() &&
            value.getElementType().getIntOrFloatBitWidth() == element.getIntOrFloatBitWidth())
          constant.setValueAttr(value.bitcast(element));
      });
      // Casts between a type and its integers.
      function.walk([&](stablehlo::BitcastConvertOp cast) {
        if (cast.getOperand().getType() == cast.getType()) {
          cast.replaceAllUsesWith(cast.getOperand());
          cast.erase();
        }
      });
    }
  }
};

} // namespace
} // namespace tessera
