// Verifiers and builders: each collective's result shape follows from its operand's and the group's
// size.
#include "dialects/comm/CommOps.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace tessera::comm;

namespace {

RankedTensorType withDim(RankedTensorType type, int64_t dim, int64_t size) {
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] = size;
  return type.clone(shape);
}

// The attributes that a kind may have; null or absent where it has none.
struct Form {
  CollectiveKind kind;
  AxesAttr axes;
  std::optional<ReductionKind> reduction = std::nullopt;
  std::optional<int64_t> dim = std::nullopt;
  std::optional<int64_t> concatDim = std::nullopt;
  std::optional<ArrayRef<int64_t>> pairs = std::nullopt;
};

LogicalResult verifyPairs(Operation *op, ArrayRef<int64_t> pairs, int64_t group) {
  if (pairs.size() % 2)
    return op->emitOpError("pairs come as source, target: their number must be even");
  SmallVector<bool> sends(group), receives(group);
  for (size_t i = 0; i < pairs.size(); i += 2) {
    int64_t source = pairs[i], target = pairs[i + 1];
    if (source < 0 || source >= group || target < 0 || target >= group)
      return op->emitOpError() << "pair (" << source << ", " << target
                               << ") is outside of the group of " << group;
    if (sends[source] || receives[target])
      return op->emitOpError() << "pair (" << source << ", " << target
                               << ") repeats a source or a target";
    sends[source] = receives[target] = true;
  }
  return success();
}

// The result type of one operand, or null after an error.
RankedTensorType resultType(Operation *op, const Form &form, RankedTensorType type) {
  int64_t group = form.axes.getGroupSize();
  auto inRange = [&](int64_t dim) {
    if (dim < type.getRank())
      return true;
    op->emitOpError() << "dimension " << dim << " does not exist in " << type;
    return false;
  };
  auto divisible = [&](int64_t dim) {
    if (type.getDimSize(dim) % group == 0)
      return true;
    op->emitOpError() << "dimension " << dim << " of " << type
                      << " does not divide by the group of " << group << "; pad it first";
    return false;
  };
  switch (form.kind) {
  case CollectiveKind::AllGather:
    return inRange(*form.dim) ? withDim(type, *form.dim, type.getDimSize(*form.dim) * group)
                              : nullptr;
  case CollectiveKind::ReduceScatter:
    return inRange(*form.dim) && divisible(*form.dim)
               ? withDim(type, *form.dim, type.getDimSize(*form.dim) / group)
               : nullptr;
  case CollectiveKind::AllToAll: {
    if (!inRange(*form.dim) || !inRange(*form.concatDim) || !divisible(*form.dim))
      return nullptr;
    type = withDim(type, *form.dim, type.getDimSize(*form.dim) / group);
    return withDim(type, *form.concatDim, type.getDimSize(*form.concatDim) * group);
  }
  default:
    return type;
  }
}

LogicalResult verifyCollective(Operation *op, const Form &form, ValueRange inputs,
                               TypeRange outputs) {
  if (inputs.empty() || inputs.size() != outputs.size())
    return op->emitOpError("has one result for each operand, and at least one");
  if (form.pairs && failed(verifyPairs(op, *form.pairs, form.axes.getGroupSize())))
    return failure();
  if (form.reduction == ReductionKind::And || form.reduction == ReductionKind::Or)
    for (Value input : inputs)
      if (!getElementTypeOrSelf(input.getType()).isIntOrIndex())
        return op->emitOpError("and / or reduce integers only");
  for (auto [input, output] : llvm::zip(inputs, outputs)) {
    RankedTensorType want = resultType(op, form, dyn_cast<RankedTensorType>(input.getType()));
    if (!want)
      return failure();
    if (output != want)
      return op->emitOpError() << "result type must be " << want << ", not " << output;
  }
  return success();
}

RankedTensorType tensor(Value value) { return cast<RankedTensorType>(value.getType()); }

} // namespace

