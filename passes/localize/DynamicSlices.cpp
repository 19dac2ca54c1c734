// dynamic_slice and dynamic_update_slice: local along the dimensions that are taken whole. An
// update of part of a sharded dimension is written by the shard that has the rows; a slice of part
// of one needs it whole.
//
//   dynamic_slice %x, %i, %zero, sizes = [1, 8], %x [{}, {"x"}] : 4x8   ->   dynamic_slice %x, %i,
//   0, sizes = [1, 2]
#include "passes/localize/Rows.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace tessera::localize {
namespace {

Value zeroLike(Localizer &l, Value index) {
  return zeros(l, cast<RankedTensorType>(index.getType()));
}

LogicalResult localizeDynamicSlice(Localizer &l, Operation *op) {
  auto slice = cast<stablehlo::DynamicSliceOp>(op);
  Value operand = slice.getOperand(), result = slice.getResult();
  LocalLayout want = l.local(operand).layout, layout = l.annotatedLike(result, want);
  layout.partial = want.partial = commonAxes(want.partial, layout.partial);
  layout.reduction = want.reduction;
  SmallVector<Value> operands{Value()};
  SmallVector<int64_t> sizes(slice.getSliceSizes());
  for (int64_t d = 0, rank = sizes.size(); d < rank; ++d) {
    Value index = l.getWhole(slice.getStartIndices()[d]);
    if (sizes[d] == shapeOf(operand)[d]) {
      want.dims[d] = layout.dims[d];
      sizes[d] = layout.dims[d].tile;
      index = zeroLike(l, index);
    } else {
      want.dims[d] = wholeDim(shapeOf(operand)[d]);
      layout.dims[d] = wholeDim(sizes[d]);
    }
    operands.push_back(index);
  }
  operands[0] = l.get(operand, want);
  auto made = cast<stablehlo::DynamicSliceOp>(l.copy(op, operands, l.localType(result, layout)));
  made.setSliceSizes(sizes);
  l.bind(result, made.getResult(), layout);
  return success();
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

// Writes `update`, which all have, into the rows of mine that it covers.
Value updateOwnRows(Localizer &l, Value mine, Value update, int64_t dim, const DimLayout &layout,
                    Value start) {
  int64_t rows = shapeOf(update)[dim];
  Value first = binary(l, "subtract", start,
                       myStart(l, layout.axes, layout.tile, 0)); // where it begins among mine
  // Row r of mine is row r - first of the update: with a tile of room before and after.
  Value room = padRows(l, update, dim, layout.tile, layout.tile);
  Value from = binary(l, "subtract", scalar(l, layout.tile), first);
  Value shifted = dynamicRows(l, room, dim, from, layout.tile);
  Value numbers = rowNumbers(l, shapeOf(mine), dim, binary(l, "subtract", scalar(l, 0), first));
  Value inside = binary(l, "and",
                        compare(l, numbers, splat(l, scalar(l, 0), shapeOf(mine)),
                                stablehlo::ComparisonDirection::GE),
                        compare(l, numbers, splat(l, scalar(l, rows), shapeOf(mine)),
                                stablehlo::ComparisonDirection::LT));
  return select(l, inside, shifted, mine);
}

// One row of each dimension in `partly`: the shard that has it writes it, the others write back
// what is there.
Value updateOwnRow(Localizer &l, Value mine, Value update, const LocalLayout &layout,
                   ArrayRef<int64_t> partly, ArrayRef<int64_t> globalShape,
                   SmallVector<Value> starts) {
  Value inside;
  for (int64_t d : partly) {
    const DimLayout &dim = layout.dims[d];
    Value row = clampedStart(l, starts[d], globalShape[d] - 1);
    row = binary(l, "subtract", row, myStart(l, dim.axes, dim.tile, 0));
    using Direction = stablehlo::ComparisonDirection;
    Value has = binary(l, "and", compare(l, row, scalar(l, 0), Direction::GE),
                       compare(l, row, scalar(l, dim.tile), Direction::LT));
    inside = inside ? binary(l, "and", inside, has) : has;
    starts[d] = clampedStart(l, row, dim.tile - 1);
  }
  for (Value &start : starts) // of one type
    if (!cast<RankedTensorType>(start.getType()).getElementType().isSignlessInteger(32))
      start = stablehlo::ConvertOp::create(l.b, l.loc, RankedTensorType::get({}, l.b.getI32Type()),
                                           start);
  Value there = stablehlo::DynamicSliceOp::create(
      l.b, l.loc, cast<RankedTensorType>(update.getType()), mine, starts, shapeOf(update));
  return stablehlo::DynamicUpdateSliceOp::create(l.b, l.loc, mine, select(l, inside, update, there),
                                                 starts);
}

LogicalResult localizeDynamicUpdateSlice(Localizer &l, Operation *op) {
  auto slice = cast<stablehlo::DynamicUpdateSliceOp>(op);
  Value operand = slice.getOperand(), update = slice.getUpdate(), result = op->getResult(0);
  LocalLayout layout = l.annotatedLike(result, l.local(operand).layout),
              updateWant = l.whole(update);
  const AxisRefs annotatedPartial = layout.partial;
  SmallVector<Value> operands{Value(), Value()};
  SmallVector<int64_t> partly; // dimensions that are sharded and not updated as a whole
  for (int64_t d = 0, rank = layout.dims.size(); d < rank; ++d) {
    Value index = l.getWhole(slice.getStartIndices()[d]);
    if (shapeOf(update)[d] == shapeOf(operand)[d]) {
      updateWant.dims[d] = layout.dims[d];
      index = zeroLike(l, index);
    } else if (isSharded(layout.dims[d])) {
      partly.push_back(d);
    }
    operands.push_back(index);
  }
  bool oneRow = llvm::all_of(partly, [&](int64_t d) { return shapeOf(update)[d] == 1; });
  // One dimension at a time would need the corners: all but the first become whole.
  if (partly.size() > 1 && !oneRow)
    for (int64_t d : ArrayRef(partly).drop_front())
      layout.dims[d] = wholeDim(shapeOf(operand)[d]);
  LocalLayout want = layout;
  want.partial = updateWant.partial = annotatedPartial;
  Value mine = l.get(operand, want), part = l.get(update, updateWant);
  layout.partial = commonAxes(l.local(operand).layout.partial, annotatedPartial);
  addAxes(layout.partial, commonAxes(l.local(update).layout.partial, annotatedPartial));
  layout.reduction =
      layout.partial.empty() ? ReductionKind::Sum : l.local(operand).layout.reduction;

  if (partly.empty()) {
    operands[0] = mine, operands[1] = part;
    l.bind(result, l.copy(op, operands, l.localType(result, layout))->getResult(0), layout);
    return success();
  }
  if (oneRow) {
    SmallVector<Value> starts(operands.begin() + 2, operands.end());
    l.bind(result, updateOwnRow(l, mine, part, layout, partly, shapeOf(operand), starts), layout);
    return success();
  }
  // The update is first put in place along the other dimensions, in a slab of its rows of the
  // sharded one.
  int64_t d = partly.front();
  int64_t rows = shapeOf(update)[d];
  Value start = clampedStart(l, operands[2 + d], shapeOf(operand)[d] - rows);
  SmallVector<int64_t> slabShape(shapeOf(mine));
  slabShape[d] = rows;
  bool full = ArrayRef<int64_t>(slabShape) == shapeOf(part);
  if (full) {
    l.bind(result, updateOwnRows(l, mine, part, d, layout.dims[d], start), layout);
    return success();
  }
  // Which elements of the slab the update covers, moved along with it.
  auto boolType = RankedTensorType::get(slabShape, l.b.getI1Type());
  auto slabType = cast<RankedTensorType>(mine.getType()).clone(slabShape);
  SmallVector<Value> starts(operands.begin() + 2, operands.end());
  starts[d] = zeroLike(l, starts[d]);
  Value ones =
      neutral(l, RankedTensorType::get(shapeOf(part), l.b.getI1Type()), ReductionKind::And);
  Value covered =
      stablehlo::DynamicUpdateSliceOp::create(l.b, l.loc, zeros(l, boolType), ones, starts);
  Value slab =
      stablehlo::DynamicUpdateSliceOp::create(l.b, l.loc, zeros(l, slabType), part, starts);
  auto falses = zeros(l, RankedTensorType::get(shapeOf(mine), l.b.getI1Type()));
  Value mineCovered = updateOwnRows(l, falses, covered, d, layout.dims[d], start);
  Value mineUpdated = updateOwnRows(l, mine, slab, d, layout.dims[d], start);
  l.bind(result, select(l, mineCovered, mineUpdated, mine), layout);
  return success();
}

} // namespace

void addDynamicSlices(HandlerTable &table, MLIRContext *context) {
  add<stablehlo::DynamicSliceOp>(table, context, localizeDynamicSlice);
  add<stablehlo::DynamicUpdateSliceOp>(table, context, localizeDynamicUpdateSlice);
}

} // namespace tessera::localize
