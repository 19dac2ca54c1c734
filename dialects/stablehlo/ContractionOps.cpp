#include "dialects/stablehlo/Constraints.h"
#include "dialects/stablehlo/StablehloAssembly.h"

using namespace mlir;
using namespace tessera::stablehlo;

#define GET_OP_CLASSES
#include "dialects/stablehlo/ContractionOps.cpp.inc"

namespace tessera::stablehlo {

void StablehloDialect::registerContractionOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/stablehlo/ContractionOps.cpp.inc"
      >();
}

//===------------------------------- Constraints ------------------------------===//

LogicalResult DotOp::verify() {
  RankedTensorType lhs = getLhs().getType(), rhs = getRhs().getType();
  if (lhs.getRank() < 1 || lhs.getRank() > 2 || rhs.getRank() < 1 || rhs.getRank() > 2)
    return emitOpError("takes vectors and matrices; use dot_general for other ranks");
  if (!sameSize(lhs.getShape().back(), rhs.getShape().front()))
    return emitOpError() << "contracts " << lhs.getShape().back() << " with "
                         << rhs.getShape().front() << " elements";
  SmallVector<int64_t> shape(lhs.getShape().drop_back());
  llvm::append_range(shape, rhs.getShape().drop_front());
  if (!sameShape(getType().getShape(), shape))
    return emitOpError() << "returns " << shapeText(getType().getShape()) << ", expected "
                         << shapeText(shape);
  return success();
}

LogicalResult DotGeneralOp::verify() {
  RankedTensorType lhs = getLhs().getType(), rhs = getRhs().getType();
  DotDimensionNumbersAttr dims = getDotDimensionNumbers();
  ArrayRef<int64_t> lhsBatch = dims.getLhsBatchingDimensions(),
                    rhsBatch = dims.getRhsBatchingDimensions();
  ArrayRef<int64_t> lhsContract = dims.getLhsContractingDimensions(),
                    rhsContract = dims.getRhsContractingDimensions();
  if (lhsBatch.size() != rhsBatch.size())
    return violates(*this, 1) << lhsBatch.size() << " and " << rhsBatch.size()
                              << " batching dimensions";
  if (lhsContract.size() != rhsContract.size())
    return violates(*this, 2) << lhsContract.size() << " and " << rhsContract.size()
                              << " contracting dimensions";
  SmallVector<int64_t> lhsUsed(lhsBatch), rhsUsed(rhsBatch);
  llvm::append_range(lhsUsed, lhsContract);
  llvm::append_range(rhsUsed, rhsContract);
  if (failed(verifyDims(*this, "lhs_batching_dimensions", lhsBatch, lhs.getRank(), 5, 0)) ||
      failed(verifyDims(*this, "lhs_contracting_dimensions", lhsContract, lhs.getRank(), 6, 0)) ||
      failed(verifyDims(*this, "rhs_batching_dimensions", rhsBatch, rhs.getRank(), 7, 0)) ||
      failed(verifyDims(*this, "rhs_contracting_dimensions", rhsContract, rhs.getRank(), 8, 0)) ||
      failed(verifyDims(*this, "lhs batching and contracting dimensions", lhsUsed, lhs.getRank(), 5,
                        3)) ||
      failed(verifyDims(*this, "rhs batching and contracting dimensions", rhsUsed, rhs.getRank(), 7,
                        4)))
    return failure();
  for (auto [i, pair] : llvm::enumerate(llvm::zip(lhsUsed, rhsUsed))) {
    int64_t l = lhs.getDimSize(std::get<0>(pair)), r = rhs.getDimSize(std::get<1>(pair));
    if (!sameSize(l, r))
      return violates(*this, i < lhsBatch.size() ? 9 : 10)
             << "dimension " << std::get<0>(pair) << " of lhs has size " << l << ", dimension "
             << std::get<1>(pair) << " of rhs " << r;
  }
  if (auto precision = getPrecisionConfig();
      precision && !precision->empty() && precision->size() != 2)
    return violates(*this, 11) << "precision_config has " << precision->size()
                               << " entries, two are needed";
  SmallVector<int64_t> shape;
  for (int64_t d : lhsBatch)
    shape.push_back(lhs.getDimSize(d));
  for (auto [type, used] : {std::pair(lhs, ArrayRef(lhsUsed)), std::pair(rhs, ArrayRef(rhsUsed))})
    for (int64_t d = 0; d < type.getRank(); ++d)
      if (!llvm::is_contained(used, d))
        shape.push_back(type.getDimSize(d));
  return verifyResultShape(*this, getType(), shape, 12);
}

// Roles of the dimensions of one tensor: all different, all in range, as many as its rank.
static LogicalResult verifyRoles(Operation *op, StringRef name, int64_t first, int64_t second,
                                 ArrayRef<int64_t> spatial, int64_t rank, int count, int unique) {
  if (int64_t(spatial.size()) != rank - 2)
    return violates(op, count) << name << " has " << spatial.size()
                               << " spatial dimensions for rank " << rank;
  SmallVector<int64_t> all(spatial);
  all.append({first, second});
  return verifyDims(op, name, all, rank, unique, unique);
}