LogicalResult AllReduceOp::verify() {
  return verifyCollective(*this, {CollectiveKind::AllReduce, getAxes(), getReduction()},
                          getInputs(), getOutputs().getTypes());
}
LogicalResult AllGatherOp::verify() {
  return verifyCollective(*this,
                          {CollectiveKind::AllGather, getAxes(), std::nullopt, int64_t(getDim())},
                          getInputs(), getOutputs().getTypes());
}
LogicalResult ReduceScatterOp::verify() {
  return verifyCollective(
      *this, {CollectiveKind::ReduceScatter, getAxes(), getReduction(), int64_t(getDim())},
      getInputs(), getOutputs().getTypes());
}
LogicalResult AllToAllOp::verify() {
  return verifyCollective(*this,
                          {CollectiveKind::AllToAll, getAxes(), std::nullopt, int64_t(getDim()),
                           int64_t(getConcatDim())},
                          getInputs(), getOutputs().getTypes());
}
LogicalResult PermuteOp::verify() {
  return verifyCollective(
      *this,
      {CollectiveKind::Permute, getAxes(), std::nullopt, std::nullopt, std::nullopt, getPairs()},
      getInputs(), getOutputs().getTypes());
}
LogicalResult ShiftOp::verify() {
  return verifyCollective(*this, {CollectiveKind::Shift, getAxes()}, getInputs(),
                          getOutputs().getTypes());
}
LogicalResult BroadcastOp::verify() {
  return verifyCollective(*this, {CollectiveKind::Broadcast, getAxes()}, getInputs(),
                          getOutputs().getTypes());
}
LogicalResult SliceOp::verify() {
  return verifyCollective(
      *this, {CollectiveKind::ReduceScatter, getAxes(), std::nullopt, int64_t(getDim())},
      getInput(), getOutput().getType());
}
LogicalResult AxisIndexOp::verify() { return success(); }

LogicalResult StartOp::verify() {
  bool reduces =
      getKind() == CollectiveKind::AllReduce || getKind() == CollectiveKind::ReduceScatter;
  bool hasDim = getKind() == CollectiveKind::AllGather ||
                getKind() == CollectiveKind::ReduceScatter || getKind() == CollectiveKind::AllToAll;
  if (reduces != getReduction().has_value() || hasDim != getDim().has_value() ||
      (getKind() == CollectiveKind::AllToAll) != getConcatDim().has_value() ||
      (getKind() == CollectiveKind::Permute) != getPairs().has_value() ||
      (getKind() == CollectiveKind::Shift) != getOffset().has_value())
    return emitOpError() << "must have exactly the attributes of "
                         << stringifyCollectiveKind(getKind());
  for (Value output : getOutputs())
    for (Operation *user : output.getUsers())
      if (!isa<WaitOp>(user))
        return emitOpError("results may be used by comm.wait only");
  Form form{getKind(), getAxes(), getReduction()};
  if (getDim())
    form.dim = *getDim();
  if (getConcatDim())
    form.concatDim = *getConcatDim();
  if (getPairs())
    form.pairs = *getPairs();
  return verifyCollective(*this, form, getInputs(), getOutputs().getTypes());
}

LogicalResult WaitOp::verify() {
  Operation *start = getHandle().getDefiningOp();
  if (!isa_and_nonnull<StartOp, StartTransferOp>(start))
    return emitOpError("handle must come from comm.start or comm.start_transfer");
  if (getInputs() != start->getResults().drop_back())
    return emitOpError("operands must be all results of the ")
           << start->getName() << " that gave the handle";
  if (getInputs().getTypes() != getOutputs().getTypes())
    return emitOpError("results have the types of the operands");
  return success();
}

