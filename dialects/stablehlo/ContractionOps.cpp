#include "dialects/stablehlo/Constraints.h"
#include "dialects/stablehlo/ShapeInference.h"
#include "dialects/stablehlo/StablehloAssembly.h"
#include "mlir/Dialect/Quant/IR/QuantTypes.h"
#include "llvm/Support/MathExtras.h"

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
  SmallVector<int64_t> shape = inferShapes(*this).front();
  if (!sameShape(getType().getShape(), shape))
    return emitOpError() << "returns " << shapeText(getType().getShape()) << ", expected "
                         << shapeText(shape);
  return success();
}

// Quantized weights with quantized or real operands; the numbers of the specification's
// constraints.
struct QuantizedConstraints {
  int operands, storage, expressed, perTensor, real;
};
static LogicalResult verifyQuantized(Operation *op, RankedTensorType lhs, RankedTensorType rhs,
                                     RankedTensorType result, QuantizedConstraints constraints) {
  auto l = dyn_cast<quant::QuantizedType>(lhs.getElementType()),
       r = dyn_cast<quant::QuantizedType>(rhs.getElementType()),
       to = dyn_cast<quant::QuantizedType>(result.getElementType());
  if (!r || !l != !to)
    return violates(op, constraints.operands)
           << "rhs must be quantized, and lhs just when the result is: " << lhs << ", " << rhs
           << ", " << result;
  if (!l) {
    if (lhs.getElementType() != r.getExpressedType() ||
        lhs.getElementType() != result.getElementType())
      return violates(op, constraints.real)
             << "lhs and the result must have the elements that rhs expresses: " << lhs << ", "
             << rhs << ", " << result;
    return success();
  }
  if (l.getStorageType() != r.getStorageType() || l.isSigned() != r.isSigned())
    return violates(op, constraints.storage)
           << "operands are stored as " << l.getStorageType() << " and " << r.getStorageType();
  if (l.getExpressedType() != r.getExpressedType() || l.getExpressedType() != to.getExpressedType())
    return violates(op, constraints.expressed)
           << "operands and result must express one type: " << lhs << ", " << rhs << ", " << result;
  if (isa<quant::UniformQuantizedType>(r) && !isa<quant::UniformQuantizedType>(to))
    return violates(op, constraints.perTensor)
           << "the result must be quantized per tensor, as rhs is";
  return success();
}

// Whether some hardware computes by `a`: what the specification refers to for those that are
// supported, XLA's list of algorithms. A decomposition may leave its components unsaid, as 1.
static bool isKnown(DotAlgorithmAttr a) {
  Type lhs = a.getLhsPrecisionType(), rhs = a.getRhsPrecisionType(), sum = a.getAccumulationType();
  int64_t products = a.getNumPrimitiveOperations();
  auto consistsOf = [&](int64_t components) {
    int64_t l = a.getLhsComponentCount(), r = a.getRhsComponentCount();
    return l == r && (l == 1 || l == components);
  };
  auto isFloat8 = [](Type type) {
    return isa<FloatType>(type) && type.getIntOrFloatBitWidth() == 8 &&
           !isa<Float8E8M0FNUType>(type);
  };
  if (isFloat8(lhs) && isFloat8(rhs))
    return sum.isF32() && products == 1 && consistsOf(1);
  if (lhs != rhs || a.getAllowImpreciseAccumulation())
    return false;
  if (products == 1) // rounded once
    return consistsOf(1) &&
           ((lhs == sum && (lhs.isF16() || lhs.isBF16() || lhs.isF32() || lhs.isF64())) ||
            (sum.isF32() && (lhs.isF16() || lhs.isBF16() || lhs.isTF32())));
  if (!sum.isF32())
    return false;
  return (lhs.isBF16() && ((products == 3 && consistsOf(2)) ||
                           ((products == 6 || products == 9) && consistsOf(3)))) ||
         (lhs.isTF32() && products == 3 && consistsOf(2));
}

