#include "dialects/stablehlo/Constraints.h"
#include "dialects/stablehlo/ShapeInference.h"
#include "dialects/stablehlo/StablehloAssembly.h"

using namespace mlir;
using namespace tessera::stablehlo;

#define GET_OP_CLASSES
#include "dialects/stablehlo/ReductionOps.cpp.inc"

namespace tessera::stablehlo {

void StablehloDialect::registerReductionOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/stablehlo/ReductionOps.cpp.inc"
      >();
}

//===------------------------------- Constraints ------------------------------===//

// Inputs and initial values of a reduction: as many results, one shape, elements that agree.
static LogicalResult verifyReduced(Operation *op, ValueRange inputs, ValueRange inits, int count,
                                   int shapes, int elements) {
  if (inputs.empty() || inputs.size() != inits.size() || op->getNumResults() != inputs.size())
    return violates(op, count) << inputs.size() << " inputs, " << inits.size()
                               << " initial values and " << op->getNumResults()
                               << " results; as many of each are needed, at least one";
  auto first = cast<RankedTensorType>(inputs[0].getType());
  for (auto [i, input, init] : llvm::enumerate(inputs, inits)) {
    auto type = cast<RankedTensorType>(input.getType()),
         initType = cast<RankedTensorType>(init.getType());
    if (!sameShape(type.getShape(), first.getShape()))
      return violates(op, shapes) << "input " << i << " has shape " << shapeText(type.getShape())
                                  << ", the first " << shapeText(first.getShape());
    if (initType.getRank() != 0)
      return violates(op, elements)
             << "initial value " << i << " must be a scalar, not " << initType;
    // A wider computation starts from a value of its own type.
    if (!isPromotable(type.getElementType(), initType.getElementType()))
      return violates(op, elements)
             << "initial value " << i << " has elements " << initType.getElementType()
             << ", its input " << type.getElementType();
  }
  return success();
}

LogicalResult ReduceOp::verify() {
  if (failed(verifyReduced(*this, getInputs(), getInitValues(), 3, 1, 2)))
    return failure();
  auto type = cast<RankedTensorType>(getInputs()[0].getType());
  SmallVector<Type> computed;
  if (failed(verifyDims(*this, "dimensions", getDimensions(), type.getRank(), 4, 5)) ||
      failed(verifyCombiner(*this, getBody(), "body", getInputs().getTypes(), 6, computed)))
    return failure();
  if (failed(verifyInferredShapes(*this, 7)))
    return failure();
  return verifyComputed(*this, getResultTypes(), computed, 8);
}

// One positive number a dimension, where given.
static LogicalResult verifyWindowNumbers(Operation *op, StringRef name,
                                         std::optional<ArrayRef<int64_t>> values, int64_t rank,
                                         int count, int positive) {
  if (values && int64_t(values->size()) != rank)
    return violates(op, count) << name << " has " << values->size() << " entries for rank " << rank;
  if (values && llvm::any_of(*values, [](int64_t v) { return v <= 0; }))
    return violates(op, positive) << name << " " << shapeText(*values) << " must be positive";
  return success();
}

static LogicalResult verifyPadding(Operation *op, std::optional<DenseIntElementsAttr> padding,
                                   int64_t rank, int constraint) {
  if (padding && padding->getType().getShape() != ArrayRef<int64_t>({rank, 2}))
    return violates(op, constraint)
           << "padding has shape " << shapeText(padding->getType().getShape()) << ", expected "
           << shapeText({rank, 2});
  return success();
}

LogicalResult ReduceWindowOp::verify() {
  if (failed(verifyReduced(*this, getInputs(), getInitValues(), 1, 2, 3)))
    return failure();
  auto type = cast<RankedTensorType>(getInputs()[0].getType());
  int64_t rank = type.getRank();
  SmallVector<Type> computed;
  if (failed(verifyWindowNumbers(*this, "window_dimensions", getWindowDimensions(), rank, 4, 5)) ||
      failed(verifyWindowNumbers(*this, "window_strides", getWindowStrides(), rank, 6, 7)) ||
      failed(verifyWindowNumbers(*this, "base_dilations", getBaseDilations(), rank, 8, 9)) ||
      failed(verifyWindowNumbers(*this, "window_dilations", getWindowDilations(), rank, 10, 11)) ||
      failed(verifyPadding(*this, getPadding(), rank, 12)) ||
      failed(verifyCombiner(*this, getBody(), "body", getInputs().getTypes(), 13, computed)))
    return failure();
  if (failed(verifyInferredShapes(*this, 15)))
    return failure();
  for (Type result : getResultTypes())
    if (failed(verifySameShape(*this, "a result", result, "the first", getResultTypes()[0], 14)))
      return failure();
  return verifyComputed(*this, getResultTypes(), computed, 16);
}

