// convolution. Batch and features as in a contraction; spatial dimensions by halo exchange.
//
//   [b, s, i] x [w, i, o] -> [b, s, o], s sharded
//     each shard convolves its rows and the halo its windows reach, without padding: rows past the
//     image's ends are zeros by select
//   [i, s, b] x [i, s, o] -> [w, b, o], s sharded: the gradient of a kernel
//     each shard has some of the window's rows and the part of the image that they meet; the result
//     is a partial sum
#include "passes/localize/Handlers.h"
#include "passes/localize/WindowRows.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace tessera::localize {
namespace {

struct ConvolutionWindows {
  SmallVector<WindowDim> dims;
  SmallVector<bool> reversed;
};

ConvolutionWindows windowsOf(stablehlo::ConvolutionOp conv) {
  ArrayRef<int64_t> spatial = conv.getDimensionNumbers().getKernelSpatialDimensions();
  ConvolutionWindows windows;
  for (auto [i, k] : llvm::enumerate(spatial)) {
    WindowDim dim{shapeOf(conv.getRhs())[k]};
    if (auto strides = conv.getWindowStrides())
      dim.stride = (*strides)[i];
    if (auto dilation = conv.getRhsDilation())
      dim.dilation = (*dilation)[i];
    if (auto dilation = conv.getLhsDilation())
      dim.baseDilation = (*dilation)[i];
    if (auto padding = conv.getPadding()) {
      dim.low = padding->getValues<int64_t>()[2 * i];
      dim.high = padding->getValues<int64_t>()[2 * i + 1];
    }
    windows.dims.push_back(dim);
    auto reversal = conv.getWindowReversal();
    windows.reversed.push_back(reversal && (*reversal)[i]);
  }
  return windows;
}

// Groups are the major part of the dimensions they divide: sharded only by whole groups, evenly.
bool shardGroups(int64_t &groups, const DimLayout &dim, int64_t size) {
  int64_t shards = sharding::shardCount(dim.axes);
  if (groups % shards != 0 || isUneven(dim, size))
    return false;
  groups /= shards;
  return true;
}

class LocalConvolution {
public:
  LocalConvolution(Localizer &l, stablehlo::ConvolutionOp conv)
      : l(l), conv(conv), dims(conv.getDimensionNumbers()), lhs(conv.getLhs()), rhs(conv.getRhs()),
        result(conv.getResult()), lhsFrom(l.local(lhs).layout), rhsFrom(l.local(rhs).layout),
        layout(l.annotated(result)), annotatedPartial(layout.partial), lhsWant(lhsFrom),
        rhsWant(l.whole(rhs)), featureGroups(conv.getFeatureGroupCount()),
        batchGroups(conv.getBatchGroupCount()), windows(windowsOf(conv)) {}

  void run() {
    placeBatchAndFeatures();
    placeContraction();
    for (size_t i = 0; i < windows.dims.size(); ++i)
      kinds.push_back(placeSpatial(i));
    moveOperands();
    build();
  }

private:
  // A spatial dimension is sharded in the result (halo), in the kernel (partial sums), or whole.
  enum class Spatial { Whole, Halo, Kernel };

  void placeBatchAndFeatures();
  void placeContraction();
  Spatial placeSpatial(size_t i);
  void moveOperands();
  void build();

  bool isGrouped() { return conv.getFeatureGroupCount() > 1 || conv.getBatchGroupCount() > 1; }

  // Whether a dimension that is summed over may stay sharded: its axes become the result's parts.
  bool reduces(const DimLayout &dim) {
    if (!isSharded(dim) || sharding::overlap(dim.axes, used))
      return false;
    addAxes(used, dim.axes);
    addAxes(partial, dim.axes);
    return true;
  }

