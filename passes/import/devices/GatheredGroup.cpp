#include "passes/import/devices/GatheredGroup.h"

#include "dialects/comm/CommOps.h"
#include "dialects/stablehlo/StablehloOps.h"
#include "dialects/stablehlo/Sums.h"
#include "dialects/stablehlo/TensorTypes.h"
#include "lib/sharding/DeviceGroups.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/Sequence.h"

namespace tessera::import {

using namespace mlir;

static SmallVector<int64_t> count(int64_t n, int64_t from = 0) {
  return llvm::to_vector(llvm::seq<int64_t>(from, from + n));
}

static SmallVector<int64_t> withFront(int64_t size, ArrayRef<int64_t> shape) {
  SmallVector<int64_t> result{size};
  llvm::append_range(result, shape);
  return result;
}

Value elementOf(OpBuilder &b, Location loc, Value vector, int64_t i) {
  auto one = typeOf(vector).clone(ArrayRef<int64_t>{1});
  Value element = stablehlo::SliceOp::create(b, loc, one, vector, ArrayRef<int64_t>{i},
                                             ArrayRef<int64_t>{i + 1}, ArrayRef<int64_t>{1});
  return stablehlo::ReshapeOp::create(b, loc, one.clone(ArrayRef<int64_t>{}), element);
}

Value GatheredGroup::reshape(Value x, ArrayRef<int64_t> shape) {
  return stablehlo::ReshapeOp::create(b, loc, typeOf(x).clone(shape), x);
}

Value GatheredGroup::broadcastTo(Value x, ArrayRef<int64_t> shape, ArrayRef<int64_t> dims) {
  return stablehlo::BroadcastInDimOp::create(b, loc, typeOf(x).clone(shape), x, dims);
}

Value GatheredGroup::zeros(Type element, ArrayRef<int64_t> shape) {
  return stablehlo::zeros(b, loc, RankedTensorType::get(shape, element));
}

Value GatheredGroup::entryOfTable(ArrayRef<int64_t> flat, int64_t columns) {
  int64_t devices = mesh.numDevices();
  auto type = RankedTensorType::get({devices, columns}, b.getI32Type());
  Value constant = stablehlo::ConstantOp::create(
      b, loc, DenseElementsAttr::get(type, ArrayRef(llvm::map_to_vector(flat, [](int64_t n) {
                                       return int32_t(n);
                                     }))));
  if (devices == 1)
    return reshape(constant, {columns});
  auto everywhere = comm::AxesAttr::get(b.getContext(), mesh, sharding::allAxes(mesh));
  Value device = comm::AxisIndexOp::create(b, loc, everywhere);
  Value zero = zeros(b.getI32Type(), {});
  Value row =
      stablehlo::DynamicSliceOp::create(b, loc, type.clone({1, columns}), constant,
                                        ValueRange{device, zero}, ArrayRef<int64_t>{1, columns});
  return reshape(row, {columns});
}

Value GatheredGroup::rank() { return reshape(entryOfTable(table.rank, 1), {}); }

Value GatheredGroup::isMember() {
  SmallVector<int64_t> sizes;
  for (const auto &members : table.members)
    sizes.push_back(members.size());
  Value size = broadcastTo(entryOfTable(sizes, 1), {table.largest}, {0});
  Value place = stablehlo::IotaOp::create(b, loc, typeOf(size), 0);
  return stablehlo::CompareOp::create(b, loc, place, size, stablehlo::ComparisonDirection::LT);
}

Value GatheredGroup::rows(Value operand) {
  auto shape = typeOf(operand).getShape();
  Value all = reshape(operand, withFront(1, shape));
  if (!table.axes.empty())
    all = comm::AllGatherOp::create(b, loc, all,
                                    comm::AxesAttr::get(b.getContext(), mesh, table.axes), 0)
              .getResult(0);
  SmallVector<int64_t> flat;
  for (const auto &members : table.members)
    for (int64_t i = 0; i < table.largest; ++i)
      flat.push_back(i < int64_t(members.size()) ? members[i] : 0);
  Value members = entryOfTable(flat, table.largest);
  auto numbers = stablehlo::GatherDimensionNumbersAttr::get(b.getContext(), count(shape.size(), 1),
                                                            {0}, {}, {}, {0}, /*indexVectorDim=*/1);
  return stablehlo::GatherOp::create(b, loc, typeOf(all).clone(withFront(table.largest, shape)),
                                     all, members, numbers, withFront(1, shape));
}

Value GatheredGroup::joined(Value rows, int64_t dim) {
  auto shape = typeOf(rows).getShape();
  SmallVector<int64_t> order = count(shape.size() - 1, 1);
  order.insert(order.begin() + dim, 0);
  auto moved = llvm::map_to_vector(order, [&](int64_t d) { return shape[d]; });
  Value turned = stablehlo::TransposeOp::create(b, loc, typeOf(rows).clone(moved), rows, order);
  SmallVector<int64_t> result(shape.drop_front());
  result[dim] *= shape[0];
  return reshape(turned, result);
}

Value GatheredGroup::part(Value x, int64_t dim) {
  SmallVector<int64_t> sizes(typeOf(x).getShape());
  sizes[dim] /= table.largest;
  SmallVector<Value> starts(sizes.size(), zeros(b.getI32Type(), {}));
  auto scalar = typeOf(starts[0]);
  Value size = stablehlo::ConstantOp::create(
      b, loc, DenseElementsAttr::get(scalar, b.getI32IntegerAttr(sizes[dim])));
  starts[dim] = stablehlo::MulOp::create(b, loc, rank(), size);
  return stablehlo::DynamicSliceOp::create(b, loc, typeOf(x).clone(sizes), x, starts, sizes);
}

Value GatheredGroup::allGather(Value operand, int64_t dim) { return joined(rows(operand), dim); }

// The reducer also carries whether there is a value: so it needs no neutral element, and rows of
// smaller groups have none.
Value GatheredGroup::allReduce(Value operand, Region &computation) {
  Block &body = computation.front();
  auto element = cast<RankedTensorType>(body.getArgument(0).getType()).getElementType();
  Value values = rows(operand);
  if (typeOf(values).getElementType() != element)
    values = stablehlo::ConvertOp::create(b, loc, typeOf(values).clone(element), values);
  auto shape = typeOf(values).getShape();
  Type flag = b.getI1Type();
  Value exists = broadcastTo(isMember(), shape, {0});
  auto scalarFlag = RankedTensorType::get({}, flag), scalar = RankedTensorType::get({}, element);
  auto rest = shape.drop_front();
  OperationState state(loc, stablehlo::ReduceOp::getOperationName(),
                       {exists, values, zeros(flag, {}), zeros(element, {})},
                       {RankedTensorType::get(rest, flag), RankedTensorType::get(rest, element)},
                       {b.getNamedAttr("dimensions", b.getDenseI64ArrayAttr({0}))});
  Region *reducer = state.addRegion();
  {
    OpBuilder::InsertionGuard guard(b);
    Block *block =
        b.createBlock(reducer, {}, {scalarFlag, scalar, scalarFlag, scalar}, {loc, loc, loc, loc});
    Value hasA = block->getArgument(0), a = block->getArgument(1), hasB = block->getArgument(2),
          c = block->getArgument(3);
    IRMapping mapping;
    mapping.map(body.getArgument(0), a);
    mapping.map(body.getArgument(1), c);
    for (Operation &op : body.without_terminator())
      b.clone(op, mapping);
    Value both = mapping.lookupOrDefault(body.getTerminator()->getOperand(0));
    Value one = stablehlo::SelectOp::create(b, loc, scalar, hasB, both, a);
    Value result = stablehlo::SelectOp::create(b, loc, scalar, hasA, one, c);
    Value any = stablehlo::OrOp::create(b, loc, hasA, hasB);
    stablehlo::ReturnOp::create(b, loc, ValueRange{any, result});
  }
  return b.create(state)->getResult(1);
}

Value GatheredGroup::reduceScatter(Value operand, int64_t dim, Region &computation) {
  return part(allReduce(operand, computation), dim);
}

Value GatheredGroup::allToAll(Value operand, int64_t split, int64_t concat) {
  return joined(part(rows(operand), split + 1), concat);
}

Value GatheredGroup::broadcast(Value operand, Value root) {
  auto type = typeOf(operand);
  Value values = rows(operand);
  Value zero = zeros(b.getI32Type(), {});
  SmallVector<int64_t> sizes = withFront(1, type.getShape());
  SmallVector<Value> starts(sizes.size(), zero);
  starts[0] = root ? root : zero;
  Value first = reshape(
      stablehlo::DynamicSliceOp::create(b, loc, typeOf(values).clone(sizes), values, starts, sizes),
      type.getShape());
  if (llvm::none_of(table.members, [](const auto &members) { return members.empty(); }))
    return first;
  return stablehlo::SelectOp::create(b, loc, type, elementOf(b, loc, isMember(), 0), first,
                                     zeros(type.getElementType(), type.getShape()));
}

// For every row of the output, the last member that sends something there says where it has it.
Value GatheredGroup::raggedAllToAll(ValueRange operands) {
  Value sent = rows(operands[0]), output = operands[1];
  auto type = typeOf(output);
  int64_t rowCount = type.getDimSize(0), perMember = typeOf(operands[0]).getDimSize(0);
  auto wide = RankedTensorType::get({size(), rowCount}, b.getI64Type());
  // Column `rank` of each member's table: what concerns this device.
  auto forMe = [&](Value numbers) {
    Value mine = reshape(part(rows(numbers), 1), {size()});
    mine =
        stablehlo::ConvertOp::create(b, loc, RankedTensorType::get({size()}, b.getI64Type()), mine);
    return broadcastTo(mine, wide.getShape(), {0});
  };
  Value from = forMe(operands[2]), length = forMe(operands[3]), to = forMe(operands[4]);
  Value row = stablehlo::IotaOp::create(b, loc, wide, 1);
  Value offset = stablehlo::SubtractOp::create(b, loc, row, to);
  auto compare = [&](Value x, Value y, stablehlo::ComparisonDirection direction) -> Value {
    return stablehlo::CompareOp::create(b, loc, x, y, direction);
  };
  Value none =
      stablehlo::ConstantOp::create(b, loc, DenseElementsAttr::get(wide, b.getI64IntegerAttr(-1)));
  Value inside =
      stablehlo::AndOp::create(b, loc, compare(offset, none, stablehlo::ComparisonDirection::GT),
                               compare(offset, length, stablehlo::ComparisonDirection::LT));
  Value stride = stablehlo::ConstantOp::create(
      b, loc, DenseElementsAttr::get(wide, b.getI64IntegerAttr(perMember)));
  Value member = stablehlo::IotaOp::create(b, loc, wide, 0);
  Value place = stablehlo::AddOp::create(b, loc, stablehlo::MulOp::create(b, loc, member, stride),
                                         stablehlo::AddOp::create(b, loc, from, offset));
  place = stablehlo::SelectOp::create(b, loc, wide, inside, place, none);

  auto scalar = RankedTensorType::get({}, b.getI64Type());
  Value least = stablehlo::ConstantOp::create(
      b, loc, DenseElementsAttr::get(scalar, b.getI64IntegerAttr(-1)));
  OperationState state(loc, stablehlo::ReduceOp::getOperationName(), {place, least},
                       {wide.clone(rowCount)},
                       {b.getNamedAttr("dimensions", b.getDenseI64ArrayAttr({0}))});
  Region *reducer = state.addRegion();
  {
    OpBuilder::InsertionGuard guard(b);
    Block *block = b.createBlock(reducer, {}, {scalar, scalar}, {loc, loc});
    Value larger = stablehlo::MaxOp::create(b, loc, block->getArgument(0), block->getArgument(1));
    stablehlo::ReturnOp::create(b, loc, larger);
  }
  Value last = b.create(state)->getResult(0);

  auto rest = type.getShape().drop_front();
  Value flat = reshape(sent, withFront(size() * perMember, rest));
  auto numbers = stablehlo::GatherDimensionNumbersAttr::get(b.getContext(), count(rest.size(), 1),
                                                            {0}, {}, {}, {0}, /*indexVectorDim=*/1);
  Value found = stablehlo::GatherOp::create(b, loc, type, flat, last, numbers, withFront(1, rest));
  Value noneRow = stablehlo::ConstantOp::create(
      b, loc, DenseElementsAttr::get(wide.clone(rowCount), b.getI64IntegerAttr(-1)));
  Value arrives =
      broadcastTo(compare(last, noneRow, stablehlo::ComparisonDirection::GT), type.getShape(), {0});
  return stablehlo::SelectOp::create(b, loc, type, arrives, found, output);
}

} // namespace tessera::import
