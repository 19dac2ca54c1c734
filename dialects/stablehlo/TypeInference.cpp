// The types of results, family by family, of the operations whose operands, attributes and regions
// tell them. Elements are those of the operand, or those that a region computes.
#include "dialects/stablehlo/ReplicaGroups.h"
#include "dialects/stablehlo/ShapeInference.h"
#include "mlir/Dialect/Quant/IR/QuantTypes.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace tessera::stablehlo {

using Types = SmallVectorImpl<Type>;

static constexpr int64_t unknown = ShapedType::kDynamic;

static LogicalResult one(ArrayRef<int64_t> shape, Type element, Types &types) {
  types.push_back(RankedTensorType::get(shape, element));
  return success();
}

// The operand's type with another shape.
static LogicalResult one(Value operand, ArrayRef<int64_t> shape, Types &types) {
  return one(shape, getElementTypeOrSelf(operand.getType()), types);
}

static LogicalResult sameAs(ValueRange values, Types &types) {
  llvm::append_range(types, values.getTypes());
  return success();
}

// The elements of result `i` of a computation; those of `like` while it has none.
static Type computed(Region &region, unsigned i, Value like) {
  if (region.empty() || region.front().empty() || !isa<ReturnOp>(region.front().back()))
    return getElementTypeOrSelf(like.getType());
  return getElementTypeOrSelf(region.front().back().getOperand(i).getType());
}

//===------------------------------- Data movement ----------------------------===//

LogicalResult BroadcastOp::inferTypes(Adaptor op, Types &types) {
  Shape shape(op.getBroadcastSizes());
  llvm::append_range(shape, shapeOf(op.getOperand()));
  return one(op.getOperand(), shape, types);
}

LogicalResult ConcatenateOp::inferTypes(Adaptor op, Types &types) {
  if (op.getInputs().empty())
    return failure();
  int64_t d = op.getDimension(), total = 0;
  for (Value input : op.getInputs()) {
    int64_t size = shapeOf(input)[d];
    total = ShapedType::isDynamic(total) || ShapedType::isDynamic(size) ? unknown : total + size;
  }
  Shape result = mergedShape(op.getInputs());
  result[d] = total;
  return one(op.getInputs().front(), result, types);
}

LogicalResult DynamicSliceOp::inferTypes(Adaptor op, Types &types) {
  return one(op.getOperand(), op.getSliceSizes(), types);
}

LogicalResult DynamicUpdateSliceOp::inferTypes(Adaptor op, Types &types) {
  return sameAs(op.getOperand(), types);
}

LogicalResult GatherOp::inferTypes(Adaptor op, Types &types) {
  return one(
      op.getOperand(),
      gatheredShape(shapeOf(op.getStartIndices()), op.getDimensionNumbers(), op.getSliceSizes()),
      types);
}

LogicalResult GetDimensionSizeOp::inferTypes(Adaptor op, Types &types) {
  return one({}, IntegerType::get(op.getOperand().getContext(), 32), types);
}

LogicalResult PadOp::inferTypes(Adaptor op, Types &types) {
  return one(op.getOperand(),
             paddedShape(shapeOf(op.getOperand()), op.getEdgePaddingLow(), op.getEdgePaddingHigh(),
                         op.getInteriorPadding()),
             types);
}

LogicalResult SliceOp::inferTypes(Adaptor op, Types &types) {
  return one(op.getOperand(),
             slicedShape(op.getStartIndices(), op.getLimitIndices(), op.getStrides()), types);
}

LogicalResult TransposeOp::inferTypes(Adaptor op, Types &types) {
  ArrayRef<int64_t> permutation = op.getPermutation();
  Shape result;
  for (int64_t d : permutation)
    result.push_back(shapeOf(op.getOperand())[d]);
  Type element = getElementTypeOrSelf(op.getOperand().getType());
  if (auto axis = dyn_cast<quant::UniformQuantizedPerAxisType>(element))
    element = quant::UniformQuantizedPerAxisType::get(
        axis.getFlags(), axis.getStorageType(), axis.getExpressedType(), axis.getScales(),
        axis.getZeroPoints(),
        llvm::find(permutation, axis.getQuantizedDimension()) - permutation.begin(),
        axis.getStorageTypeMin(), axis.getStorageTypeMax());
  return one(result, element, types);
}

//===------------------------------- Contractions -----------------------------===//

// A product has the elements of lhs unless its type says otherwise.
LogicalResult DotOp::inferTypes(Adaptor op, Types &types) {
  Shape result(shapeOf(op.getLhs()).drop_back());
  llvm::append_range(result, shapeOf(op.getRhs()).drop_front());
  return one(op.getLhs(), result, types);
}