void AllReduceOp::build(OpBuilder &, OperationState &state, Value input, AxesAttr axes,
                        ReductionKind reduction) {
  auto &p = state.getOrAddProperties<Properties>();
  p.axes = axes, p.reduction = ReductionKindAttr::get(axes.getContext(), reduction);
  state.addOperands(input);
  state.addTypes(input.getType());
}
void AllGatherOp::build(OpBuilder &b, OperationState &state, Value input, AxesAttr axes,
                        int64_t dim) {
  auto &p = state.getOrAddProperties<Properties>();
  p.axes = axes, p.dim = b.getI64IntegerAttr(dim);
  state.addOperands(input);
  state.addTypes(withDim(tensor(input), dim, tensor(input).getDimSize(dim) * axes.getGroupSize()));
}
void ReduceScatterOp::build(OpBuilder &b, OperationState &state, Value input, AxesAttr axes,
                            int64_t dim, ReductionKind reduction) {
  auto &p = state.getOrAddProperties<Properties>();
  p.axes = axes, p.dim = b.getI64IntegerAttr(dim),
  p.reduction = ReductionKindAttr::get(axes.getContext(), reduction);
  state.addOperands(input);
  state.addTypes(withDim(tensor(input), dim, tensor(input).getDimSize(dim) / axes.getGroupSize()));
}
void AllToAllOp::build(OpBuilder &b, OperationState &state, Value input, AxesAttr axes, int64_t dim,
                       int64_t concatDim) {
  auto &p = state.getOrAddProperties<Properties>();
  p.axes = axes, p.dim = b.getI64IntegerAttr(dim), p.concat_dim = b.getI64IntegerAttr(concatDim);
  state.addOperands(input);
  RankedTensorType split =
      withDim(tensor(input), dim, tensor(input).getDimSize(dim) / axes.getGroupSize());
  state.addTypes(withDim(split, concatDim, split.getDimSize(concatDim) * axes.getGroupSize()));
}
void PermuteOp::build(OpBuilder &b, OperationState &state, Value input, AxesAttr axes,
                      ArrayRef<int64_t> pairs) {
  auto &p = state.getOrAddProperties<Properties>();
  p.axes = axes, p.pairs = b.getDenseI64ArrayAttr(pairs);
  state.addOperands(input);
  state.addTypes(input.getType());
}
void ShiftOp::build(OpBuilder &b, OperationState &state, Value input, AxesAttr axes, int64_t offset,
                    bool wrap) {
  auto &p = state.getOrAddProperties<Properties>();
  p.axes = axes, p.offset = b.getI64IntegerAttr(offset);
  if (wrap)
    p.wrap = b.getUnitAttr();
  state.addOperands(input);
  state.addTypes(input.getType());
}
void BroadcastOp::build(OpBuilder &, OperationState &state, Value input, AxesAttr axes) {
  state.getOrAddProperties<Properties>().axes = axes;
  state.addOperands(input);
  state.addTypes(input.getType());
}
void SliceOp::build(OpBuilder &b, OperationState &state, Value input, AxesAttr axes, int64_t dim) {
  auto &p = state.getOrAddProperties<Properties>();
  p.axes = axes, p.dim = b.getI64IntegerAttr(dim);
  state.addOperands(input);
  state.addTypes(withDim(tensor(input), dim, tensor(input).getDimSize(dim) / axes.getGroupSize()));
}
void AxisIndexOp::build(OpBuilder &b, OperationState &state, AxesAttr axes) {
  state.getOrAddProperties<Properties>().axes = axes;
  state.addTypes(RankedTensorType::get({}, b.getI32Type()));
}

#define GET_OP_CLASSES
#include "dialects/comm/CommOps.cpp.inc"

//===-- Transfers -----------------------------------------------------------------------------------------------===//

// Rows are what the first dimension counts.
static LogicalResult verifyTransfer(Operation *op, Value input, Value into, Value index,
                                    Value output) {
  RankedTensorType from = tensor(input), to = tensor(output);
  auto error = [&] { return op->emitOpError() << "of " << from << " to " << to << " "; };
  if (from.getElementType() != to.getElementType() || from.getRank() != to.getRank())
    return error() << "changes the type";
  if (into && !index)
    return op->emitOpError("replaces rows, but says not which: `at`");
  if (into && tensor(into) != to)
    return error() << "replaces rows of " << tensor(into);
  bool takes = index && !into;
  if (from.getRank() == 0)
    return index ? error() << "takes rows of a scalar" : success();
  if (from.getShape().drop_front() != to.getShape().drop_front())
    return error() << "changes the shape of a row";
  int64_t most = takes ? from.getDimSize(0) : to.getDimSize(0);
  int64_t rows = takes ? to.getDimSize(0) : from.getDimSize(0);
  if (rows > most)
    return error() << "takes or gives more rows than there are";
  return success();
}

LogicalResult TransferOp::verify() {
  return verifyTransfer(*this, getInput(), getInto(), getIndex(), getOutput());
}
LogicalResult StartTransferOp::verify() {
  return verifyTransfer(*this, getInput(), getInto(), getIndex(), getOutput());
}

void TransferOp::build(OpBuilder &b, OperationState &state, Value input, Space space) {
  build(b, state, input.getType(), input, /*into=*/Value(), /*index=*/Value(), space);
}
