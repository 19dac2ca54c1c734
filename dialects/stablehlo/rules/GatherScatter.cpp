// gather and scatter.
//
//   gather rows of 640x192 at 8x96     ([v, d], [b, t, x]) -> ([b, t, d])
//       v reduces: a device finds the rows of its shard and zero for all others; x, the index
//       vector, is whole
//   scatter-add into 640x192           ([v, d], [b, t, x], [b, t, d]) -> ([v, d])
//       v passes through: a device drops the updates outside of its shard; b and t reduce
//   Rows of windows longer than one go the same way, each of them; along the window they are whole.
//   Windows that no index moves, and cover part of a dimension, need it whole, as do b and t of
//   updates that overwrite each other.
#include "dialects/stablehlo/Combiner.h"
#include "dialects/stablehlo/rules/RuleBuilder.h"
#include "dialects/stablehlo/rules/Rules.h"

namespace tessera::stablehlo {

namespace {

using Kind = RuleBuilder::Kind;
using sharding::ReductionKind;
using Dims = llvm::ArrayRef<int64_t>;

bool in(Dims dims, size_t dim) { return llvm::is_contained(dims, int64_t(dim)); }

// The dimensions of a tensor of `rank` that are not in `others`, in order.
llvm::SmallVector<int64_t> except(size_t rank, Dims others) {
  llvm::SmallVector<int64_t> dims;
  for (size_t d = 0; d < rank; ++d)
    if (!in(others, d))
      dims.push_back(d);
  return dims;
}

// The place of each dimension of the indices among the batch dimensions of the result or updates;
// -1 for the vector's.
llvm::SmallVector<int64_t> batchPlaces(size_t indexRank, int64_t vectorDim) {
  llvm::SmallVector<int64_t> places;
  for (int64_t d = 0, at = 0; d < int64_t(indexRank); ++d)
    places.push_back(d == vectorDim ? -1 : at++);
  return places;
}

} // namespace

sharding::FactorRule ruleOf(GatherOp op) {
  RuleBuilder builder(op);
  GatherDimensionNumbersAttr dims = op.getDimensionNumbers();
  Dims operand = shapeOf(op.getOperand()), indices = shapeOf(op.getStartIndices()),
       sizes = op.getSliceSizes(), result = shapeOf(op.getResult());
  bool predicate = op.getType().getElementType().isInteger(1);
  llvm::SmallVector<int64_t> batch = except(result.size(), dims.getOffsetDims());

  llvm::SmallVector<int32_t> indexFactors;
  auto places = batchPlaces(indices.size(), dims.getIndexVectorDim());
  for (size_t d = 0; d < indices.size(); ++d) {
    int32_t factor =
        builder.factor(indices[d], places[d] < 0 ? Kind::NeedReplication : Kind::PassThrough);
    indexFactors.push_back(factor);
    builder.operand(1, d, factor);
    if (places[d] >= 0)
      builder.result(0, batch[places[d]], factor);
  }
  for (auto [o, i] :
       llvm::zip_equal(dims.getOperandBatchingDims(), dims.getStartIndicesBatchingDims()))
    builder.operand(0, o, indexFactors[i]);

  size_t offset = 0;
  for (size_t d = 0; d < operand.size(); ++d) {
    if (in(dims.getOperandBatchingDims(), d))
      continue;
    bool collapsed = in(dims.getCollapsedSliceDims(), d);
    bool indexed = in(dims.getStartIndexMap(), d);
    int64_t at = collapsed ? -1 : dims.getOffsetDims()[offset++];
    if (sizes[d] == operand[d]) {
      int32_t factor = builder.factor(operand[d]);
      builder.operand(0, d, factor);
      if (!collapsed)
        builder.result(0, at, factor);
      continue;
    }
    builder.operand(0, d,
                    builder.factor(operand[d], indexed ? Kind::Reduction : Kind::NeedReplication,
                                   predicate ? ReductionKind::Or : ReductionKind::Sum));
    if (!collapsed)
      builder.result(0, at, builder.factor(sizes[d], Kind::NeedReplication));
  }
  return builder.take();
}

sharding::FactorRule ruleOf(ScatterOp op) {
  RuleBuilder builder(op);
  ScatterDimensionNumbersAttr dims = op.getScatterDimensionNumbers();
  size_t count = op.getInputs().size();
  Dims operand = shapeOf(op.getInputs()[0]), indices = shapeOf(op.getScatterIndices()),
       updates = shapeOf(op.getUpdates()[0]);
  std::optional<ReductionKind> combiner = combinerOf(op.getUpdateComputation());
  llvm::SmallVector<int64_t> batch = except(updates.size(), dims.getUpdateWindowDims());
  auto onOperands = [&](size_t dim, int32_t factor) {
    for (size_t i = 0; i < count; ++i)
      builder.operand(i, dim, factor).result(i, dim, factor);
  };
  auto onUpdates = [&](size_t dim, int32_t factor) {
    for (size_t i = 0; i < count; ++i)
      builder.operand(count + 1 + i, dim, factor);
  };

  llvm::SmallVector<int32_t> indexFactors;
  auto places = batchPlaces(indices.size(), dims.getIndexVectorDim());
  for (size_t d = 0; d < indices.size(); ++d) {
    Kind kind = combiner ? Kind::Reduction : Kind::NeedReplication;
    if (places[d] < 0)
      kind = Kind::NeedReplication;
    else if (in(dims.getScatterIndicesBatchingDims(), d))
      kind = Kind::PassThrough;
    int32_t factor = builder.factor(indices[d], kind, combiner.value_or(ReductionKind::Sum));
    indexFactors.push_back(factor);
    builder.operand(count, d, factor);
    if (places[d] >= 0)
      onUpdates(batch[places[d]], factor);
  }
  for (auto [o, i] :
       llvm::zip_equal(dims.getInputBatchingDims(), dims.getScatterIndicesBatchingDims()))
    onOperands(o, indexFactors[i]);

  size_t window = 0;
  for (size_t d = 0; d < operand.size(); ++d) {
    if (in(dims.getInputBatchingDims(), d))
      continue;
    bool inserted = in(dims.getInsertedWindowDims(), d);
    bool indexed = in(dims.getScatterDimsToOperandDims(), d);
    int64_t at = inserted ? -1 : dims.getUpdateWindowDims()[window++];
    int64_t size = inserted ? 1 : updates[at];
    if (size == operand[d] && !indexed) {
      int32_t factor = builder.factor(size);
      onOperands(d, factor);
      if (!inserted)
        onUpdates(at, factor);
      continue;
    }
    onOperands(d, builder.factor(operand[d], indexed ? Kind::PassThrough : Kind::NeedReplication));
    if (!inserted)
      onUpdates(at, builder.factor(size, Kind::NeedReplication));
  }
  return builder.take();
}

// As a gather of whole rows along `dim`.
sharding::FactorRule ruleOf(TorchIndexSelectOp op) {
  RuleBuilder builder(op);
  Dims operand = shapeOf(op.getOperand()), index = shapeOf(op.getIndex());
  size_t dim = op.getDim(), batchDims = op.getBatchDims();
  for (size_t d = 0; d < operand.size(); ++d) {
    if (d == dim) {
      builder.operand(0, d, builder.factor(operand[d], Kind::NeedReplication));
      continue;
    }
    int32_t factor = builder.factor(operand[d]);
    builder.operand(0, d, factor);
    builder.result(0, d < dim ? d : d - 1 + index.size() - batchDims, factor);
    if (d < batchDims)
      builder.operand(1, d, factor);
  }
  for (size_t d = batchDims; d < index.size(); ++d) {
    int32_t factor = builder.factor(index[d]);
    builder.operand(1, d, factor).result(0, dim + d - batchDims, factor);
  }
  return builder.take();
}

} // namespace tessera::stablehlo
