#include "dialects/stablehlo/Constraints.h"
#include "dialects/stablehlo/ReplicaGroups.h"
#include "dialects/stablehlo/StablehloAssembly.h"
#include "mlir/IR/Matchers.h"
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

// What the specification asks of a table of groups, by the numbers of its constraints.
struct GroupConstraints {
  int unique, size, range;
  bool mayBePadded = false; // -1 fills up shorter groups
};

// The size of a group goes to `size`, kDynamic when they differ.
static LogicalResult verifyGroups(Operation *op, Attribute groups, GroupConstraints constraints,
                                  int64_t &size) {
  size = groupSize(groups);
  auto table = dyn_cast<DenseIntElementsAttr>(groups);
  if (!table)
    return success();
  if (table.getType().getRank() != 2)
    return violates(op, constraints.unique)
           << "replica_groups must be a table of rank 2, not " << table.getType();
  std::set<int64_t> seen;
  for (const APInt &device : table.getValues<APInt>()) {
    int64_t d = device.getSExtValue();
    if (d < (constraints.mayBePadded ? -1 : 0))
      return violates(op, constraints.range) << "replica_groups has device " << d;
    if (d >= 0 && !seen.insert(d).second)
      return violates(op, constraints.unique) << "replica_groups has device " << d << " twice";
  }
  // Every device is in a group: with no two alike, the largest number says which is missing.
  if (constraints.size && !seen.empty() && *seen.rbegin() >= int64_t(seen.size())) {
    int64_t missing = 0;
    while (seen.count(missing))
      ++missing;
    return violates(op, constraints.size)
           << "replica_groups has device " << *seen.rbegin() << " but not device " << missing;
  }
  return success();
}

static LogicalResult verifyChannel(Operation *op, bool global,
                                   std::optional<ChannelHandleAttr> channel, int constraint) {
  if (global && (!channel || channel->getHandle() <= 0))
    return violates(op, constraint)
           << "use_global_device_ids needs a channel_handle with a positive handle";
  return success();
}

// However many devices a group has, `whole` is one part of it for each along dimension `d`.
static LogicalResult verifyParts(Operation *op, Type part, Type whole, int64_t d, int constraint) {
  auto parts = cast<RankedTensorType>(part), all = cast<RankedTensorType>(whole);
  if (d >= all.getRank() || parts.isDynamicDim(d) || all.isDynamicDim(d))
    return success();
  int64_t size = parts.getDimSize(d), total = all.getDimSize(d);
  if (size == 0 ? total == 0 : total >= size && total % size == 0)
    return success();
  return violates(op, constraint) << "dimension " << d << " of size " << total
                                  << " is not made of parts of " << size;
}

LogicalResult AllGatherOp::verify() {
  int64_t size, d = getAllGatherDim();
  if (failed(verifyGroups(*this, getReplicaGroupsAttr(), {2, 3, 4}, size)) ||
      failed(verifyChannel(*this, getUseGlobalDeviceIds(), getChannelHandle(), 5)))
    return failure();
  if (getNumOperands() == 0 || getNumOperands() != getNumResults())
    return violates(*this, 6) << "needs an operand, and a result for each";
  for (auto [operand, result] : llvm::zip(getOperandTypes(), getResultTypes())) {
    int64_t rank = cast<RankedTensorType>(operand).getRank();
    if (failed(verifyElements(*this, "a result", result, "its operand", operand, 6)))
      return failure();
    if (d < 0 || d >= rank)
      return violates(*this, 1) << "all_gather_dim is " << d << ", the operand has rank " << rank;
  }
  if (failed(verifyInferredShapes(*this, 6)))
    return failure();
  for (auto [operand, result] : llvm::zip(getOperandTypes(), getResultTypes()))
    if (failed(verifyParts(*this, operand, result, d, 6)))
      return failure();
  return success();
}

LogicalResult AllReduceOp::verify() {
  int64_t size;
  if (failed(verifyGroups(*this, getReplicaGroupsAttr(), {1, 2, 3, true}, size)) ||
      failed(verifyChannel(*this, getUseGlobalDeviceIds(), getChannelHandle(), 4)))
    return failure();
  if (getNumOperands() == 0 || getNumOperands() != getNumResults())
    return violates(*this, 6) << "needs an operand, and a result for each";
  for (auto [operand, result] : llvm::zip(getOperandTypes(), getResultTypes())) {
    SmallVector<Type> computed;
    if (failed(verifyCombiner(*this, getComputation(), "computation", operand, 5, computed)) ||
        failed(verifyComputed(*this, result, computed, 7)))
      return failure();
  }
  return verifyInferredShapes(*this, 6);
}

LogicalResult AllToAllOp::verify() {
  int64_t size, split = getSplitDimension(), concat = getConcatDimension(), count = getSplitCount();
  if (failed(verifyGroups(*this, getReplicaGroupsAttr(), {5, 6, 7}, size)))
    return failure();
  if (count <= 0)
    return violates(*this, 4) << "split_count is " << count;
  if (!sameSize(size, count))
    return violates(*this, 8) << "split_count is " << count << ", a group has " << size
                              << " devices";
  if (getNumOperands() == 0 || getNumOperands() != getNumResults())
    return violates(*this, 9) << "needs an operand, and a result for each";
  for (auto [operand, result] : llvm::zip(getOperandTypes(), getResultTypes())) {
    ArrayRef<int64_t> shape = cast<RankedTensorType>(operand).getShape();
    if (failed(verifyElements(*this, "a result", result, "its operand", operand, 9)))
      return failure();
    if (split < 0 || split >= int64_t(shape.size()))
      return violates(*this, 1) << "split_dimension is " << split << ", the operand has rank "
                                << shape.size();
    if (concat < 0 || concat >= int64_t(shape.size()))
      return violates(*this, 3) << "concat_dimension is " << concat << ", the operand has rank "
                                << shape.size();
    if (!ShapedType::isDynamic(shape[split]) && shape[split] % count)
      return violates(*this, 2) << "dimension " << split << " of size " << shape[split] << " in "
                                << count << " parts";
  }
  return verifyInferredShapes(*this, 9);
}

