// select_and_scatter in two ops, between which it is known what was selected:
//
//   %v, %i = reduce_window(%image, %number) {
//     select(the first exists and is selected, first, second)
//   }
//   scatter(init, %i, %source)
//
// An element's number is its place, or -1 where the image has none there: neither is selected where
// another is, nor written to. No value could say that among integers, of which each may be real.
#include "passes/localize/SelectedRows.h"
#include "dialects/stablehlo/TensorTypes.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace tessera::localize {
namespace {

using Direction = stablehlo::ComparisonDirection;

// The one result of a computation, for these arguments; constants from outside are made again.
Value inlined(Localizer &l, Region &computation, ValueRange arguments) {
  Block &block = computation.front();
  IRMapping mapping;
  mapping.map(block.getArguments(), arguments);
  auto known = [&](Value value) {
    auto constant = value.getDefiningOp<stablehlo::ConstantOp>();
    if (constant && constant->getBlock() != &block && !mapping.contains(value))
      mapping.map(value, l.b.clone(*constant)->getResult(0));
  };
  for (Operation &op : block.without_terminator()) {
    llvm::for_each(op.getOperands(), known);
    l.b.clone(op, mapping);
  }
  Value result = block.getTerminator()->getOperand(0);
  known(result);
  return mapping.lookupOrDefault(result);
}

// (value, number), (value, number) -> the selected of both.
void addSelection(Localizer &l, Region &body, Region &selects, Type element) {
  OpBuilder::InsertionGuard guard(l.b);
  auto value = RankedTensorType::get({}, element), number = value.clone(l.b.getI32Type());
  Block *block =
      l.b.createBlock(&body, {}, {value, number, value, number}, SmallVector<Location>(4, l.loc));
  ValueRange arguments = block->getArguments();
  Value a = arguments[0], i = arguments[1], b = arguments[2], j = arguments[3];
  Value exists = compare(l, i, scalar(l, 0), Direction::GE),
        isLast = compare(l, j, scalar(l, 0), Direction::LT);
  Value first = binary(l, "or", isLast, binary(l, "and", exists, inlined(l, selects, {a, b})));
  Value chosen = select(l, first, a, b), place = select(l, first, i, j);
  stablehlo::ReturnOp::create(l.b, l.loc, ValueRange{chosen, place});
}

// The place of each element in a line of all of them.
Value numbers(Localizer &l, ArrayRef<int64_t> shape) {
  Value all;
  int64_t step = 1;
  for (int64_t d = shape.size() - 1; d >= 0; step *= shape[d--]) {
    Value along = rowNumbers(l, shape, d, {});
    if (step != 1)
      along = binary(l, "multiply", along, splat(l, scalar(l, step), shape));
    all = all ? binary(l, "add", all, along) : along;
  }
  return all;
}

} // namespace

Value scatterSelected(Localizer &l, stablehlo::SelectAndScatterOp op, Value image, Value imageThere,
                      Value source, Value sourceThere, Value init, ArrayRef<WindowDim> windows) {
  RankedTensorType type = typeOf(image), numberType = type.clone(l.b.getI32Type());
  Value none = scalar(l, -1);
  Value number =
      select(l, imageThere, numbers(l, type.getShape()), splat(l, none, numberType.getShape()));
  SmallVector<int64_t> sizes, strides, padding;
  for (const WindowDim &window : windows) {
    sizes.push_back(window.size), strides.push_back(window.stride);
    padding.append({window.low, window.high});
  }
  int64_t rank = windows.size();
  Value zero = zeros(l, RankedTensorType::get({}, type.getElementType()));
  auto selected = stablehlo::ReduceWindowOp::create(
      l.b, l.loc,
      TypeRange{typeOf(source).clone(type.getElementType()),
                typeOf(source).clone(l.b.getI32Type())},
      ValueRange{image, number}, ValueRange{zero, none}, l.b.getDenseI64ArrayAttr(sizes),
      l.b.getDenseI64ArrayAttr(strides), nullptr, nullptr,
      DenseIntElementsAttr::get(RankedTensorType::get({rank, 2}, l.b.getI64Type()), padding));
  addSelection(l, selected.getBody(), op.getSelect(), type.getElementType());
  ArrayRef<int64_t> shape = typeOf(source).getShape();
  Value place = select(l, sourceThere, selected.getResult(1), splat(l, none, shape));

  auto line = [&](Value value, ArrayRef<int64_t> to) {
    return stablehlo::ReshapeOp::create(l.b, l.loc, typeOf(value).clone(to), value);
  };
  int64_t count = typeOf(source).getNumElements(), elements = type.getNumElements();
  auto dims =
      stablehlo::ScatterDimensionNumbersAttr::get(l.b.getContext(), {}, {0}, {}, {}, {0}, 1);
  Value start = splat(l, init, {elements});
  auto scattered = stablehlo::ScatterOp::create(l.b, l.loc, TypeRange{start.getType()},
                                                ValueRange{start}, line(place, {count, 1}),
                                                ValueRange{line(source, {count})}, dims);
  {
    OpBuilder::InsertionGuard guard(l.b);
    auto element = RankedTensorType::get({}, type.getElementType());
    Block *block =
        l.b.createBlock(&scattered.getUpdateComputation(), {}, {element, element}, {l.loc, l.loc});
    stablehlo::ReturnOp::create(l.b, l.loc, inlined(l, op.getScatter(), block->getArguments()));
  }
  return line(scattered.getResult(0), type.getShape());
}

} // namespace tessera::localize