static LogicalResult verifyAlgorithm(DotGeneralOp op, DotAlgorithmAttr algorithm) {
  auto precision = op.getPrecisionConfig();
  if (precision && llvm::any_of(*precision, [](Attribute p) {
        return cast<PrecisionAttr>(p).getValue() != Precision::DEFAULT;
      }))
    return violates(op, 21) << "an algorithm is given, so that precision_config must be DEFAULT";
  for (auto [count, name, constraint] :
       {std::tuple(algorithm.getLhsComponentCount(), "lhs_component_count", 22),
        std::tuple(algorithm.getRhsComponentCount(), "rhs_component_count", 23),
        std::tuple(algorithm.getNumPrimitiveOperations(), "num_primitive_operations", 24)})
    if (count <= 0)
      return violates(op, constraint) << name << " is " << count;
  if (!isKnown(algorithm))
    return op.emitOpError() << "computes by an algorithm that no hardware is known to have: "
                            << algorithm;
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
  if (failed(verifyInferredShapes(*this, 12)))
    return failure();
  if (std::optional<DotAlgorithmAttr> algorithm = getAlgorithm())
    if (failed(verifyAlgorithm(*this, *algorithm)))
      return failure();
  Type l = lhs.getElementType(), r = rhs.getElementType();
  if (!isa<quant::QuantizedType>(r) && !isa<quant::QuantizedType>(l) &&
      !isa<quant::QuantizedType>(getType().getElementType())) {
    // Frontends multiply numbers of two formats: f8E4M3FN by f8E5M2, bf16 by i8.
    if (l != r && !(l.isIntOrFloat() && r.isIntOrFloat()))
      return violates(*this, 13) << "lhs has elements " << l << ", rhs " << r;
    return success();
  }
  if (failed(verifyQuantized(*this, lhs, rhs, getType(), {14, 17, 18, 19, 20})))
    return failure();
  auto perTensor = dyn_cast<quant::UniformQuantizedType>(r);
  auto perAxis = dyn_cast<quant::UniformQuantizedPerAxisType>(r);
  if ((perTensor && perTensor.getZeroPoint() != 0) ||
      (perAxis && llvm::any_of(perAxis.getZeroPoints(), [](int64_t z) { return z != 0; })))
    return violates(*this, 15) << "the zero points of rhs must be 0: " << rhs;
  if (perAxis && llvm::is_contained(rhsContract, perAxis.getQuantizedDimension()))
    return violates(*this, 16) << "rhs is quantized along dimension "
                               << perAxis.getQuantizedDimension() << ", which is contracted";
  return success();
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

// Static and dynamic convolutions; the padding may be a value.
template <typename ConvOp>
static LogicalResult verifyConvolution(ConvOp op, std::optional<DenseIntElementsAttr> pads) {
  RankedTensorType lhs = op.getLhs().getType(), rhs = op.getRhs().getType(), result = op.getType();
  int64_t rank = lhs.getRank(), spatial = rank - 2;
  if (rhs.getRank() != rank || spatial < 0)
    return violates(op, 1) << "operands have ranks " << rank << " and " << rhs.getRank();
  if (result.getRank() != rank)
    return violates(op, 26) << "the result has rank " << result.getRank() << ", the operands "
                            << rank;
  struct PerDimension {
    StringRef name;
    std::optional<ArrayRef<int64_t>> values;
    int count, positive;
  };
  for (const PerDimension &p : {PerDimension{"window_strides", op.getWindowStrides(), 2, 3},
                                PerDimension{"lhs_dilation", op.getLhsDilation(), 5, 6},
                                PerDimension{"rhs_dilation", op.getRhsDilation(), 7, 8}}) {
    if (p.values && int64_t(p.values->size()) != spatial)
      return violates(op, p.count) << p.name << " has " << p.values->size() << " entries for "
                                   << spatial << " spatial dimensions";
    if (p.values && llvm::any_of(*p.values, [](int64_t v) { return v <= 0; }))
      return violates(op, p.positive)
             << p.name << " " << shapeText(*p.values) << " must be positive";
  }
  if (pads && pads->getType().getShape() != ArrayRef<int64_t>({spatial, 2}))
    return violates(op, 4) << "padding has shape " << shapeText(pads->getType().getShape())
                           << ", expected " << shapeText({spatial, 2});
  if (op.getWindowReversal() && int64_t(op.getWindowReversal()->size()) != spatial)
    return violates(op, 9) << "window_reversal has " << op.getWindowReversal()->size()
                           << " entries for " << spatial << " spatial dimensions";
  ConvDimensionNumbersAttr dims = op.getDimensionNumbers();
  if (failed(verifyRoles(op, "the input", dims.getInputBatchDimension(),
                         dims.getInputFeatureDimension(), dims.getInputSpatialDimensions(), rank,
                         12, 13)) ||
      failed(verifyRoles(op, "the kernel", dims.getKernelInputFeatureDimension(),
                         dims.getKernelOutputFeatureDimension(), dims.getKernelSpatialDimensions(),
                         rank, 17, 18)) ||
      failed(verifyRoles(op, "the output", dims.getOutputBatchDimension(),
                         dims.getOutputFeatureDimension(), dims.getOutputSpatialDimensions(), rank,
                         19, 20)))
    return failure();
  int64_t groups = op.getFeatureGroupCount(), batchGroups = op.getBatchGroupCount();
  if (groups <= 0)
    return violates(op, 21) << "feature_group_count is " << groups;
  if (batchGroups <= 0)
    return violates(op, 22) << "batch_group_count is " << batchGroups;
  if (groups != 1 && batchGroups != 1)
    return violates(op, 23) << "one of feature_group_count and batch_group_count must be 1";
  int64_t batch = lhs.getDimSize(dims.getInputBatchDimension()),
          in = lhs.getDimSize(dims.getInputFeatureDimension());
  int64_t kernelIn = rhs.getDimSize(dims.getKernelInputFeatureDimension());
  int64_t kernelOut = rhs.getDimSize(dims.getKernelOutputFeatureDimension());
  auto divides = [](int64_t by, int64_t size) {
    return ShapedType::isDynamic(size) || size % by == 0;
  };
  if (!divides(batchGroups, batch))
    return violates(op, 10) << "a batch of " << batch << " in " << batchGroups << " groups";
  if (!divides(groups, in))
    return violates(op, 11) << in << " input features in " << groups << " groups";
  if (!ShapedType::isDynamic(in) && !sameSize(kernelIn, in / groups))
    return violates(op, 14) << "the kernel takes " << kernelIn << " input features, expected "
                            << in / groups;
  if (!divides(batchGroups, kernelOut))
    return violates(op, 15) << kernelOut << " output features in " << batchGroups
                            << " batch groups";
  if (!divides(groups, kernelOut))
    return violates(op, 16) << kernelOut << " output features in " << groups << " groups";
  if (auto precision = op.getPrecisionConfig();
      precision && !precision->empty() && precision->size() != 2)
    return violates(op, 24) << "precision_config has " << precision->size()
                            << " entries, two are needed";
  if (failed(verifyInferredShapes(op, 25)))
    return failure();
  Type l = lhs.getElementType(), r = rhs.getElementType();
  if (!isa<quant::QuantizedType>(r) && !isa<quant::QuantizedType>(l) &&
      !isa<quant::QuantizedType>(result.getElementType())) {
    if (l != r)
      return violates(op, 27) << "lhs has elements " << l << ", rhs " << r;
    return success();
  }
  if (failed(verifyQuantized(op, lhs, rhs, result, {28, 31, 32, 33, 34})))
    return failure();
  auto kernelAxis = dyn_cast<quant::UniformQuantizedPerAxisType>(r);
  if (kernelAxis && kernelAxis.getQuantizedDimension() != dims.getKernelOutputFeatureDimension())
    return violates(op, 29) << "the kernel is quantized along dimension "
                            << kernelAxis.getQuantizedDimension()
                            << ", which is not its output features";
  auto axis = dyn_cast<quant::UniformQuantizedPerAxisType>(result.getElementType());
  if (axis && axis.getQuantizedDimension() != dims.getOutputFeatureDimension())
    return violates(op, 30) << "the result is quantized along dimension "
                            << axis.getQuantizedDimension() << ", which is not its features";
  return success();
}

LogicalResult ConvolutionOp::verify() { return verifyConvolution(*this, getPadding()); }

LogicalResult DynamicConvOp::verify() {
  RankedTensorType padding = getPadding().getType();
  int64_t spatial = getLhs().getType().getRank() - 2;
  if (padding.getShape() != ArrayRef<int64_t>{spatial, 2})
    return violates(*this, 4) << "padding has shape " << shapeText(padding.getShape())
                              << ", expected " << shapeText({spatial, 2});
  return verifyConvolution(*this, std::nullopt);
}

//===-------------------------------- Interfaces ------------------------------===//

static double elementsOf(RankedTensorType type) {
  return type.hasStaticShape() ? static_cast<double>(type.getNumElements()) : 0;
}

double DotGeneralOp::getFlops() {
  double depth = 1;
  for (int64_t dim : getDotDimensionNumbers().getLhsContractingDimensions())
    depth *= static_cast<double>(getLhs().getType().getDimSize(dim));
  return 2 * depth * elementsOf(getType());
}

double DotOp::getFlops() {
  return 2 * static_cast<double>(getLhs().getType().getShape().back()) * elementsOf(getType());
}

// Along one dimension: how many elements of the input the windows of all places hold, padding and
// holes left out.
static double elementsInWindows(int64_t input, int64_t window, int64_t places, int64_t stride,
                                int64_t low, int64_t inputDilation, int64_t windowDilation) {
  int64_t end = (input - 1) * inputDilation; // of what is dilated, beside its padding
  double count = 0;
  for (int64_t k = 0; k < window; ++k) {
    int64_t shift = k * windowDilation - low; // place o reads o * stride + shift
    int64_t first = shift >= 0 ? 0 : llvm::divideCeil(-shift, stride);
    int64_t last = shift > end ? -1 : std::min(places - 1, (end - shift) / stride);
    count += static_cast<double>(std::max<int64_t>(last - first + 1, 0));
  }
  return count / static_cast<double>(inputDilation);
}

double ConvolutionOp::getFlops() {
  ConvDimensionNumbersAttr dims = getDimensionNumbers();
  RankedTensorType input = getLhs().getType(), kernel = getRhs().getType(), result = getType();
  if (!input.hasStaticShape() || !kernel.hasStaticShape() || elementsOf(result) == 0)
    return 0;
  size_t rank = dims.getInputSpatialDimensions().size();
  Shape padding = paddingOf(getPadding(), rank);
  auto at = [](std::optional<ArrayRef<int64_t>> list, size_t d) { return list ? (*list)[d] : 1; };
  double flops = 2 * elementsOf(result) *
                 static_cast<double>(kernel.getDimSize(dims.getKernelInputFeatureDimension()));
  for (size_t d = 0; d < rank; ++d) {
    int64_t places = result.getDimSize(dims.getOutputSpatialDimensions()[d]);
    flops *= elementsInWindows(input.getDimSize(dims.getInputSpatialDimensions()[d]),
                               kernel.getDimSize(dims.getKernelSpatialDimensions()[d]), places,
                               at(getWindowStrides(), d), padding[2 * d], at(getLhsDilation(), d),
                               at(getRhsDilation(), d)) /
             static_cast<double>(places);
  }
  return flops;
}

} // namespace tessera::stablehlo
