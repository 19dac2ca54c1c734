// Makes shapes static that were not: the arguments' come from `tessera.shape` (compile's
// --input-shapes), the rest follows.
//
// Operations are visited in order: folded where their operands are constant (arithmetic on sizes),
// else given the shapes that their operands say. Passes.td shows an example.
#include "passes/import/Passes.h"

#include "dialects/chlo/ChloOps.h"
#include "dialects/sdy/SignatureAttributes.h"
#include "dialects/stablehlo/ShapeInference.h"
#include "dialects/tessera/Marks.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Verifier.h"
#include "passes/import/shapes/DynamicCalls.h"
#include "passes/import/shapes/ReadShapeArithmetic.h"
#include "llvm/ADT/TypeSwitch.h"

namespace tessera {
#define GEN_PASS_DEF_REFINESHAPES
#include "passes/import/Passes.h.inc"

using namespace mlir;
using stablehlo::Shape;

namespace {

bool isUnknown(Type type) {
  if (auto tuple = dyn_cast<TupleType>(type))
    return llvm::any_of(tuple.getTypes(), isUnknown);
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && !tensor.hasStaticShape();
}

// The type with every size that either knows, or failure where they contradict each other.
FailureOr<Type> refined(Type type, Type by) {
  auto a = dyn_cast<RankedTensorType>(type), b = dyn_cast<RankedTensorType>(by);
  if (!a || !b || a.hasStaticShape())
    return type;
  if (a.getRank() != b.getRank())
    return failure();
  Shape shape(a.getShape());
  for (auto [d, size] : llvm::enumerate(shape)) {
    if (ShapedType::isDynamic(size))
      size = b.getDimSize(d);
    else if (!b.isDynamicDim(d) && b.getDimSize(d) != size)
      return failure();
  }
  // Bounds of dynamic dimensions say nothing once these are known.
  Attribute encoding = ShapedType::isDynamicShape(shape) ? a.getEncoding() : Attribute();
  return Type(RankedTensorType::get(shape, a.getElementType(), encoding));
}

class Refiner {
public:
  LogicalResult refine(Block &block) {
    for (Operation &op : llvm::make_early_inc_range(block))
      if (failed(visit(&op)))
        return failure();
    return success();
  }

private:
  LogicalResult set(Operation *op, Value value, Type by) {
    FailureOr<Type> type = refined(value.getType(), by);
    if (failed(type))
      return op->emitError() << "has a value of type " << value.getType()
                             << " where the shapes of the inputs give " << by;
    value.setType(*type);
    return success();
  }

  // Results of operations, and arguments of blocks, that carry `values` on.
  LogicalResult pass(Operation *op, ValueRange values, ValueRange to) {
    for (auto [value, target] : llvm::zip(values, to))
      if (failed(set(op, target, value.getType())))
        return failure();
    return success();
  }

  bool fold(Operation *op) {
    if (op->getNumResults() != 1 || op->getNumRegions() != 0 ||
        op->hasTrait<OpTrait::ConstantLike>())
      return false;
    auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
    if (!type || !type.hasStaticShape() || !type.getElementType().isIntOrIndex() ||
        type.getNumElements() > 64)
      return false;
    SmallVector<Attribute> operands(op->getNumOperands());
    for (auto [operand, attr] : llvm::zip(op->getOperands(), operands))
      matchPattern(operand, m_Constant(&attr));
    SmallVector<OpFoldResult> results;
    if (failed(op->fold(operands, results)) || results.size() != 1)
      return false;
    Value value = dyn_cast<Value>(results[0]);
    if (!value) {
      OpBuilder b(op);
      auto elements = dyn_cast<ElementsAttr>(cast<Attribute>(results[0]));
      if (!elements || elements.getShapedType() != type)
        return false;
      value = stablehlo::ConstantOp::create(b, op->getLoc(), elements);
    }
    if (value.getType() != type)
      return false;
    op->getResult(0).replaceAllUsesWith(value);
    op->erase();
    return true;
  }

  LogicalResult loop(stablehlo::WhileOp op) {
    for (Region *region : {&op.getCond(), &op.getBody()})
      if (failed(pass(op, op.getOperand(), region->getArguments())) ||
          failed(refine(region->front())))
        return failure();
    for (auto [i, carried, returned] :
         llvm::enumerate(op.getOperand(), op.getBody().front().back().getOperands()))
      if (carried.getType() != returned.getType())
        return op.emitError() << "carries value " << i << " of type " << carried.getType()
                              << ", which the body changes to " << returned.getType()
                              << "; a loop cannot change shapes";
    return pass(op, op.getOperand(), op->getResults());
  }

  LogicalResult branches(Operation *op) {
    for (Region &region : op->getRegions())
      if (failed(refine(region.front())) ||
          failed(pass(op, region.front().back().getOperands(), op->getResults())))
        return failure();
    return success();
  }

  LogicalResult visit(Operation *op) {
    if (auto loopOp = dyn_cast<stablehlo::WhileOp>(op))
      return loop(loopOp);
    if (isa<stablehlo::IfOp, stablehlo::CaseOp>(op))
      return branches(op);
    if (fold(op))
      return success();
    if (auto call = dyn_cast<stablehlo::CustomCallOp>(op)) {
      FailureOr<bool> handled = rewriteDynamicCall(call);
      if (failed(handled) || *handled)
        return failure(failed(handled)); // what replaces it is visited next
    }
    if (op->getNumResults() == 0 || llvm::none_of(op->getResultTypes(), isUnknown))
      return success();
    if (isa<stablehlo::OptimizationBarrierOp>(op))
      return pass(op, op->getOperands(), op->getResults());
    if (auto tuple = dyn_cast<stablehlo::TupleOp>(op)) {
      tuple.getResult().setType(TupleType::get(op->getContext(), tuple.getOperandTypes()));
      return success();
    }
    if (auto element = dyn_cast<stablehlo::GetTupleElementOp>(op)) {
      element.getResult().setType(element.getOperand().getType().getType(element.getIndex()));
      return success();
    }
    if (failed(infer(op)))
      return failure();
    if (auto resize = dyn_cast<stablehlo::SetDimensionSizeOp>(op))
      return cut(resize);
    (void)fold(op); // known shapes may make it an identity
    return success();
  }

