// Reductions: of the local rows, with a neutral start where the result is partial. The given start
// value counts once: it is kept by the first rank only, unless reducing it twice does no harm.
//
//   reduce(%x init: %c) add over [0], %x [{"x"}] 10 rows on 4 devices
// becomes
//   %m = select(row < 10, %x, 0) : tensor<3xf32>
//   reduce(%m init: first rank ? %c : 0)                      // partial over "x"
//
// Of a region that is of no kind (argmax), each device's result is gathered, and reduced again:
//   %p = reduce(%m init: %c) over [0]
//   %g = comm.all_gather(%p as one row)
//   reduce(%g init: %c)
#include "dialects/stablehlo/Combiner.h"
#include "passes/localize/Handlers.h"
#include "passes/localize/Rows.h"

using namespace mlir;

namespace tessera::localize {
namespace {

bool isIdempotent(ReductionKind kind) {
  return kind != ReductionKind::Sum && kind != ReductionKind::Product;
}

// The start value on the first rank along `axes`, elsewhere what the reduction ignores.
Value startValue(Localizer &l, Value init, ReductionKind kind, ArrayRef<sharding::AxisRef> axes) {
  if (axes.empty() || isIdempotent(kind) || isNeutral(init, kind))
    return init;
  Value first =
      compare(l, myStart(l, axes, 1, 0), scalar(l, 0), stablehlo::ComparisonDirection::EQ);
  return select(l, first, init, neutral(l, cast<RankedTensorType>(init.getType()), kind));
}

// The results of `parts`, one on each device along `axes`, reduced by the same region.
Operation *reduceParts(Localizer &l, stablehlo::ReduceOp parts, ArrayRef<sharding::AxisRef> axes) {
  SmallVector<Value> operands;
  for (Value part : parts.getResults()) {
    SmallVector<int64_t> row(shapeOf(part));
    row.insert(row.begin(), 1);
    Value asRow = stablehlo::ReshapeOp::create(
        l.b, l.loc, cast<RankedTensorType>(part.getType()).clone(row), part);
    operands.push_back(
        comm::AllGatherOp::create(l.b, l.loc, asRow, l.axesAttr(axes), 0).getResult(0));
  }
  llvm::append_range(operands, parts.getInitValues());
  auto all = cast<stablehlo::ReduceOp>(l.b.clone(*parts));
  all->setOperands(operands);
  all.setDimensions({0});
  return all;
}

} // namespace

LogicalResult localizeReduce(Localizer &l, Operation *op) {
  auto reduce = cast<stablehlo::ReduceOp>(op);
  Value first = reduce.getInputs().front();
  std::optional<ReductionKind> kind = stablehlo::combinerOf(reduce.getBody());
  LocalLayout want = l.local(first).layout, layout = l.annotated(reduce->getResult(0));
  const AxisRefs annotatedPartial = layout.partial;
  layout.partial.clear();
  AxisRefs used, reduced;
  for (const DimLayout &dim : layout.dims)
    used.append(dim.axes);
  size_t r = 0;
  bool hasRowsBefore = false; // whose parts would mix with those of a later dimension
  for (auto [d, dim] : llvm::enumerate(want.dims)) {
    if (!llvm::is_contained(reduce.getDimensions(), int64_t(d))) {
      DimLayout &kept = layout.dims[r++];
      if (kept.axes == dim.axes)
        kept.tile = dim.tile;
      dim = kept;
    } else if (sharding::overlap(dim.axes, used) || (!kind && hasRowsBefore)) {
      dim = wholeDim(shapeOf(first)[d]);
    } else {
      reduced.append(dim.axes);
    }
    hasRowsBefore |=
        llvm::is_contained(reduce.getDimensions(), int64_t(d)) && shapeOf(first)[d] > 1;
  }
  want.partial = annotatedPartial;
  if (kind)
    layout.partial = reduced;
  if (kind)
    layout.reduction = *kind;
  for (Value input : reduce.getInputs())
    addAxes(layout.partial, commonAxes(l.local(input).layout.partial, annotatedPartial));

  SmallVector<Value> operands, starts;
  for (auto [input, init] : llvm::zip_equal(reduce.getInputs(), reduce.getInitValues())) {
    Value start = l.getWhole(init), rows = l.get(input, want);
    for (int64_t d : reduce.getDimensions())
      if (isUneven(want.dims[d], shapeOf(input)[d]))
        rows =
            maskPadding(l, rows, d, want.dims[d], shapeOf(input)[d],
                        kind ? neutral(l, cast<RankedTensorType>(start.getType()), *kind) : start);
    operands.push_back(rows);
    starts.push_back(kind ? startValue(l, start, *kind, layout.partial) : start);
  }
  llvm::append_range(operands, starts);
  SmallVector<Type> types;
  for (Value result : op->getResults())
    types.push_back(l.localType(result, layout));
  Operation *made = l.copy(op, operands, types);
  if (!kind && !reduced.empty())
    made = reduceParts(l, cast<stablehlo::ReduceOp>(made), reduced);
  for (auto [global, local] : llvm::zip_equal(op->getResults(), made->getResults()))
    l.bind(global, local, layout);
  return success();
}

} // namespace tessera::localize