LogicalResult DotGeneralOp::inferTypes(Adaptor op, Types &types) {
  DotDimensionNumbersAttr dims = op.getDotDimensionNumbers();
  ArrayRef<int64_t> lhs = shapeOf(op.getLhs()), rhs = shapeOf(op.getRhs());
  Shape result, lhsUsed(dims.getLhsBatchingDimensions()), rhsUsed(dims.getRhsBatchingDimensions());
  for (auto [l, r] : llvm::zip(lhsUsed, rhsUsed))
    result.push_back(ShapedType::isDynamic(lhs[l]) ? rhs[r] : lhs[l]);
  llvm::append_range(lhsUsed, dims.getLhsContractingDimensions());
  llvm::append_range(rhsUsed, dims.getRhsContractingDimensions());
  llvm::append_range(result, without(lhs, lhsUsed));
  llvm::append_range(result, without(rhs, rhsUsed));
  return one(op.getLhs(), result, types);
}

LogicalResult ConvolutionOp::inferTypes(Adaptor op, Types &types) {
  ArrayRef<int64_t> lhs = shapeOf(op.getLhs());
  return one(op.getLhs(),
             convolvedShape(lhs, shapeOf(op.getRhs()), op.getDimensionNumbers(),
                            op.getBatchGroupCount(),
                            {op.getWindowStrides(), op.getLhsDilation(), op.getRhsDilation(),
                             paddingOf(op.getPadding(), lhs.size() - 2)}),
             types);
}

//===-------------------------------- Reductions ------------------------------===//

// Each input's result has `shape` and the elements that the region computes.
static LogicalResult reduced(ValueRange inits, Region &body, const Shape &shape, Types &types) {
  for (auto [i, init] : llvm::enumerate(inits))
    (void)one(shape, computed(body, i, init), types);
  return success();
}

LogicalResult ReduceOp::inferTypes(Adaptor op, Types &types) {
  return reduced(op.getInitValues(), op.getBody(),
                 without(mergedShape(op.getInputs()), op.getDimensions()), types);
}

LogicalResult ReduceWindowOp::inferTypes(Adaptor op, Types &types) {
  Shape from = mergedShape(op.getInputs());
  return reduced(op.getInitValues(), op.getBody(),
                 windowShape(from, op.getWindowDimensions(),
                             {op.getWindowStrides(), op.getBaseDilations(), op.getWindowDilations(),
                              paddingOf(op.getPadding(), from.size())}),
                 types);
}

LogicalResult SelectAndScatterOp::inferTypes(Adaptor op, Types &types) {
  return one(shapeOf(op.getOperand()), computed(op.getScatter(), 0, op.getInitValue()), types);
}

LogicalResult ScatterOp::inferTypes(Adaptor op, Types &types) {
  return reduced(op.getInputs(), op.getUpdateComputation(), mergedShape(op.getInputs()), types);
}

LogicalResult SortOp::inferTypes(Adaptor op, Types &types) { return sameAs(op.getInputs(), types); }

LogicalResult MapOp::inferTypes(Adaptor op, Types &types) {
  if (op.getInputs().empty())
    return failure();
  return one(mergedShape(op.getInputs()), computed(op.getComputation(), 0, op.getInputs().front()),
             types);
}

LogicalResult BatchNormTrainingOp::inferTypes(Adaptor op, Types &types) {
  return sameAs({op.getOperand(), op.getScale(), op.getScale()}, types);
}

LogicalResult BatchNormInferenceOp::inferTypes(Adaptor op, Types &types) {
  return sameAs(op.getOperand(), types);
}

LogicalResult BatchNormGradOp::inferTypes(Adaptor op, Types &types) {
  return sameAs({op.getOperand(), op.getScale(), op.getScale()}, types);
}

//===------------------------------- Linear algebra ---------------------------===//

LogicalResult TriangularSolveOp::inferTypes(Adaptor op, Types &types) {
  return sameAs(op.getB(), types);
}

LogicalResult FftOp::inferTypes(Adaptor op, Types &types) {
  Shape result(shapeOf(op.getOperand()));
  Type element = getElementTypeOrSelf(op.getOperand().getType());
  int64_t last = op.getFftLength().back();
  if (op.getFftType() == FftType::RFFT) {
    result.back() = last ? last / 2 + 1 : 0;
    element = ComplexType::get(element);
  }
  if (op.getFftType() == FftType::IRFFT) {
    result.back() = last;
    if (auto complex = dyn_cast<ComplexType>(element))
      element = complex.getElementType();
  }
  return one(result, element, types);
}