  // What lies past the new size is no longer part of the value.
  LogicalResult cut(stablehlo::SetDimensionSizeOp op) {
    RankedTensorType from = op.getOperand().getType(), to = op.getType();
    if (!from.hasStaticShape() || !to.hasStaticShape())
      return success(); // refused at the end
    int64_t size = to.getDimSize(op.getDimension());
    if (size > from.getDimSize(op.getDimension()))
      return op.emitError() << "sets dimension " << op.getDimension() << " of " << from << " to "
                            << size << ", which is larger";
    OpBuilder b(op);
    SmallVector<int64_t> start(from.getRank(), 0), strides(from.getRank(), 1);
    Value value = from == to ? Value(op.getOperand())
                             : stablehlo::SliceOp::create(b, op.getLoc(), to, op.getOperand(),
                                                          start, to.getShape(), strides);
    op.replaceAllUsesWith(value);
    op.erase();
    return success();
  }

  LogicalResult infer(Operation *op) {
    SmallVector<Shape> shapes = stablehlo::inferShapes(op);
    for (auto [value, shape] : llvm::zip(op->getResults(), shapes)) {
      auto type = dyn_cast<RankedTensorType>(value.getType());
      if (!type || type.getRank() != int64_t(shape.size()))
        continue;
      for (int64_t size : shape)
        if (size < 0 && !ShapedType::isDynamic(size))
          return op->emitError() << "has a dimension of size " << size
                                 << " with the shapes of the inputs";
      if (failed(set(op, value, RankedTensorType::get(shape, type.getElementType()))))
        return failure();
    }
    return success();
  }
};

// "8x?xf32" as the option is written.
std::string shapeOption(int64_t index, RankedTensorType type) {
  std::string text = "--input-shapes=in" + std::to_string(index) + ":";
  for (auto [d, size] : llvm::enumerate(type.getShape()))
    text += (d ? "x" : "") + (ShapedType::isDynamic(size) ? "N" : std::to_string(size));
  return text;
}

LogicalResult giveArguments(func::FuncOp function) {
  sdy::SignatureAttributes attributes(function);
  for (BlockArgument argument : function.getArguments()) {
    unsigned i = argument.getArgNumber();
    if (RankedTensorType given = getGivenShape(attributes.ofArgument(i))) {
      FailureOr<Type> type = refined(argument.getType(), given);
      if (failed(type))
        return function.emitError() << "argument " << i << " has type " << argument.getType()
                                    << ", which " << given << " does not refine";
      argument.setType(*type);
      dropGivenShape(attributes, i);
    }
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (type && !type.hasStaticShape())
      return emitError(argument.getLoc())
             << "argument " << i << " of @" << function.getSymName() << " has type " << type
             << ", whose shape is not known; give it by " << shapeOption(i, type)
             << ", with numbers for N";
  }
  return success();
}

LogicalResult refineFunction(func::FuncOp function) {
  if (failed(giveArguments(function)) || failed(Refiner().refine(function.getBody().front())))
    return failure();
  Operation *unknown = nullptr;
  function.getBody().walk([&](Operation *op) {
    if (!unknown && llvm::any_of(op->getResultTypes(), isUnknown))
      unknown = op;
  });
  if (unknown)
    return unknown->emitError() << "'" << unknown->getName() << "' has a result of type "
                                << *llvm::find_if(unknown->getResultTypes(), isUnknown)
                                << ", whose shape does not follow from the shapes of the inputs: "
                                   "it depends on data, which no static program has";
  Operation *terminator = function.getBody().front().getTerminator();
  function.setType(FunctionType::get(function.getContext(), function.getBody().getArgumentTypes(),
                                     terminator->getOperandTypes()));
  return verify(function);
}

struct RefineShapesPass : impl::RefineShapesBase<RefineShapesPass> {
  // Computations that only a custom call named.
  void dropUnused() {
    for (auto function : llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>()))
      if (function.isPrivate() && SymbolTable::symbolKnownUseEmpty(function, getOperation()))
        function.erase();
  }

  void runOnOperation() override {
    bool refinedAny = false;
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (!function.isPublic() || !function.getBody().hasOneBlock())
        continue;
      if (failed(readShapeArithmetic(function)))
        return signalPassFailure();
      bool dynamic = llvm::any_of(function.getArgumentTypes(), isUnknown);
      for (unsigned i = 0; i < function.getNumArguments(); ++i)
        dynamic |= bool(getGivenShape(function.getArgAttrDict(i)));
      if (!dynamic)
        dynamic = function.getBody()
                      .walk([](Operation *op) {
                        bool unknown =
                            llvm::any_of(op->getResultTypes(), isUnknown) || isDynamicCall(op);
                        return unknown ? WalkResult::interrupt() : WalkResult::advance();
                      })
                      .wasInterrupted();
      if (!dynamic)
        continue;
      if (failed(refineFunction(function)))
        return signalPassFailure();
      refinedAny = true;
    }
    if (refinedAny)
      dropUnused();
  }
};

} // namespace
} // namespace tessera
