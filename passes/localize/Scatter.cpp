// scatter. Window dimensions that updates cover whole stay sharded. Along a sharded dimension that
// indices name, each shard takes indices relative to its first row: what falls outside of its rows
// is dropped by scatter's own rule. Where the updates are sharded along the dimensions of the
// indices, each rank scatters its own ones: a partial result, to which the operand is added by the
// first rank only.
//
//   scatter add (%t [{"x"}, {}] : 10x8, %i : 6x1, %u : 6x8), x = 4, tile 3
// becomes
//   scatter add (%t : 3x8, clamp(-1, %i, 10) - 3 * my index, %u)
#include "dialects/stablehlo/Combiner.h"
#include "passes/localize/Handlers.h"
#include "passes/localize/IndexColumns.h"
#include "passes/localize/Rows.h"

using namespace mlir;

namespace tessera::localize {
namespace {

struct ScatterPlan {
  LocalLayout result, indices, updates;
  SmallVector<int64_t> windowSizes; // of the updates, by dimension of the operand
  SmallVector<int64_t> shifted;     // sharded operand dimensions that indices name
  SmallVector<std::pair<int64_t, int64_t>>
      reduced; // (dim of indices, dim of updates) sharded, to be reduced
  AxisRefs partial;
};

ScatterPlan planScatter(Localizer &l, stablehlo::ScatterOp scatter,
                        std::optional<ReductionKind> kind) {
  stablehlo::ScatterDimensionNumbersAttr dims = scatter.getScatterDimensionNumbers();
  Value operand = scatter.getInputs().front(), indices = scatter.getScatterIndices(),
        update = scatter.getUpdates().front();
  ScatterPlan plan{l.annotatedLike(scatter->getResult(0), l.local(operand).layout),
                   l.whole(indices),
                   l.whole(update),
                   SmallVector<int64_t>(shapeOf(operand).size(), 1),
                   {},
                   {},
                   {}};
  LocalLayout &result = plan.result;

  // Window dimensions.
  size_t window = 0;
  for (int64_t d = 0, rank = result.dims.size(); d < rank; ++d) {
    if (llvm::is_contained(dims.getInputBatchingDims(), d))
      continue;
    int64_t size = shapeOf(operand)[d];
    bool indexed = llvm::is_contained(dims.getScatterDimsToOperandDims(), d);
    if (!llvm::is_contained(dims.getInsertedWindowDims(), d)) {
      int64_t u = dims.getUpdateWindowDims()[window++];
      plan.windowSizes[d] = shapeOf(update)[u];
      if (plan.windowSizes[d] == size && !indexed) {
        plan.updates.dims[u] = result.dims[d];
        continue;
      }
    }
    if (!isSharded(result.dims[d]))
      continue;
    if (indexed)
      plan.shifted.push_back(d);
    else
      result.dims[d] = wholeDim(size);
  }
  AxisRefs used;
  for (const DimLayout &dim : result.dims)
    addAxes(used, dim.axes);

  // Dimensions of the indices: batched with the operand, or combined.
  int64_t i = 0;
  for (int64_t u = 0, rank = plan.updates.dims.size(); u < rank; ++u) {
    if (llvm::is_contained(dims.getUpdateWindowDims(), u))
      continue;
    if (i == dims.getIndexVectorDim())
      ++i;
    bool batched = false;
    for (auto [o, s] :
         llvm::zip_equal(dims.getInputBatchingDims(), dims.getScatterIndicesBatchingDims()))
      if (s == i) {
        plan.updates.dims[u] = plan.indices.dims[i] = result.dims[o];
        batched = true;
      }
    const DimLayout &have = l.local(update).layout.dims[u];
    if (!batched && isSharded(have) && kind && !sharding::overlap(have.axes, used)) {
      plan.updates.dims[u] = plan.indices.dims[i] = have;
      plan.reduced.push_back({i, u});
      plan.partial.append(have.axes);
      addAxes(used, have.axes);
    }
    ++i;
  }
  return plan;
}

// Index vectors of rows past the end point nowhere: windows of `size` lie before the operand.
Value dropPadding(Localizer &l, Value column, const ScatterPlan &plan, Value global, int64_t size) {
  for (auto [i, u] : plan.reduced) {
    auto type = cast<RankedTensorType>(column.getType());
    Value nowhere = stablehlo::ConstantOp::create(
        l.b, l.loc,
        DenseElementsAttr::get(RankedTensorType::get({}, type.getElementType()), int32_t(-size)));
    column = maskPadding(l, column, i, plan.indices.dims[i], shapeOf(global)[i], nowhere);
  }
  return column;
}

} // namespace

LogicalResult localizeScatter(Localizer &l, Operation *op) {
  auto scatter = cast<stablehlo::ScatterOp>(op);
  stablehlo::ScatterDimensionNumbersAttr dims = scatter.getScatterDimensionNumbers();
  std::optional<ReductionKind> kind = scatter.getInputs().size() == 1
                                          ? stablehlo::combinerOf(scatter.getUpdateComputation())
                                          : std::nullopt;
  ScatterPlan plan = planScatter(l, scatter, kind);
  Value globalIndices = scatter.getScatterIndices();
  Value indices = l.get(globalIndices, plan.indices);
  int64_t vectorDim = dims.getIndexVectorDim();
  bool uneven = llvm::any_of(plan.reduced, [&](auto pair) {
    return isUneven(plan.indices.dims[pair.first], shapeOf(globalIndices)[pair.first]);
  });
  int64_t components = componentCount(shapeOf(indices), vectorDim);
  if (!plan.shifted.empty() || (uneven && components > 0)) {
    SmallVector<Value> columns;
    for (int64_t c = 0; c < components; ++c) {
      int64_t d = dims.getScatterDimsToOperandDims()[c];
      Value column = indexColumn(l, indices, vectorDim, c, -plan.windowSizes[d],
                                 shapeOf(scatter.getInputs().front())[d]);
      if (llvm::is_contained(plan.shifted, d)) {
        const DimLayout &dim = plan.result.dims[d];
        column = binary(l, "subtract", column,
                        splat(l, myStart(l, dim.axes, dim.tile, 0), shapeOf(column)));
      }
      columns.push_back(dropPadding(l, column, plan, globalIndices, plan.windowSizes[d]));
    }
    indices = joinColumns(l, columns, shapeOf(indices), vectorDim);
  }

  LocalLayout layout = plan.result;
  const AxisRefs annotatedPartial = layout.partial;
  SmallVector<Value> operands, updates;
  layout.partial = plan.partial;
  for (auto [input, update] : llvm::zip_equal(scatter.getInputs(), scatter.getUpdates())) {
    LocalLayout want = plan.result, updateWant = plan.updates;
    want.partial = updateWant.partial = annotatedPartial;
    Value mine = l.get(input, want), part = l.get(update, updateWant);
    addAxes(layout.partial, commonAxes(l.local(input).layout.partial, annotatedPartial));
    addAxes(layout.partial, commonAxes(l.local(update).layout.partial, annotatedPartial));
    auto type = cast<RankedTensorType>(mine.getType());
    AxisRefs owners; // the operand counts once along the axes of the updates
    for (const sharding::AxisRef &axis : plan.partial)
      if (!llvm::is_contained(l.local(input).layout.partial, axis))
        owners.push_back(axis);
    if (!owners.empty() && !isNeutral(mine, *kind)) {
      Value first =
          compare(l, myStart(l, owners, 1, 0), scalar(l, 0), stablehlo::ComparisonDirection::EQ);
      mine = select(l, first, mine, neutral(l, type, *kind));
    }
    if (uneven && components == 0)
      for (auto [i, u] : plan.reduced)
        part = maskPadding(l, part, u, updateWant.dims[u], shapeOf(update)[u],
                           neutral(l, RankedTensorType::get({}, type.getElementType()), *kind));
    for (int64_t d : plan.shifted) // a window may be longer than a shard
      mine = padRows(l, mine, d, 0, std::max<int64_t>(0, plan.windowSizes[d] - shapeOf(mine)[d]),
                     zeros(l, RankedTensorType::get({}, type.getElementType())));
    operands.push_back(mine);
    updates.push_back(part);
  }
  layout.reduction = kind.value_or(ReductionKind::Sum);
  operands.push_back(indices);
  llvm::append_range(operands, updates);
  SmallVector<Type> types;
  for (Value mine : ArrayRef(operands).take_front(op->getNumResults()))
    types.push_back(mine.getType());
  auto made = cast<stablehlo::ScatterOp>(l.copy(op, operands, types));
  if (uneven) {
    made.setUniqueIndices(false);
    made.setIndicesAreSorted(false);
  }
  for (auto [global, local] : llvm::zip_equal(op->getResults(), made->getResults())) {
    Value rows = local;
    for (int64_t d : plan.shifted)
      rows = sliceRows(l, rows, d, 0, layout.dims[d].tile);
    l.bind(global, rows, layout);
  }
  return success();
}

} // namespace tessera::localize