LogicalResult ConvolutionOp::verify() {
  RankedTensorType lhs = getLhs().getType(), rhs = getRhs().getType(), result = getType();
  int64_t rank = lhs.getRank(), spatial = rank - 2;
  if (rhs.getRank() != rank || spatial < 0)
    return violates(*this, 1) << "operands have ranks " << rank << " and " << rhs.getRank();
  if (result.getRank() != rank)
    return violates(*this, 26) << "the result has rank " << result.getRank() << ", the operands "
                               << rank;
  struct PerDimension {
    StringRef name;
    std::optional<ArrayRef<int64_t>> values;
    int count, positive;
  };
  for (const PerDimension &p : {PerDimension{"window_strides", getWindowStrides(), 2, 3},
                                PerDimension{"lhs_dilation", getLhsDilation(), 5, 6},
                                PerDimension{"rhs_dilation", getRhsDilation(), 7, 8}}) {
    if (p.values && int64_t(p.values->size()) != spatial)
      return violates(*this, p.count) << p.name << " has " << p.values->size() << " entries for "
                                      << spatial << " spatial dimensions";
    if (p.values && llvm::any_of(*p.values, [](int64_t v) { return v <= 0; }))
      return violates(*this, p.positive)
             << p.name << " " << shapeText(*p.values) << " must be positive";
  }
  if (getPadding() && getPadding()->getType().getShape() != ArrayRef<int64_t>({spatial, 2}))
    return violates(*this, 4) << "padding has shape "
                              << shapeText(getPadding()->getType().getShape()) << ", expected "
                              << shapeText({spatial, 2});
  if (getWindowReversal() && int64_t(getWindowReversal()->size()) != spatial)
    return violates(*this, 9) << "window_reversal has " << getWindowReversal()->size()
                              << " entries for " << spatial << " spatial dimensions";
  ConvDimensionNumbersAttr dims = getDimensionNumbers();
  if (failed(verifyRoles(*this, "the input", dims.getInputBatchDimension(),
                         dims.getInputFeatureDimension(), dims.getInputSpatialDimensions(), rank,
                         12, 13)) ||
      failed(verifyRoles(*this, "the kernel", dims.getKernelInputFeatureDimension(),
                         dims.getKernelOutputFeatureDimension(), dims.getKernelSpatialDimensions(),
                         rank, 17, 18)) ||
      failed(verifyRoles(*this, "the output", dims.getOutputBatchDimension(),
                         dims.getOutputFeatureDimension(), dims.getOutputSpatialDimensions(), rank,
                         19, 20)))
    return failure();
  int64_t groups = getFeatureGroupCount(), batchGroups = getBatchGroupCount();
  if (groups <= 0)
    return violates(*this, 21) << "feature_group_count is " << groups;
  if (batchGroups <= 0)
    return violates(*this, 22) << "batch_group_count is " << batchGroups;
  if (groups != 1 && batchGroups != 1)
    return violates(*this, 23) << "one of feature_group_count and batch_group_count must be 1";
  int64_t batch = lhs.getDimSize(dims.getInputBatchDimension()),
          in = lhs.getDimSize(dims.getInputFeatureDimension());
  int64_t kernelIn = rhs.getDimSize(dims.getKernelInputFeatureDimension());
  int64_t kernelOut = rhs.getDimSize(dims.getKernelOutputFeatureDimension());
  auto divides = [](int64_t by, int64_t size) {
    return ShapedType::isDynamic(size) || size % by == 0;
  };
  if (!divides(batchGroups, batch))
    return violates(*this, 10) << "a batch of " << batch << " in " << batchGroups << " groups";
  if (!divides(groups, in))
    return violates(*this, 11) << in << " input features in " << groups << " groups";
  if (!ShapedType::isDynamic(in) && !sameSize(kernelIn, in / groups))
    return violates(*this, 14) << "the kernel takes " << kernelIn << " input features, expected "
                               << in / groups;
  if (!divides(batchGroups, kernelOut))
    return violates(*this, 15) << kernelOut << " output features in " << batchGroups
                               << " batch groups";
  if (!divides(groups, kernelOut))
    return violates(*this, 16) << kernelOut << " output features in " << groups << " groups";
  SmallVector<int64_t> padding(2 * spatial, 0), shape(rank);
  if (getPadding())
    llvm::copy(getPadding()->getValues<int64_t>(), padding.begin());
  auto at = [](std::optional<ArrayRef<int64_t>> values, int64_t i) {
    return values ? (*values)[i] : 1;
  };
  shape[dims.getOutputBatchDimension()] =
      ShapedType::isDynamic(batch) ? batch : batch / batchGroups;
  shape[dims.getOutputFeatureDimension()] = kernelOut;
  for (int64_t i = 0; i < spatial; ++i) {
    int64_t padded = paddedSize(lhs.getDimSize(dims.getInputSpatialDimensions()[i]),
                                at(getLhsDilation(), i), padding[2 * i], padding[2 * i + 1]);
    shape[dims.getOutputSpatialDimensions()[i]] =
        windowCount(padded, rhs.getDimSize(dims.getKernelSpatialDimensions()[i]),
                    at(getRhsDilation(), i), at(getWindowStrides(), i));
  }
  return verifyResultShape(*this, result, shape, 25);
}

} // namespace tessera::stablehlo
