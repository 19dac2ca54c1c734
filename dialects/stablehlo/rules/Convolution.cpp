// convolution: batch and output features pass through, input features reduce, spatial dimensions
// permute.
//
//   [b,0,f]x[0,i,o]->[b,0,f]    ([b, s, i], [w, i, o]) -> ([b, s, o])      i reduces, s permutes, w whole
//   [f,0,b]x[i,0,o]->[0,b,f]    ([i, s, b], [i, s, o]) -> ([w, b, o])      i and s reduce, w whole
//   feature groups g            ([b, s, gi], [w, i, go]) -> ([b, s, go])
//   batch groups g              ([gb, s, i], [w, i, go]) -> ([b, s, go])
//
// The second is the gradient of a kernel: the window is (about) as large as the image and the result
// small. A sharded s needs a halo of the input: of its window's extent around each shard.
#include "dialects/stablehlo/rules/RuleBuilder.h"
#include "dialects/stablehlo/rules/Rules.h"

namespace tessera::stablehlo {

using Kind = RuleBuilder::Kind;

sharding::FactorRule ruleOf(ConvolutionOp op) {
  RuleBuilder builder(op);
  ConvDimensionNumbersAttr dims = op.getDimensionNumbers();
  llvm::ArrayRef<int64_t> lhs = shapeOf(op.getLhs()), rhs = shapeOf(op.getRhs()),
                          out = shapeOf(op.getResult());
  int64_t batchGroups = op.getBatchGroupCount(), featureGroups = op.getFeatureGroupCount();
  int64_t outFeatures = out[dims.getOutputFeatureDimension()];

  // Groups are the major part of the dimensions that they divide.
  if (batchGroups > 1) {
    int32_t group = builder.factor(batchGroups);
    builder.operand(0, dims.getInputBatchDimension(), group)
        .operand(1, dims.getKernelOutputFeatureDimension(), group)
        .result(0, dims.getOutputFeatureDimension(), group);
  }
  if (featureGroups > 1) {
    int32_t group = builder.factor(featureGroups);
    builder.operand(0, dims.getInputFeatureDimension(), group)
        .operand(1, dims.getKernelOutputFeatureDimension(), group)
        .result(0, dims.getOutputFeatureDimension(), group);
  }
  if (int64_t batch = out[dims.getOutputBatchDimension()]; batch > 1 || batchGroups == 1) {
    int32_t factor = builder.factor(batch);
    builder.operand(0, dims.getInputBatchDimension(), factor)
        .result(0, dims.getOutputBatchDimension(), factor);
  } else {
    builder.result(0, dims.getOutputBatchDimension(), builder.factor(1));
  }
  if (int64_t own = outFeatures / (batchGroups * featureGroups);
      own > 1 || batchGroups * featureGroups == 1) {
    int32_t factor = builder.factor(own);
    builder.operand(1, dims.getKernelOutputFeatureDimension(), factor)
        .result(0, dims.getOutputFeatureDimension(), factor);
  }
  int64_t inFeatures = rhs[dims.getKernelInputFeatureDimension()];
  int32_t reduced = builder.factor(inFeatures, Kind::Reduction);
  builder.operand(1, dims.getKernelInputFeatureDimension(), reduced);
  if (inFeatures > 1 || featureGroups == 1)
    builder.operand(0, dims.getInputFeatureDimension(), reduced);

  for (auto [i, k, o] :
       llvm::zip_equal(dims.getInputSpatialDimensions(), dims.getKernelSpatialDimensions(),
                       dims.getOutputSpatialDimensions())) {
    if (rhs[k] > out[o]) { // the gradient of a kernel
      int32_t image = builder.factor(rhs[k], Kind::Reduction);
      builder.operand(0, i, image).operand(1, k, image);
      builder.result(0, o, builder.factor(out[o], Kind::NeedReplication));
    } else {
      bool pointwise = rhs[k] == 1 && lhs[i] == out[o];
      int32_t image = builder.factor(std::min(lhs[i], out[o]),
                                     pointwise ? Kind::PassThrough : Kind::Permutation);
      builder.operand(0, i, image).result(0, o, image);
      builder.operand(1, k, builder.factor(rhs[k], Kind::NeedReplication));
    }
  }
  return builder.take();
}

} // namespace tessera::stablehlo