LogicalResult SelectAndScatterOp::verify() {
  RankedTensorType type = getOperand().getType(), source = getSource().getType(),
                   init = getInitValue().getType();
  int64_t rank = type.getRank();
  SmallVector<Type> computed;
  if (!elementsAgree(type.getElementType(), source.getElementType()))
    return violates(*this, 1) << "the source has elements " << source.getElementType()
                              << ", the operand " << type.getElementType();
  if (init.getRank() != 0 || !isPromotable(type.getElementType(), init.getElementType()))
    return violates(*this, 3) << "the initial value must be a scalar of " << type.getElementType()
                              << ", not " << init;
  if (failed(verifyWindowNumbers(*this, "window_dimensions", getWindowDimensions(), rank, 4, 5)) ||
      failed(verifyWindowNumbers(*this, "window_strides", getWindowStrides(), rank, 6, 7)) ||
      failed(verifyPadding(*this, getPadding(), rank, 8)) ||
      failed(verifyScalarComputation(*this, getSelect(), "select", 2, 1, true, 9)) ||
      failed(verifyCombiner(*this, getScatter(), "scatter", type, 10, computed)))
    return failure();
  for (Type argument : getSelect().getArgumentTypes())
    if (failed(verifyElements(*this, "an argument of select", argument, "the operand", type, 9)))
      return failure();
  SmallVector<int64_t> sizes(rank, 1);
  if (getWindowDimensions())
    sizes.assign(getWindowDimensions()->begin(), getWindowDimensions()->end());
  Shape windows = windowShape(type.getShape(), sizes,
                              {getWindowStrides(), {}, {}, paddingOf(getPadding(), rank)});
  if (!sameShape(source.getShape(), windows))
    return violates(*this, 2) << "the source has shape " << shapeText(source.getShape())
                              << ", the windows " << shapeText(windows);
  if (failed(verifyComputed(*this, getResult().getType(), computed, 12)))
    return failure();
  return verifyInferredShapes(*this, 11);
}

LogicalResult SortOp::verify() {
  if (getInputs().empty())
    return violates(*this, 1) << "needs an operand";
  if (!typesAgree(getInputs().getTypes(), getResultTypes()))
    return violates(*this, 2) << "the results must have the types of the operands";
  for (Type type : getInputs().getTypes())
    if (failed(
            verifySameShape(*this, "an operand", type, "the first", getInputs()[0].getType(), 3)))
      return failure();
  int64_t rank = cast<RankedTensorType>(getInputs()[0].getType()).getRank(), d = getDimension();
  if (d < -rank || d >= rank)
    return violates(*this, 4) << "dimension is " << d << ", the operands have rank " << rank;
  if (failed(verifyScalarComputation(*this, getComparator(), "comparator", 2 * getInputs().size(),
                                     1, true, 5)))
    return failure();
  for (auto [i, argument] : llvm::enumerate(getComparator().getArgumentTypes()))
    if (failed(verifyElements(*this, "an argument of comparator", argument, "its operand",
                              getInputs()[i / 2].getType(), 5)))
      return failure();
  return success();
}

LogicalResult MapOp::verify() {
  if (getInputs().empty())
    return violates(*this, 2) << "needs an operand";
  for (Type type : getInputs().getTypes())
    if (failed(verifySameShape(*this, "an operand", type, "the result", getType(), 1)))
      return failure();
  int64_t rank = getType().getRank();
  if (llvm::to_vector(getDimensions()) != llvm::to_vector(llvm::seq<int64_t>(0, rank)))
    return violates(*this, 3) << "dimensions " << shapeText(getDimensions())
                              << " must be all of the operands', in order";
  if (failed(verifyScalarComputation(*this, getComputation(), "computation", getInputs().size(), 1,
                                     false, 4)))
    return failure();
  for (auto [argument, input] : llvm::zip(getComputation().getArgumentTypes(), getInputs()))
    if (failed(verifyElements(*this, "an argument of computation", argument, "its operand",
                              input.getType(), 4)))
      return failure();
  return verifyElements(*this, "the result", getType(), "what computation returns",
                        getComputation().front().back().getOperand(0).getType(), 4);
}

