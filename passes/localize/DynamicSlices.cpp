// dynamic_slice and dynamic_update_slice: local along the dimensions that are taken whole. Along a
// sharded dimension of which a part is taken, each shard gives the rows that it has, and a zero for
// the others: a partial sum of the slice's size. An update is written where its rows are.
//
//   dynamic_slice %x, %i, %zero, sizes = [1, 8]      // %x: 4x8 [{"x"}, {}] on 2 devices
//                                                    // the result: unreduced {"x"}
// becomes
//   %row = clamp(0, %i, 3) - 2 * my index;  %mine = 0 <= %row < 2
//   select(%mine, dynamic_slice %x, clamp(0, %row, 1), 0, sizes = [1, 8], -0)
//
// Of several rows a shard may have some: what it has of as many is moved to their places. -0, since
// it alone changes no number that is added to it.
#include "passes/localize/Handlers.h"
#include "passes/localize/Rows.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace tessera::localize {
namespace {

Value zeroLike(Localizer &l, Value index) {
  return zeros(l, cast<RankedTensorType>(index.getType()));
}

// The global start, clamped as the op does, as i32.
Value clampedStart(Localizer &l, Value index, int64_t last) {
  auto type = cast<RankedTensorType>(index.getType());
  auto constant = [&](int64_t value) -> Value {
    return stablehlo::ConstantOp::create(
        l.b, l.loc,
        DenseElementsAttr::get(
            type,
            IntegerAttr::get(type.getElementType(), APInt(type.getElementTypeBitWidth(), value))));
  };
  OperationState state(l.loc, stablehlo::ClampOp::getOperationName(),
                       ValueRange{constant(0), index, constant(last)}, TypeRange{type});
  Value clamped = l.b.create(state)->getResult(0);
  if (type.getElementType().isSignlessInteger(32))
    return clamped;
  return stablehlo::ConvertOp::create(l.b, l.loc, RankedTensorType::get({}, l.b.getI32Type()),
                                      clamped);
}

// Where a slice or an update of `rows` rows, of which others have a part, lies among mine.
struct OwnRows {
  int64_t dim, rows, taken; // `taken` of mine can have a part in it
  Value start;              // the first of those
  Value shift;              // the first row of all is row `shift` of them, often outside
};

OwnRows ownRows(Localizer &l, int64_t dim, int64_t rows, int64_t size, const DimLayout &layout,
                Value index) {
  OwnRows own{dim, rows, std::min(rows, layout.tile), {}, {}};
  Value first = binary(l, "subtract", clampedStart(l, index, size - rows),
                       myStart(l, layout.axes, layout.tile, 0));
  own.start = clampedStart(l, first, layout.tile - own.taken);
  own.shift = binary(l, "subtract", first, own.start);
  return own;
}

// Which elements of `shape`, the taken rows, belong to it.
Value covered(Localizer &l, ArrayRef<OwnRows> parts, ArrayRef<int64_t> shape) {
  Value mask;
  auto both = [&](Value next) { mask = mask ? binary(l, "and", mask, next) : next; };
  using Direction = stablehlo::ComparisonDirection;
  for (const OwnRows &own : parts) {
    if (own.rows == 1) {
      both(splat(l, compare(l, own.shift, scalar(l, 0), Direction::EQ), shape));
      continue;
    }
    Value start = binary(l, "subtract", scalar(l, 0), own.shift);
    both(rowsBetween(l, shape, own.dim, start, 0, own.rows));
  }
  return mask;
}

// Starts of the rows that are taken of a local value: all of one type.
SmallVector<Value> localStarts(Localizer &l, ValueRange indices, ArrayRef<OwnRows> parts,
                               ArrayRef<int64_t> shape, ArrayRef<int64_t> sizes) {
  SmallVector<Value> starts;
  for (auto [index, size, taken] : llvm::zip_equal(indices, shape, sizes))
    starts.push_back(size == taken ? scalar(l, 0) : clampedStart(l, index, size - taken));
  for (const OwnRows &own : parts)
    starts[own.dim] = own.start;
  return starts;
}

// The slice of what others have a part of: what is mine, in its place.
Value sliceOwnRows(Localizer &l, Value mine, ArrayRef<OwnRows> parts, ValueRange indices,
                   ArrayRef<int64_t> sizes) {
  SmallVector<int64_t> taken(sizes);
  for (const OwnRows &own : parts)
    taken[own.dim] = own.taken;
  auto type = cast<RankedTensorType>(mine.getType());
  Value slice = stablehlo::DynamicSliceOp::create(
      l.b, l.loc, type.clone(taken), mine, localStarts(l, indices, parts, shapeOf(mine), taken),
      taken);
  Value none = absent(l, RankedTensorType::get({}, type.getElementType()));
  SmallVector<OwnRows> single;
  for (const OwnRows &own : parts) {
    if (own.rows == 1) {
      single.push_back(own);
      continue;
    }
    Value room = padRows(l, slice, own.dim, own.rows, own.rows, none);
    Value from = binary(l, "add", own.shift, scalar(l, own.rows));
    slice = dynamicRows(l, room, own.dim, from, own.rows);
  }
  if (single.empty())
    return slice;
  return select(l, covered(l, single, shapeOf(slice)), slice, splat(l, none, shapeOf(slice)));
}

// Writes an update, which all have, into the rows of mine that it covers; the others write back
// what is there.
Value updateOwnRows(Localizer &l, Value mine, Value update, ArrayRef<OwnRows> parts,
                    ValueRange indices) {
  for (const OwnRows &own : parts) {
    if (own.rows == 1)
      continue;
    Value room = padRows(l, update, own.dim, own.taken, own.taken);
    Value from = binary(l, "subtract", scalar(l, own.taken), own.shift);
    update = dynamicRows(l, room, own.dim, from, own.taken);
  }
  ArrayRef<int64_t> taken = shapeOf(update);
  SmallVector<Value> starts = localStarts(l, indices, parts, shapeOf(mine), taken);
  Value there = stablehlo::DynamicSliceOp::create(
      l.b, l.loc, cast<RankedTensorType>(update.getType()), mine, starts, taken);
  return stablehlo::DynamicUpdateSliceOp::create(
      l.b, l.loc, mine, select(l, covered(l, parts, taken), update, there), starts);
}

} // namespace

