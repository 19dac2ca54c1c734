#include "dialects/stablehlo/Constraints.h"
#include "dialects/stablehlo/StablehloAssembly.h"
#include <set>

using namespace mlir;
using namespace tessera::stablehlo;

#define GET_OP_CLASSES
#include "dialects/stablehlo/CollectiveOps.cpp.inc"

namespace tessera::stablehlo {

void StablehloDialect::registerCollectiveOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/stablehlo/CollectiveOps.cpp.inc"
      >();
}

//===------------------------------- Constraints ------------------------------===//

// Groups of different devices; -1 fills up shorter ones. The size of a group, kDynamic when they
// differ.
static LogicalResult verifyGroups(Operation *op, DenseIntElementsAttr groups, int constraint,
                                  int64_t &size) {
  if (groups.getType().getRank() != 2)
    return violates(op, constraint)
           << "replica_groups must be a table of rank 2, not " << groups.getType();
  std::set<int64_t> seen;
  bool padded = false;
  for (const APInt &device : groups.getValues<APInt>()) {
    int64_t d = device.getSExtValue();
    padded |= d == -1;
    if (d < -1 || (d >= 0 && !seen.insert(d).second))
      return violates(op, constraint) << "replica_groups has " << d << (d < 0 ? "" : " twice");
  }
  size = padded ? ShapedType::kDynamic : groups.getType().getDimSize(1);
  return success();
}

static LogicalResult verifyChannel(Operation *op, bool global,
                                   std::optional<ChannelHandleAttr> channel, int constraint) {
  if (global && (!channel || channel->getHandle() <= 0))
    return violates(op, constraint)
           << "use_global_device_ids needs a channel_handle with a positive handle";
  return success();
}

// With a channel but no global ids a group also spans the partitions, of which the op doesn't know
// the number.
static bool spansPartitions(bool global, std::optional<ChannelHandleAttr> channel) {
  return !global && channel && channel->getHandle() > 0;
}

LogicalResult AllGatherOp::verify() {
  int64_t size, d = getAllGatherDim();
  if (failed(verifyGroups(*this, getReplicaGroups(), 2, size)) ||
      failed(verifyChannel(*this, getUseGlobalDeviceIds(), getChannelHandle(), 5)))
    return failure();
  if (spansPartitions(getUseGlobalDeviceIds(), getChannelHandle()))
    size = ShapedType::kDynamic;
  if (getNumOperands() != getNumResults())
    return emitOpError("needs a result for each operand");
  for (auto [operand, result] : llvm::zip(getOperandTypes(), getResultTypes())) {
    SmallVector<int64_t> shape(cast<RankedTensorType>(operand).getShape());
    if (d < 0 || d >= int64_t(shape.size()))
      return violates(*this, 1) << "all_gather_dim is " << d << ", the operand has rank "
                                << shape.size();
    bool known = !ShapedType::isDynamic(shape[d]) && !ShapedType::isDynamic(size) && size > 0;
    shape[d] = known ? shape[d] * size : ShapedType::kDynamic;
    if (failed(verifyResultShape(*this, result, shape, 6)))
      return failure();
  }
  return success();
}

LogicalResult AllReduceOp::verify() {
  int64_t size;
  if (failed(verifyGroups(*this, getReplicaGroups(), 1, size)) ||
      failed(verifyChannel(*this, getUseGlobalDeviceIds(), getChannelHandle(), 4)) ||
      failed(verifyScalarComputation(*this, getComputation(), "computation", 2, 1, false, 5)))
    return failure();
  if (getNumOperands() != getNumResults())
    return emitOpError("needs a result for each operand");
  for (auto [operand, result] : llvm::zip(getOperandTypes(), getResultTypes()))
    if (failed(verifyResultShape(*this, result, cast<RankedTensorType>(operand).getShape(), 6)))
      return failure();
  return success();
}

LogicalResult AllToAllOp::verify() {
  int64_t size, split = getSplitDimension(), concat = getConcatDimension(), count = getSplitCount();
  if (failed(verifyGroups(*this, getReplicaGroups(), 5, size)))
    return failure();
  if (count <= 0)
    return violates(*this, 4) << "split_count is " << count;
  if (!sameSize(size, count))
    return violates(*this, 8) << "split_count is " << count << ", a group has " << size
                              << " devices";
  for (auto [operand, result] : llvm::zip(getOperandTypes(), getResultTypes())) {
    SmallVector<int64_t> shape(cast<RankedTensorType>(operand).getShape());
    if (split < 0 || split >= int64_t(shape.size()))
      return violates(*this, 1) << "split_dimension is " << split << ", the operand has rank "
                                << shape.size();
    if (concat < 0 || concat >= int64_t(shape.size()))
      return violates(*this, 3) << "concat_dimension is " << concat << ", the operand has rank "
                                << shape.size();
    if (!ShapedType::isDynamic(shape[split]) && shape[split] % count)
      return violates(*this, 2) << "dimension " << split << " of size " << shape[split] << " in "
                                << count << " parts";
    if (!ShapedType::isDynamic(shape[split]))
      shape[split] /= count;
    if (!ShapedType::isDynamic(shape[concat]))
      shape[concat] *= count;
    if (failed(verifyResultShape(*this, result, shape, 9)))
      return failure();
  }
  return success();
}

LogicalResult CollectiveBroadcastOp::verify() {
  int64_t size;
  return verifyGroups(*this, getReplicaGroups(), 1, size);
}

LogicalResult CollectivePermuteOp::verify() {
  auto type = getSourceTargetPairs().getType();
  if (type.getRank() != 2 || type.getDimSize(1) != 2)
    return violates(*this, 1) << "source_target_pairs must be a table of pairs, not " << type;
  SmallVector<int64_t> pairs(getSourceTargetPairs().getValues<int64_t>());
  std::set<int64_t> sources, targets;
  for (size_t i = 0; i < pairs.size(); i += 2) {
    if (pairs[i] < 0 || pairs[i + 1] < 0)
      return violates(*this, 4) << "pair " << i / 2 << " is (" << pairs[i] << ", " << pairs[i + 1]
                                << ")";
    if (!sources.insert(pairs[i]).second)
      return violates(*this, 2) << "device " << pairs[i] << " sends twice";
    if (!targets.insert(pairs[i + 1]).second)
      return violates(*this, 3) << "device " << pairs[i + 1] << " receives twice";
  }
  return success();
}

LogicalResult ReduceScatterOp::verify() {
  int64_t size, d = getScatterDimension();
  if (failed(verifyGroups(*this, getReplicaGroups(), 3, size)) ||
      failed(verifyChannel(*this, getUseGlobalDeviceIds(), getChannelHandle(), 6)) ||
      failed(verifyScalarComputation(*this, getComputation(), "computation", 2, 1, false, 7)))
    return failure();
  if (spansPartitions(getUseGlobalDeviceIds(), getChannelHandle()))
    size = ShapedType::kDynamic;
  SmallVector<int64_t> shape(getOperand().getType().getShape());
  if (d < 0 || d >= int64_t(shape.size()))
    return violates(*this, 2) << "scatter_dimension is " << d << ", the operand has rank "
                              << shape.size();
  bool known = !ShapedType::isDynamic(shape[d]) && !ShapedType::isDynamic(size) && size > 0;
  if (known && shape[d] % size)
    return violates(*this, 1) << "dimension " << d << " of size " << shape[d] << " in " << size
                              << " parts";
  shape[d] = known ? shape[d] / size : ShapedType::kDynamic;
  return verifyResultShape(*this, getResult().getType(), shape, 8);
}

} // namespace tessera::stablehlo
