// Contractions: the same op on local parts. A sharded contracted dimension leaves a partial sum;
// where it is uneven, both sides' rows past the end become zeros by select (a product with garbage
// could be NaN).
//
//   dot_general %x [{}, {"y"}], %w [{"y"}, {}] -> unreduced {"y"}   : (4x10, 10x8) -> 4x8, y = 4
// becomes
//   %x1 = select(column < 10, %x, 0) : 4x3
//   %w1 = select(row < 10, %w, 0) : 3x8
//   dot_general %x1, %w1 : 4x8
#include "passes/localize/Handlers.h"
#include "passes/localize/Rows.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace tessera::localize {
namespace {

Value masked(Localizer &l, Value value, int64_t dim, const DimLayout &layout, int64_t size) {
  auto element = RankedTensorType::get({}, getElementTypeOrSelf(value.getType()));
  return isUneven(layout, size) ? maskPadding(l, value, dim, layout, size, zeros(l, element))
                                : value;
}

} // namespace

LogicalResult localizeDot(Localizer &l, Operation *op) {
  auto dot = cast<stablehlo::DotGeneralOp>(op);
  stablehlo::DotDimensionNumbersAttr dims = dot.getDotDimensionNumbers();
  Value lhs = dot.getLhs(), rhs = dot.getRhs(), result = dot.getResult();
  const LocalLayout lhsFrom = l.local(lhs).layout, rhsFrom = l.local(rhs).layout;
  LocalLayout layout = l.annotated(result), lhsWant = lhsFrom, rhsWant = rhsFrom;
  const AxisRefs annotatedPartial = layout.partial;

  // Result dimensions: batch, free of lhs, free of rhs. Their axes are the annotation's, tiles are
  // kept when they fit.
  size_t r = 0;
  auto follow = [&](DimLayout &want) {
    DimLayout &dim = layout.dims[r++];
    if (want.axes == dim.axes)
      dim.tile = want.tile;
    want = dim;
  };
  for (auto [left, right] :
       llvm::zip_equal(dims.getLhsBatchingDimensions(), dims.getRhsBatchingDimensions())) {
    follow(lhsWant.dims[left]);
    rhsWant.dims[right] = lhsWant.dims[left];
  }
  AxisRefs contracted;
  auto isIn = [](ArrayRef<int64_t> a, int64_t dim) { return llvm::is_contained(a, dim); };
  for (int64_t dim = 0, rank = lhsWant.dims.size(); dim < rank; ++dim)
    if (!isIn(dims.getLhsBatchingDimensions(), dim) &&
        !isIn(dims.getLhsContractingDimensions(), dim))
      follow(lhsWant.dims[dim]);
  for (int64_t dim = 0, rank = rhsWant.dims.size(); dim < rank; ++dim)
    if (!isIn(dims.getRhsBatchingDimensions(), dim) &&
        !isIn(dims.getRhsContractingDimensions(), dim))
      follow(rhsWant.dims[dim]);
  AxisRefs used;
  for (const DimLayout &dim : layout.dims)
    addAxes(used, dim.axes);
  for (auto [left, right] :
       llvm::zip_equal(dims.getLhsContractingDimensions(), dims.getRhsContractingDimensions())) {
    DimLayout &dim = lhsWant.dims[left];
    if (sharding::overlap(dim.axes, used))
      dim = wholeDim(shapeOf(lhs)[left]);
    rhsWant.dims[right] = dim;
    addAxes(contracted, dim.axes);
  }
  lhsWant.partial = rhsWant.partial = annotatedPartial;
  Value left = l.get(lhs, lhsWant), right = l.get(rhs, rhsWant);
  for (auto [a, c] :
       llvm::zip_equal(dims.getLhsContractingDimensions(), dims.getRhsContractingDimensions())) {
    left = masked(l, left, a, lhsWant.dims[a], shapeOf(lhs)[a]);
    right = masked(l, right, c, rhsWant.dims[c], shapeOf(rhs)[c]);
  }
  layout.partial = contracted;
  layout.reduction = ReductionKind::Sum;
  addAxes(layout.partial, commonAxes(lhsFrom.partial, annotatedPartial));
  addAxes(layout.partial, commonAxes(rhsFrom.partial, annotatedPartial));
  Operation *made = l.copy(op, {left, right}, l.localType(result, layout));
  l.bind(result, made->getResult(0), layout);
  return success();
}

} // namespace tessera::localize