// Values of one number a feature, by constraints `first`, `first` + `step`, ..
static LogicalResult verifyFeatures(Operation *op, RankedTensorType operand, int64_t feature,
                                    ValueRange perFeature, int first = 3, int step = 1) {
  if (feature < 0 || feature >= operand.getRank())
    return violates(op, 1) << "feature_index is " << feature << ", the operand has rank "
                           << operand.getRank();
  for (auto [i, value] : llvm::enumerate(perFeature)) {
    auto type = cast<RankedTensorType>(value.getType());
    if (failed(verifyElements(op, "a value of each feature", type, "the operand", operand, 2)))
      return failure();
    if (type.getRank() != 1 || !sameSize(type.getDimSize(0), operand.getDimSize(feature)))
      return violates(op, first + i * step)
             << "expected one number for each of " << operand.getDimSize(feature)
             << " features, not " << type;
  }
  return success();
}

LogicalResult BatchNormTrainingOp::verify() {
  if (!typesAgree(getOutput().getType(), getOperand().getType()))
    return violates(*this, 7) << "the output must have the operand's type "
                              << getOperand().getType();
  return verifyFeatures(*this, getOperand().getType(), getFeatureIndex(),
                        {getScale(), getOffset(), getBatchMean(), getBatchVar()});
}

LogicalResult BatchNormInferenceOp::verify() {
  if (!typesAgree(getType(), getOperand().getType()))
    return violates(*this, 7) << "the result must have the operand's type "
                              << getOperand().getType();
  return verifyFeatures(*this, getOperand().getType(), getFeatureIndex(),
                        {getScale(), getOffset(), getMean(), getVariance()});
}

LogicalResult BatchNormGradOp::verify() {
  RankedTensorType type = getOperand().getType(), scale = getScale().getType();
  for (Value value : {Value(getGradOutput()), Value(getGradOperand())})
    if (failed(verifyElements(*this, "a gradient", value.getType(), "the operand", type, 2)) ||
        failed(verifySameShape(*this, "a gradient", value.getType(), "the operand", type, 3)))
      return failure();
  if (failed(verifyFeatures(*this, type, getFeatureIndex(), {getScale()}, 5)))
    return failure();
  for (Value value : {getMean(), getVariance(), getGradScale(), getGradOffset()})
    if (failed(verifyElements(*this, "a value of each feature", value.getType(), "the operand",
                              type, 2)) ||
        failed(
            verifySameShape(*this, "a value of each feature", value.getType(), "scale", scale, 4)))
      return failure();
  return success();
}

//===-------------------------------- Scatter ---------------------------------===//