LogicalResult localizeDynamicSlice(Localizer &l, Operation *op) {
  auto slice = cast<stablehlo::DynamicSliceOp>(op);
  Value operand = slice.getOperand(), result = slice.getResult();
  ArrayRef<int64_t> shape = shapeOf(operand);
  LocalLayout want = l.local(operand).layout, layout = l.annotatedLike(result, want);
  bool predicate = slice.getType().getElementType().isInteger(1);
  ReductionKind kind = predicate ? ReductionKind::Or : ReductionKind::Sum;
  keepParts(want, layout);
  SmallVector<int64_t> sizes(slice.getSliceSizes()), shared;
  AxisRefs used(layout.partial);
  for (auto [d, dim] : llvm::enumerate(layout.dims))
    if (sizes[d] == shape[d])
      addAxes(used, dim.axes);
  for (auto [d, dim] : llvm::enumerate(layout.dims)) {
    DimLayout &from = want.dims[d];
    if (sizes[d] == shape[d]) {
      from = dim;
      continue;
    }
    dim = wholeDim(sizes[d]);
    if (isSharded(from) && !sharding::overlap(from.axes, used))
      shared.push_back(d);
    else
      from = wholeDim(shape[d]);
  }
  if (!shared.empty() && want.reduction != kind) // a maximum of parts is no sum of them
    layout.partial = want.partial = {};
  if (!shared.empty())
    layout.reduction = kind;
  Value mine = l.get(operand, want);
  SmallVector<Value> indices;
  SmallVector<OwnRows> parts;
  for (auto [d, dim] : llvm::enumerate(want.dims)) {
    Value index = l.getWhole(slice.getStartIndices()[d]);
    if (llvm::is_contained(shared, int64_t(d))) {
      parts.push_back(ownRows(l, d, sizes[d], shape[d], dim, index));
      addAxes(layout.partial, dim.axes);
    } else if (sizes[d] == shape[d]) {
      sizes[d] = dim.tile;
      index = zeroLike(l, index);
    }
    indices.push_back(index);
  }
  if (!parts.empty()) {
    l.bind(result, sliceOwnRows(l, mine, parts, indices, sizes), layout);
    return success();
  }
  indices.insert(indices.begin(), mine);
  auto made = cast<stablehlo::DynamicSliceOp>(l.copy(op, indices, l.localType(result, layout)));
  made.setSliceSizes(sizes);
  l.bind(result, made.getResult(), layout);
  return success();
}

LogicalResult localizeDynamicUpdateSlice(Localizer &l, Operation *op) {
  auto slice = cast<stablehlo::DynamicUpdateSliceOp>(op);
  Value operand = slice.getOperand(), update = slice.getUpdate(), result = op->getResult(0);
  LocalLayout layout = l.annotatedLike(result, l.local(operand).layout),
              updateWant = l.whole(update);
  const AxisRefs annotatedPartial = layout.partial;
  SmallVector<Value> indices;
  SmallVector<OwnRows> parts; // along dimensions that are sharded and not updated as a whole
  for (auto [d, dim] : llvm::enumerate(layout.dims)) {
    int64_t size = shapeOf(operand)[d], rows = shapeOf(update)[d];
    Value index = l.getWhole(slice.getStartIndices()[d]);
    if (rows == size) {
      updateWant.dims[d] = dim;
      index = zeroLike(l, index);
    } else if (isSharded(dim)) {
      parts.push_back(ownRows(l, d, rows, size, dim, index));
    }
    indices.push_back(index);
  }
  LocalLayout want = layout;
  want.partial = updateWant.partial = annotatedPartial;
  Value mine = l.get(operand, want), part = l.get(update, updateWant);
  layout.partial = commonAxes(l.local(operand).layout.partial, annotatedPartial);
  addAxes(layout.partial, commonAxes(l.local(update).layout.partial, annotatedPartial));
  if (!parts.empty()) {
    l.bind(result, updateOwnRows(l, mine, part, parts, indices), layout);
    return success();
  }
  indices.insert(indices.begin(), {mine, part});
  l.bind(result, l.copy(op, indices, l.localType(result, layout))->getResult(0), layout);
  return success();
}

} // namespace tessera::localize
