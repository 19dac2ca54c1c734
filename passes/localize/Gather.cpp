// gather. Operand dimensions taken whole stay sharded in the result. Along a sharded dimension of
// which slices take one row, each shard looks up the rows it has and gives -0 for the others: a
// partial sum.
//
//   gather(%table, %i : 6x1), slice_sizes = [1, 8]      // %table: 10x8 [{"x"}, {}], x = 4, tile 3
//                                                       // the result: unreduced {"x"}
// becomes
//   %g = clamp(0, %i, 9);  %r = %g - 3 * my index;  %mine = 0 <= %r < 3
//   select(%mine, gather(%table, clamp(0, %r, 2)), -0)
//
// Clamping is by the global bounds first, as the op says. Of windows of several rows a shard may
// have some: it takes them from its rows with -0 around them, as many as a window has.
#include "passes/localize/Handlers.h"
#include "passes/localize/IndexColumns.h"
#include "passes/localize/Rows.h"

using namespace mlir;

namespace tessera::localize {
namespace {

struct GatherPlan {
  LocalLayout operand, indices, result;
  SmallVector<int64_t> sliceSizes;
  SmallVector<int64_t> looked; // sharded operand dimensions that are looked up
  int64_t window(int64_t dim) const { return sliceSizes[dim]; } // rows of one that is looked up
};

// The result's batch dimensions in order, with the dimension of the indices that each comes from.
SmallVector<std::pair<int64_t, int64_t>> batchDims(stablehlo::GatherDimensionNumbersAttr dims,
                                                   int64_t resultRank) {
  SmallVector<std::pair<int64_t, int64_t>> pairs;
  int64_t from = 0;
  for (int64_t r = 0; r < resultRank; ++r) {
    if (llvm::is_contained(dims.getOffsetDims(), r))
      continue;
    if (from == dims.getIndexVectorDim())
      ++from;
    pairs.push_back({r, from++});
  }
  return pairs;
}

GatherPlan planGather(Localizer &l, stablehlo::GatherOp gather) {
  stablehlo::GatherDimensionNumbersAttr dims = gather.getDimensionNumbers();
  Value operand = gather.getOperand(), indices = gather.getStartIndices(),
        result = gather.getResult();
  GatherPlan plan{l.local(operand).layout,
                  l.whole(indices),
                  l.annotated(result),
                  SmallVector<int64_t>(gather.getSliceSizes()),
                  {}};
  const AxisRefs annotatedPartial = plan.result.partial;
  for (auto [r, i] : batchDims(dims, shapeOf(result).size())) {
    const DimLayout &have = l.local(indices).layout.dims[i];
    if (have.axes == plan.result.dims[r].axes)
      plan.result.dims[r].tile = have.tile;
    plan.indices.dims[i] = plan.result.dims[r];
    for (auto [o, s] :
         llvm::zip_equal(dims.getOperandBatchingDims(), dims.getStartIndicesBatchingDims()))
      if (s == i)
        plan.operand.dims[o] = plan.result.dims[r];
  }
  AxisRefs used;
  for (const DimLayout &dim : plan.result.dims)
    addAxes(used, dim.axes);
  AxisRefs partial;
  size_t offset = 0;
  for (int64_t d = 0, rank = shapeOf(operand).size(); d < rank; ++d) {
    if (llvm::is_contained(dims.getOperandBatchingDims(), d))
      continue;
    DimLayout &dim = plan.operand.dims[d];
    int64_t size = shapeOf(operand)[d];
    bool collapsed = llvm::is_contained(dims.getCollapsedSliceDims(), d);
    int64_t r = collapsed ? -1 : dims.getOffsetDims()[offset++];
    if (!collapsed && plan.sliceSizes[d] == size) {
      if (dim.axes == plan.result.dims[r].axes)
        plan.result.dims[r].tile = dim.tile;
      dim = plan.result.dims[r];
      plan.sliceSizes[d] = dim.tile;
      continue;
    }
    if (!collapsed)
      plan.result.dims[r] = wholeDim(shapeOf(result)[r]);
    bool moves = plan.window(d) == 1 || llvm::is_contained(dims.getStartIndexMap(), d);
    if (isSharded(dim) && moves && !sharding::overlap(dim.axes, used)) {
      plan.looked.push_back(d);
      partial.append(dim.axes);
    } else {
      dim = wholeDim(size);
    }
  }
  AxisRefs carried = commonAxes(plan.operand.partial, annotatedPartial);
  plan.operand.partial = carried;
  plan.result.partial = partial;
  addAxes(plan.result.partial, carried);
  return plan;
}

// A mask over the local indices (index vector dimension of size 1) as one over the result.
Value spreadMask(Localizer &l, Value mask, stablehlo::GatherDimensionNumbersAttr dims,
                 ArrayRef<int64_t> resultShape) {
  auto type = RankedTensorType::get(resultShape, l.b.getI1Type());
  SmallVector<int64_t> to, shape;
  for (auto [r, i] : batchDims(dims, resultShape.size())) {
    to.push_back(r);
    shape.push_back(resultShape[r]);
  }
  if (shapeOf(mask) != ArrayRef<int64_t>(shape))
    mask = stablehlo::ReshapeOp::create(l.b, l.loc, RankedTensorType::get(shape, l.b.getI1Type()),
                                        mask);
  return stablehlo::BroadcastInDimOp::create(l.b, l.loc, type, mask, to);
}

} // namespace

LogicalResult localizeGather(Localizer &l, Operation *op) {
  auto gather = cast<stablehlo::GatherOp>(op);
  stablehlo::GatherDimensionNumbersAttr dims = gather.getDimensionNumbers();
  GatherPlan plan = planGather(l, gather);
  Value operand = gather.getOperand(), result = gather.getResult();
  Value table = l.get(operand, plan.operand),
        indices = l.get(gather.getStartIndices(), plan.indices);

  Value mine; // over the indices
  Value mineScalar;
  if (!plan.looked.empty()) {
    SmallVector<Value> columns;
    int64_t vectorDim = dims.getIndexVectorDim();
    using Direction = stablehlo::ComparisonDirection;
    auto both = [&](Value &all, Value next) { all = all ? binary(l, "and", all, next) : next; };
    for (int64_t c = 0; c < componentCount(shapeOf(indices), vectorDim); ++c) {
      int64_t d = dims.getStartIndexMap()[c];
      int64_t last = shapeOf(operand)[d] - gather.getSliceSizes()[d];
      Value column = indexColumn(l, indices, vectorDim, c, 0, last);
      if (llvm::is_contained(plan.looked, d)) {
        const DimLayout &dim = plan.operand.dims[d];
        ArrayRef<int64_t> shape = shapeOf(column);
        int64_t window = plan.window(d), around = window == 1 ? 0 : window;
        column =
            binary(l, "subtract", column, splat(l, myStart(l, dim.axes, dim.tile, -around), shape));
        if (around) {
          auto element =
              RankedTensorType::get({}, cast<RankedTensorType>(table.getType()).getElementType());
          table = padRows(l, table, d, around, around, absent(l, element, plan.result.reduction));
        } else {
          both(mine, compare(l, column, splat(l, scalar(l, 0), shape), Direction::GE));
          both(mine, compare(l, column, splat(l, scalar(l, dim.tile), shape), Direction::LT));
        }
      }
      columns.push_back(column);
    }
    for (int64_t d : plan.looked) // row 0 of those that no index names
      if (!llvm::is_contained(dims.getStartIndexMap(), d))
        both(mineScalar,
             compare(l, myStart(l, plan.operand.dims[d].axes, 1, 0), scalar(l, 0), Direction::EQ));
    indices = joinColumns(l, columns, shapeOf(indices), vectorDim);
  }
  RankedTensorType type = l.localType(result, plan.result);
  auto made = cast<stablehlo::GatherOp>(l.copy(op, {table, indices}, type));
  made.setSliceSizes(plan.sliceSizes);
  Value rows = made.getResult();
  if (!plan.looked.empty())
    made.setIndicesAreSorted(false);
  if (mine || mineScalar) {
    if (mine)
      mine = spreadMask(l, mine, dims, type.getShape());
    if (mineScalar) {
      Value everywhere = splat(l, mineScalar, type.getShape());
      mine = mine ? binary(l, "and", mine, everywhere) : everywhere;
    }
    rows = select(l, mine, rows, absent(l, type, plan.result.reduction));
  }
  l.bind(result, rows, plan.result);
  return success();
}

} // namespace tessera::localize