LogicalResult ScatterOp::verify() {
  if (getInputs().empty() || getNumResults() != getInputs().size())
    return violates(*this, 5) << getInputs().size() << " inputs and " << getNumResults()
                              << " results";
  auto type = cast<RankedTensorType>(getInputs()[0].getType()),
       update = cast<RankedTensorType>(getUpdates()[0].getType());
  RankedTensorType indices = getScatterIndices().getType();
  ScatterDimensionNumbersAttr dims = getScatterDimensionNumbers();
  ArrayRef<int64_t> window = dims.getUpdateWindowDims(), inserted = dims.getInsertedWindowDims();
  ArrayRef<int64_t> batching = dims.getInputBatchingDims(),
                    indexBatching = dims.getScatterIndicesBatchingDims();
  ArrayRef<int64_t> toOperand = dims.getScatterDimsToOperandDims();
  int64_t rank = type.getRank(), vectorDim = dims.getIndexVectorDim();
  for (auto [i, input, up] : llvm::enumerate(getInputs(), getUpdates())) {
    auto t = cast<RankedTensorType>(input.getType()), u = cast<RankedTensorType>(up.getType());
    if (!sameShape(t.getShape(), type.getShape()))
      return violates(*this, 1) << "input " << i << " has shape " << shapeText(t.getShape())
                                << ", the first " << shapeText(type.getShape());
    if (!sameShape(u.getShape(), update.getShape()))
      return violates(*this, 3) << "update " << i << " has shape " << shapeText(u.getShape())
                                << ", the first " << shapeText(update.getShape());
    if (!elementsAgree(u.getElementType(), t.getElementType()))
      return violates(*this, 6) << "update " << i << " has elements " << u.getElementType()
                                << ", its input " << t.getElementType();
  }
  if (rank != int64_t(window.size() + inserted.size() + batching.size()))
    return violates(*this, 2) << "inputs of rank " << rank << " with " << window.size()
                              << " window, " << inserted.size() << " inserted and "
                              << batching.size() << " batching dimensions";
  if (vectorDim < 0 || vectorDim > indices.getRank())
    return violates(*this, 22) << "index_vector_dim is " << vectorDim << ", the indices have rank "
                               << indices.getRank();
  SmallVector<int64_t> outside(inserted), written(toOperand);
  llvm::append_range(outside, batching);
  llvm::append_range(written, batching);
  if (!isSorted(window))
    return violates(*this, 7) << "update_window_dims " << shapeText(window) << " must be sorted";
  if (!isSorted(inserted))
    return violates(*this, 10) << "inserted_window_dims " << shapeText(inserted)
                               << " must be sorted";
  if (failed(verifyDims(*this, "update_window_dims", window, update.getRank(), 8, 7)) ||
      failed(verifyDims(*this, "inserted_window_dims", inserted, rank, 11, 9)) ||
      failed(verifyDims(*this, "input_batching_dims", batching, rank, 13, 9)) ||
      failed(verifyDims(*this, "inserted_window_dims and input_batching_dims", outside, rank, 11,
                        9)) ||
      failed(verifyDims(*this, "scatter_indices_batching_dims", indexBatching, indices.getRank(),
                        15, 14)) ||
      failed(verifyDims(*this, "scatter_dims_to_operand_dims", written, rank, 21, 20)))
    return failure();
  if (batching.size() != indexBatching.size())
    return violates(*this, 17) << batching.size() << " and " << indexBatching.size()
                               << " batching dimensions";
  if (!isSorted(batching))
    return violates(*this, 12) << "input_batching_dims " << shapeText(batching)
                               << " must be sorted";
  if (llvm::is_contained(indexBatching, vectorDim))
    return violates(*this, 16) << "index_vector_dim " << vectorDim << " is a batching dimension";
  for (auto [d, index] : llvm::zip(batching, indexBatching))
    if (!sameSize(type.getDimSize(d), indices.getDimSize(index)))
      return violates(*this, 18) << "batching dimensions have sizes " << type.getDimSize(d)
                                 << " and " << indices.getDimSize(index);
  int64_t components = vectorDim < indices.getRank() ? indices.getDimSize(vectorDim) : 1;
  if (!sameSize(toOperand.size(), components))
    return violates(*this, 19) << "scatter_dims_to_operand_dims has " << toOperand.size()
                               << " entries for " << components << " index components";
  // The update: the indices' other dimensions around windows of at most the input's size.
  SmallVector<int64_t> scattered;
  for (int64_t d = 0; d < indices.getRank(); ++d)
    if (d != vectorDim)
      scattered.push_back(indices.getDimSize(d));
  if (update.getRank() != int64_t(scattered.size() + window.size()))
    return violates(*this, 4) << "updates of rank " << update.getRank() << " for "
                              << scattered.size() << " index and " << window.size()
                              << " window dimensions";
  int64_t s = 0, operandDim = 0;
  for (int64_t d = 0; d < update.getRank(); ++d) {
    if (!llvm::is_contained(window, d)) {
      if (!sameSize(update.getDimSize(d), scattered[s++]))
        return violates(*this, 4) << "dimension " << d << " of the updates has size "
                                  << update.getDimSize(d) << ", the indices " << scattered[s - 1];
      continue;
    }
    while (llvm::is_contained(outside, operandDim))
      ++operandDim;
    int64_t whole = type.getDimSize(operandDim++);
    if (!ShapedType::isDynamic(whole) && !ShapedType::isDynamic(update.getDimSize(d)) &&
        update.getDimSize(d) > whole)
      return violates(*this, 4) << "dimension " << d << " of the updates has size "
                                << update.getDimSize(d) << ", more than the input's " << whole;
  }
  SmallVector<Type> computed;
  if (failed(verifyCombiner(*this, getUpdateComputation(), "update_computation",
                            getInputs().getTypes(), 23, computed)) ||
      failed(verifyComputed(*this, getResultTypes(), computed, 25)))
    return failure();
  return verifyInferredShapes(*this, 24);
}

//===-------------------------------- Interfaces ------------------------------===//

double ReduceOp::getFlops() {
  auto type = cast<RankedTensorType>(getInputs()[0].getType());
  return type.hasStaticShape() ? static_cast<double>(type.getNumElements()) : 0;
}

} // namespace tessera::stablehlo