// The operands that are sent: the last one says who sends (receives) where roots are dynamic.
static LogicalResult verifyRoots(Operation *op, bool dynamic, int plain, int rooted, int count) {
  size_t n = op->getNumOperands(), sent = n - (dynamic && n > 0);
  if (sent == 0)
    return violates(op, dynamic ? rooted : plain) << "has nothing to send";
  if (op->getNumResults() != sent)
    return violates(op, count) << op->getNumResults() << " results for " << sent << " operands";
  if (!dynamic)
    return success();
  auto roots = cast<RankedTensorType>(op->getOperand(n - 1).getType());
  if (roots.getRank() != 1 || !sameSize(roots.getDimSize(0), sent) ||
      !roots.getElementType().isSignlessInteger(32))
    return violates(op, rooted) << "the last operand must be the roots, tensor<" << sent
                                << "xi32>, not " << roots;
  return success();
}

LogicalResult CollectiveBroadcastOp::verify() {
  int64_t size;
  if (failed(verifyGroups(*this, getReplicaGroupsAttr(), {1, 0, 2}, size)) ||
      failed(verifyRoots(*this, getHasDynamicRoot(), 3, 4, 5)))
    return failure();
  for (auto [operand, result] : llvm::zip(getOperandTypes(), getResultTypes()))
    if (!typesAgree(operand, result))
      return violates(*this, getHasDynamicRoot() ? 4 : 3)
             << "a result has type " << result << ", its operand " << operand;
  // C6: the roots are ranks of a group, where they are known.
  DenseIntElementsAttr roots;
  if (getHasDynamicRoot() && matchPattern(getOperands().back(), m_Constant(&roots)) &&
      !ShapedType::isDynamic(size))
    for (int32_t root : roots.getValues<int32_t>())
      if (root < 0 || root >= size)
        return violates(*this, 6) << "root " << root << " of groups of " << size;
  return success();
}

LogicalResult CollectiveReduceOp::verify() {
  int64_t size;
  if (failed(verifyGroups(*this, getReplicaGroupsAttr(), {1, 0, 2}, size)) ||
      failed(verifyRoots(*this, getHasDynamicRoot(), 3, 3, 3)))
    return failure();
  for (auto [operand, result] : llvm::zip(getOperandTypes(), getResultTypes())) {
    SmallVector<Type> computed;
    if (failed(verifySameShape(*this, "a result", result, "its operand", operand, 3)) ||
        failed(verifyCombiner(*this, getComputation(), "computation", operand, 4, computed)) ||
        failed(verifyComputed(*this, result, computed, 4)))
      return failure();
  }
  return success();
}

// A process is known by one number.
static LogicalResult verifyId(Operation *op) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  if (type.getRank() == 0 && type.getElementType().isUnsignedInteger(32))
    return success();
  return op->emitOpError() << "must return tensor<ui32>, not " << type;
}
LogicalResult PartitionIdOp::verify() { return verifyId(*this); }
LogicalResult ReplicaIdOp::verify() { return verifyId(*this); }

LogicalResult verifyPairs(Operation *op, DenseIntElementsAttr table) {
  auto type = table.getType();
  if (type.getRank() != 2 || type.getDimSize(1) != 2)
    return violates(op, 1) << "source_target_pairs must be a table of pairs, not " << type;
  SmallVector<int64_t> pairs(table.getValues<int64_t>());
  std::set<int64_t> sources, targets;
  for (size_t i = 0; i < pairs.size(); i += 2) {
    if (pairs[i] < 0 || pairs[i + 1] < 0)
      return violates(op, 4) << "pair " << i / 2 << " is (" << pairs[i] << ", " << pairs[i + 1]
                             << ")";
    if (!sources.insert(pairs[i]).second)
      return violates(op, 2) << "device " << pairs[i] << " sends twice";
    if (!targets.insert(pairs[i + 1]).second)
      return violates(op, 3) << "device " << pairs[i + 1] << " receives twice";
  }
  return success();
}

LogicalResult CollectivePermuteOp::verify() { return verifyPairs(*this, getSourceTargetPairs()); }

LogicalResult ReduceScatterOp::verify() {
  int64_t size, d = getScatterDimension();
  SmallVector<Type> computed;
  if (failed(verifyGroups(*this, getReplicaGroupsAttr(), {3, 4, 5}, size)) ||
      failed(verifyChannel(*this, getUseGlobalDeviceIds(), getChannelHandle(), 6)) ||
      failed(verifyCombiner(*this, getComputation(), "computation", getOperand().getType(), 7,
                            computed)) ||
      failed(verifyComputed(*this, getResult().getType(), computed, 9)))
    return failure();
  ArrayRef<int64_t> shape = getOperand().getType().getShape();
  if (d < 0 || d >= int64_t(shape.size()))
    return violates(*this, 2) << "scatter_dimension is " << d << ", the operand has rank "
                              << shape.size();
  size = spannedGroup(*this);
  bool known = !ShapedType::isDynamic(shape[d]) && !ShapedType::isDynamic(size) && size > 0;
  if (known && shape[d] % size)
    return violates(*this, 1) << "dimension " << d << " of size " << shape[d] << " in " << size
                              << " parts";
  return failure(failed(verifyInferredShapes(*this, 8)) ||
                 failed(verifyParts(*this, getType(), getOperand().getType(), d, 8)));
}

} // namespace tessera::stablehlo