LogicalResult RngOp::inferTypes(Adaptor op, Types &types) {
  int64_t rank = shapeOf(op.getShape()).front();
  if (ShapedType::isDynamic(rank))
    return failure();
  return one(op.getA(), valuesOf(op.getShape(), rank), types);
}

//===-------------------------------- Control flow ----------------------------===//

LogicalResult WhileOp::inferTypes(Adaptor op, Types &types) {
  return sameAs(op.getOperand(), types);
}

// What the first branch returns.
static LogicalResult returned(Region &branch, Types &types) {
  if (branch.empty() || branch.front().empty() || !isa<ReturnOp>(branch.front().back()))
    return failure();
  return sameAs(branch.front().back().getOperands(), types);
}

LogicalResult IfOp::inferTypes(Adaptor op, Types &types) {
  return returned(op.getTrueBranch(), types);
}

LogicalResult CaseOp::inferTypes(Adaptor op, Types &types) {
  return op.getBranches().empty() ? failure() : returned(*op.getBranches().front(), types);
}

LogicalResult OptimizationBarrierOp::inferTypes(Adaptor op, Types &types) {
  return sameAs(op.getOperand(), types);
}

LogicalResult TupleOp::inferTypes(Adaptor op, Types &types) {
  if (op.getVal().empty())
    return failure();
  types.push_back(TupleType::get(op.getVal().front().getContext(), op.getVal().getTypes()));
  return success();
}

LogicalResult GetTupleElementOp::inferTypes(Adaptor op, Types &types) {
  auto tuple = cast<TupleType>(op.getOperand().getType());
  if (op.getIndex() >= tuple.size())
    return failure();
  types.push_back(tuple.getType(op.getIndex()));
  return success();
}

//===-------------------------------- Collectives -----------------------------===//

// A process is known by one number.
static LogicalResult number(MLIRContext *context, Types &types) {
  return one({}, IntegerType::get(context, 32, IntegerType::Unsigned), types);
}
LogicalResult PartitionIdOp::inferTypes(Adaptor op, Types &types) {
  return op.getAttributes() ? number(op.getAttributes().getContext(), types) : failure();
}
LogicalResult ReplicaIdOp::inferTypes(Adaptor op, Types &types) {
  return op.getAttributes() ? number(op.getAttributes().getContext(), types) : failure();
}

LogicalResult AllGatherOp::inferTypes(Adaptor op, Types &types) {
  int64_t group = spannedGroup(op), d = op.getAllGatherDim();
  for (Value operand : op.getOperands_()) {
    Shape shape(shapeOf(operand));
    bool known = !ShapedType::isDynamic(shape[d]) && !ShapedType::isDynamic(group) && group > 0;
    shape[d] = known ? shape[d] * group : unknown;
    (void)one(operand, shape, types);
  }
  return success();
}

LogicalResult AllReduceOp::inferTypes(Adaptor op, Types &types) {
  for (Value operand : op.getOperands_())
    (void)one(shapeOf(operand), computed(op.getComputation(), 0, operand), types);
  return success();
}

LogicalResult AllToAllOp::inferTypes(Adaptor op, Types &types) {
  int64_t count = op.getSplitCount();
  for (Value operand : op.getOperands_()) {
    Shape shape(shapeOf(operand));
    int64_t &split = shape[op.getSplitDimension()], &concat = shape[op.getConcatDimension()];
    if (!ShapedType::isDynamic(split))
      split /= count;
    if (!ShapedType::isDynamic(concat))
      concat *= count;
    (void)one(operand, shape, types);
  }
  return success();
}

// The last operand may be the roots.
static ValueRange sent(ValueRange operands, bool hasRoots) {
  return hasRoots && !operands.empty() ? operands.drop_back() : operands;
}

LogicalResult CollectiveBroadcastOp::inferTypes(Adaptor op, Types &types) {
  return sameAs(sent(op.getOperands_(), op.getHasDynamicRoot()), types);
}

LogicalResult CollectiveReduceOp::inferTypes(Adaptor op, Types &types) {
  for (Value operand : sent(op.getOperands_(), op.getHasDynamicRoot()))
    (void)one(shapeOf(operand), computed(op.getComputation(), 0, operand), types);
  return success();
}

LogicalResult ReduceScatterOp::inferTypes(Adaptor op, Types &types) {
  int64_t group = spannedGroup(op), d = op.getScatterDimension();
  Shape shape(shapeOf(op.getOperand()));
  bool known = !ShapedType::isDynamic(shape[d]) && !ShapedType::isDynamic(group) && group > 0;
  shape[d] = known ? shape[d] / group : unknown;
  return one(shape, computed(op.getComputation(), 0, op.getOperand()), types);
}

} // namespace tessera::stablehlo