  Localizer &l;
  stablehlo::ConvolutionOp conv;
  stablehlo::ConvDimensionNumbersAttr dims;
  Value lhs, rhs, result;
  const LocalLayout lhsFrom, rhsFrom;
  LocalLayout layout; // of the result
  const AxisRefs annotatedPartial;
  LocalLayout lhsWant, rhsWant;
  int64_t featureGroups, batchGroups;
  ConvolutionWindows windows;
  SmallVector<Spatial> kinds;
  AxisRefs used, partial; // axes that the result is sharded or partial along
  Value left, right;
};

// What the result's dimensions say.
void LocalConvolution::placeBatchAndFeatures() {
  int64_t batch = dims.getInputBatchDimension(), inFeature = dims.getInputFeatureDimension();
  int64_t kernelOut = dims.getKernelOutputFeatureDimension();
  DimLayout &outBatch = layout.dims[dims.getOutputBatchDimension()];
  DimLayout &outFeature = layout.dims[dims.getOutputFeatureDimension()];
  // Both kinds of groups are as many parts of the kernel's output features.
  auto divide = [&](int64_t &groups, int64_t grouped) {
    if (!shardGroups(groups, outFeature, shapeOf(rhs)[kernelOut]))
      outFeature = wholeDim(shapeOf(rhs)[kernelOut]);
    lhsWant.dims[grouped] = {outFeature.axes,
                             shapeOf(lhs)[grouped] / sharding::shardCount(outFeature.axes)};
  };
  if (batchGroups > 1) {
    outBatch = wholeDim(shapeOf(result)[dims.getOutputBatchDimension()]);
    divide(batchGroups, batch);
  } else {
    if (lhsFrom.dims[batch].axes == outBatch.axes)
      outBatch.tile = lhsFrom.dims[batch].tile;
    lhsWant.dims[batch] = outBatch;
  }
  if (featureGroups > 1)
    divide(featureGroups, inFeature);
  if (!isGrouped() && rhsFrom.dims[kernelOut].axes == outFeature.axes)
    outFeature.tile = rhsFrom.dims[kernelOut].tile;
  rhsWant.dims[kernelOut] = outFeature;
}

void LocalConvolution::placeContraction() {
  for (const DimLayout &dim : layout.dims)
    addAxes(used, dim.axes);
  if (conv.getFeatureGroupCount() > 1)
    return;
  DimLayout &feature = lhsWant.dims[dims.getInputFeatureDimension()];
  if (!reduces(feature))
    feature = wholeDim(shapeOf(lhs)[dims.getInputFeatureDimension()]);
  rhsWant.dims[dims.getKernelInputFeatureDimension()] = feature;
}

LocalConvolution::Spatial LocalConvolution::placeSpatial(size_t i) {
  const WindowDim &window = windows.dims[i];
  int64_t in = dims.getInputSpatialDimensions()[i], k = dims.getKernelSpatialDimensions()[i],
          o = dims.getOutputSpatialDimensions()[i];
  DimLayout &out = layout.dims[o];
  bool local = window.size == 1 && window.stride == 1 && window.low == 0 && window.high == 0 &&
               window.baseDilation == 1;
  if (local && lhsFrom.dims[in].axes == out.axes)
    out.tile = lhsFrom.dims[in].tile;
  if (isSharded(out) && keepsPhase(window, out.tile * window.stride)) {
    if (lhsWant.dims[in].axes != out.axes)
      lhsWant.dims[in] = wholeDim(shapeOf(lhs)[in]);
    return Spatial::Halo;
  }
  out = wholeDim(shapeOf(result)[o]);
  const DimLayout &kernel = rhsFrom.dims[k];
  if (keepsPhase(window, kernel.tile * window.dilation) && reduces(kernel)) {
    rhsWant.dims[k] = kernel;
    if (lhsWant.dims[in].axes != kernel.axes)
      lhsWant.dims[in] = wholeDim(shapeOf(lhs)[in]);
    return Spatial::Kernel;
  }
  lhsWant.dims[in] = wholeDim(shapeOf(lhs)[in]);
  return Spatial::Whole;
}

void LocalConvolution::moveOperands() {
  lhsWant.partial = rhsWant.partial = annotatedPartial;
  left = l.get(lhs, lhsWant);
  right = l.get(rhs, rhsWant);
  Value zero = zeros(l, RankedTensorType::get({}, getElementTypeOrSelf(left.getType())));
  Value rightZero = zeros(l, RankedTensorType::get({}, getElementTypeOrSelf(right.getType())));
  if (conv.getFeatureGroupCount() == 1) {
    int64_t inFeature = dims.getInputFeatureDimension(),
            kernelIn = dims.getKernelInputFeatureDimension();
    left = maskPadding(l, left, inFeature, lhsWant.dims[inFeature], shapeOf(lhs)[inFeature], zero);
    right =
        maskPadding(l, right, kernelIn, rhsWant.dims[kernelIn], shapeOf(rhs)[kernelIn], rightZero);
  }
  for (auto [i, window] : llvm::enumerate(windows.dims)) {
    int64_t in = dims.getInputSpatialDimensions()[i], k = dims.getKernelSpatialDimensions()[i],
            o = dims.getOutputSpatialDimensions()[i];
    int64_t size = shapeOf(lhs)[in];
    if (kinds[i] == Spatial::Halo) {
      const DimLayout &out = layout.dims[o];
      int64_t span = (out.tile - 1) * window.stride + (window.size - 1) * window.dilation + 1;
      left = windowRows(l, left, in, lhsWant.dims[in], size, out.axes, out.tile * window.stride,
                        -window.low, span, window, zero);
    } else if (kinds[i] == Spatial::Kernel) {
      const DimLayout kernel = rhsWant.dims[k];
      right = maskPadding(l, right, k, kernel, window.size, rightZero);
      int64_t span =
          (shapeOf(result)[o] - 1) * window.stride + (kernel.tile - 1) * window.dilation + 1;
      int64_t step = kernel.tile * window.dilation, offset = -window.low;
      if (windows.reversed[i]) // the kernel's last rows meet the image's first
        offset += (window.size - kernel.tile) * window.dilation, step = -step;
      left = windowRows(l, left, in, lhsWant.dims[in], size, kernel.axes, step, offset, span,
                        window, zero);
    }
  }
}

void LocalConvolution::build() {
  layout.partial = partial;
  layout.reduction = ReductionKind::Sum;
  addAxes(layout.partial, commonAxes(lhsFrom.partial, annotatedPartial));
  addAxes(layout.partial, commonAxes(rhsFrom.partial, annotatedPartial));
  auto made =
      cast<stablehlo::ConvolutionOp>(l.copy(conv, {left, right}, l.localType(result, layout)));
  SmallVector<int64_t> padding;
  for (const WindowDim &window : windows.dims)
    padding.append({window.low, window.high});
  auto type = RankedTensorType::get({int64_t(windows.dims.size()), 2}, l.b.getI64Type());
  if (!windows.dims.empty())
    made.setPaddingAttr(DenseIntElementsAttr::get(type, padding));
  made.setFeatureGroupCount(featureGroups);
  made.setBatchGroupCount(batchGroups);
  l.bind(result, made.getResult(), layout);
}

} // namespace

LogicalResult localizeConvolution(Localizer &l, Operation *op) {
  LocalConvolution(l, cast<stablehlo::ConvolutionOp>(op)).run();
  return success();
}

} // namespace tessera::localize
