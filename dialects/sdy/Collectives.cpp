// What must hold of collectives on global values: applied to the operand's sharding, they give
// `out_sharding`.
#include "dialects/sdy/PlainData.h"
#include "dialects/sdy/SdyOps.h"

using namespace mlir;
using tessera::sharding::AxisRefs;

namespace tessera::sdy {
namespace {

// The two sides of a collective as plain data: axes of each dimension, and of the partial sum.
struct Sides {
  Operation *op;
  MeshAttr meshAttr;
  sharding::Mesh mesh;
  sharding::TensorSharding in, out;
  ReductionOp inReduction = ReductionOp::SUM; // of what is unreduced in the operand

  InFlightDiagnostic error() const { return op->emitOpError(); }
};

FailureOr<AxisRefs> toAxes(ArrayRef<AxisRefAttr> axes, const Sides &sides) {
  if (failed(verifyAxes(axes, sides.meshAttr,
                        [&](const Twine &what) { return sides.error() << what; })))
    return failure();
  AxisRefs refs;
  for (AxisRefAttr axis : axes)
    refs.push_back(toAxisRef(axis, sides.mesh));
  return refs;
}

// Of a set of axes.
FailureOr<AxisRefs> toAxesInOrder(ArrayRef<AxisRefAttr> axes, const Sides &sides) {
  FailureOr<AxisRefs> refs = toAxes(axes, sides);
  if (succeeded(refs) && !llvm::is_sorted(*refs))
    return sides.error() << "must name its axes in the order of the mesh";
  return refs;
}

// Mesh order, parts joined: sets of axes become comparable.
AxisRefs asSet(AxisRefs axes) {
  llvm::sort(axes);
  return sharding::normalized(axes);
}

// Removes `suffix` from the end of `axes`; false when it isn't there.
bool dropSuffix(AxisRefs &axes, ArrayRef<sharding::AxisRef> suffix) {
  // Compare split as finely as needed: from the minor end, take the smaller part off both.
  AxisRefs rest(suffix);
  while (!rest.empty()) {
    if (axes.empty() || axes.back().axis != rest.back().axis)
      return false;
    sharding::AxisRef &a = axes.back(), &b = rest.back();
    if (a.preSize * a.size != b.preSize * b.size)
      return false;
    int64_t size = std::min(a.size, b.size);
    if (a.size % size || b.size % size)
      return false;
    a.size /= size;
    b.size /= size;
    if (a.size == 1)
      axes.pop_back();
    if (b.size == 1)
      rest.pop_back();
  }
  return true;
}

AxisRefs joined(ArrayRef<sharding::AxisRef> axes, ArrayRef<sharding::AxisRef> more) {
  AxisRefs all(axes);
  all.append(more.begin(), more.end());
  return sharding::normalized(all);
}

FailureOr<Sides> sidesOf(Operation *op, Value tensor, TensorShardingAttr out) {
  if (failed(verifySharding(out, op->getResult(0).getType(), op,
                            [&](const Twine &what) { return op->emitOpError() << what; })))
    return failure();
  MeshAttr mesh = out.getMesh(op);
  Sides sides{op, mesh, toMesh(mesh, out.getMeshName()), {}, {}, ReductionOp::SUM};
  TensorShardingAttr in = getSharding(tensor);
  if (in) {
    MeshAttr inMesh = in.getMesh(op);
    if (inMesh != mesh &&
        !(isa<CollectivePermuteOp>(op) && inMesh && inMesh.getAxes() == mesh.getAxes()))
      return op->emitOpError() << "operand and result must be on one mesh", failure();
    if (in.getRank() != out.getRank())
      return op->emitOpError() << "operand and result shardings must have the same rank", failure();
    if (failed(verifyKeptReduction(in, out,
                                   [&](const Twine &what) { return op->emitOpError() << what; })))
      return failure();
    sides.in = toSharding(in, sides.mesh);
    sides.inReduction = in.getReductionOp();
  } else if (isa<AllSliceOp, ReplicatedToUnreducedOp, AllReduceOp, CollectivePermuteOp>(op)) {
    sides.in = sharding::TensorSharding::replicatedOver(out.getRank());
  } else {
    return op->emitOpError() << "needs an operand that has a sharding", failure();
  }
  sides.out = toSharding(out, sides.mesh);
  return sides;
}

// Whether the parts of an axis in `set` hold all of `axis`.
bool holds(const AxisRefs &set, const sharding::AxisRef &axis) {
  return llvm::any_of(asSet(set), [&](const sharding::AxisRef &part) {
    return part.axis == axis.axis && part.preSize <= axis.preSize &&
           axis.preSize * axis.size <= part.preSize * part.size;
  });
}

// A collective that reduces by `op` reduces what is unreduced by that, and makes nothing unreduced.
LogicalResult compareReduction(const Sides &sides, ReductionOp op) {
  const AxisRefs &in = sides.in.unreduced, &out = sides.out.unreduced;
  if (!llvm::all_of(asSet(out), [&](const auto &axis) { return holds(in, axis); }))
    return sides.error() << "out_sharding is unreduced along an axis that the operand is not";
  bool reduces = !llvm::all_of(asSet(in), [&](const auto &axis) { return holds(out, axis); });
  if (reduces && sides.inReduction != op)
    return sides.error() << "reduces by " << stringifyReductionOp(op)
                         << ", but the operand is unreduced by "
                         << stringifyReductionOp(sides.inReduction);
  return success();
}

// Of a collective that makes axes unreduced: zeros beside what a device has are parts of a sum.
LogicalResult compareWithSum(const Sides &sides, TensorShardingAttr out) {
  if (out.getReductionOp() != ReductionOp::SUM)
    return sides.error() << "makes parts that are summed, but out_sharding is unreduced by "
                         << stringifyReductionOp(out.getReductionOp());
  return success();
}

LogicalResult compareDims(const Sides &sides, ArrayRef<AxisRefs> expected) {
  for (auto [d, axes] : llvm::enumerate(expected))
    if (sharding::normalized(axes) != sharding::normalized(sides.out.dims[d].axes))
      return sides.error() << "out_sharding does not match: dimension " << d
                           << " has other axes than the operand's sharding and this op make";
  return success();
}

LogicalResult compareUnreduced(const Sides &sides, const AxisRefs &expected) {
  if (asSet(expected) != asSet(sides.out.unreduced))
    return sides.error()
           << "out_sharding does not match: it has other unreduced axes than this op makes";
  return success();
}

SmallVector<AxisRefs> dimAxes(const sharding::TensorSharding &sharding) {
  SmallVector<AxisRefs> axes;
  for (const sharding::DimSharding &dim : sharding.dims)
    axes.push_back(dim.axes);
  return axes;
}

LogicalResult checkRank(const Sides &sides, ListOfAxisRefListsAttr lists) {
  if (lists.getValue().size() != sides.out.dims.size())
    return sides.error() << "must give axes for each of the " << sides.out.dims.size()
                         << " dimensions";
  return success();
}

// The operand's dimensions without their last axes, `removed` collecting those; or with more axes.
LogicalResult removeAxes(const Sides &sides, ListOfAxisRefListsAttr lists,
                         SmallVector<AxisRefs> &dims, AxisRefs &removed) {
  if (failed(checkRank(sides, lists)))
    return failure();
  for (auto [d, list] : llvm::enumerate(lists.getValue())) {
    FailureOr<AxisRefs> axes = toAxes(list.getValue(), sides);
    if (failed(axes))
      return failure();
    if (!dropSuffix(dims[d], *axes))
      return sides.error() << "dimension " << d
                           << " of the operand does not end in the axes given for it";
    removed.append(*axes);
  }
  return success();
}

LogicalResult addAxes(const Sides &sides, ListOfAxisRefListsAttr lists,
                      SmallVector<AxisRefs> &dims) {
  if (failed(checkRank(sides, lists)))
    return failure();
  for (auto [d, list] : llvm::enumerate(lists.getValue())) {
    FailureOr<AxisRefs> axes = toAxes(list.getValue(), sides);
    if (failed(axes))
      return failure();
    dims[d] = joined(dims[d], *axes);
  }
  return success();
}

} // namespace

LogicalResult AllGatherOp::verify() {
  auto sides = sidesOf(*this, getTensor(), getOutSharding());
  if (failed(sides))
    return failure();
  SmallVector<AxisRefs> dims = dimAxes(sides->in);
  AxisRefs removed;
  if (failed(removeAxes(*sides, getGatheringAxes(), dims, removed)) ||
      failed(compareDims(*sides, dims)))
    return failure();
  return compareUnreduced(*sides, sides->in.unreduced);
}

LogicalResult AllSliceOp::verify() {
  auto sides = sidesOf(*this, getTensor(), getOutSharding());
  if (failed(sides))
    return failure();
  SmallVector<AxisRefs> dims = dimAxes(sides->in);
  if (failed(addAxes(*sides, getSlicingAxes(), dims)) || failed(compareDims(*sides, dims)))
    return failure();
  return compareUnreduced(*sides, sides->in.unreduced);
}

LogicalResult AllToAllOp::verify() {
  auto sides = sidesOf(*this, getTensor(), getOutSharding());
  if (failed(sides))
    return failure();
  if (getParams().getValue().empty())
    return emitOpError() << "moves nothing";
  SmallVector<AxisRefs> dims = dimAxes(sides->in);
  int64_t rank = dims.size(), last = -1;
  llvm::SmallDenseSet<int64_t> seen;
  for (AllToAllParamAttr param : getParams().getValue()) {
    int64_t source = param.getSrcDim(), target = param.getTgtDim();
    if (source < 0 || target < 0 || source >= rank || target >= rank)
      return emitOpError() << "names a dimension that the value doesn't have";
    if (!seen.insert(source).second || !seen.insert(target).second)
      return emitOpError() << "names a dimension twice";
    if (source < last)
      return emitOpError() << "must have its source dimensions in ascending order";
    last = source;
    if (param.getAxes().empty())
      return emitOpError() << "moves no axis from dimension " << source;
    FailureOr<AxisRefs> axes = toAxes(param.getAxes(), *sides);
    if (failed(axes))
      return failure();
    if (!dropSuffix(dims[source], *axes))
      return emitOpError() << "dimension " << source
                           << " of the operand does not end in the axes to be moved";
    dims[target] = joined(dims[target], *axes);
  }
  if (failed(compareDims(*sides, dims)))
    return failure();
  return compareUnreduced(*sides, sides->in.unreduced);
}

LogicalResult CollectivePermuteOp::verify() {
  auto sides = sidesOf(*this, getTensor(), getOutSharding());
  if (failed(sides))
    return failure();
  for (auto [d, in, out] : llvm::enumerate(sides->in.dims, sides->out.dims))
    if (sharding::shardCount(in.axes) != sharding::shardCount(out.axes))
      return emitOpError() << "dimension " << d << " has " << sharding::shardCount(in.axes)
                           << " shards in the operand, but " << sharding::shardCount(out.axes)
                           << " in the result";
  return success();
}

LogicalResult AllReduceOp::verify() {
  auto sides = sidesOf(*this, getTensor(), getOutSharding());
  if (failed(sides))
    return failure();
  FailureOr<AxisRefs> given = toAxesInOrder(getReductionAxes().getValue(), *sides);
  if (failed(given))
    return failure();
  const AxisRefs &axes = *given;
  for (const sharding::DimSharding &dim : sides->in.dims)
    if (overlap(dim.axes, axes))
      return emitOpError() << "reduces along an axis that shards the operand";
  if (overlap(sides->in.replicated, axes))
    return emitOpError() << "reduces along an axis that the operand is replicated on";
  if (overlap(sides->out.unreduced, axes))
    return emitOpError() << "reduces along an axis that the result still has as unreduced";
  if (failed(compareReduction(*sides, getReductionOp().value_or(ReductionOp::SUM))))
    return failure();
  return compareDims(*sides, dimAxes(sides->in));
}

LogicalResult ReduceScatterOp::verify() {
  auto sides = sidesOf(*this, getTensor(), getOutSharding());
  if (failed(sides))
    return failure();
  SmallVector<AxisRefs> dims = dimAxes(sides->in);
  if (failed(addAxes(*sides, getReduceScatterAxes(), dims)) ||
      failed(compareReduction(*sides, getReductionOp().value_or(ReductionOp::SUM))))
    return failure();
  return compareDims(*sides, dims);
}

LogicalResult ReplicatedToUnreducedOp::verify() {
  auto sides = sidesOf(*this, getTensor(), getOutSharding());
  if (failed(sides))
    return failure();
  if (failed(compareWithSum(*sides, getOutSharding())))
    return failure();
  FailureOr<AxisRefs> given = toAxesInOrder(getAxes().getValue(), *sides);
  if (failed(given))
    return failure();
  const AxisRefs &axes = *given;
  if (axes.empty())
    return emitOpError() << "must name an axis";
  for (const sharding::DimSharding &dim : sides->in.dims)
    if (overlap(dim.axes, axes))
      return emitOpError()
             << "must name axes that the operand is replicated on, but one of them shards it";
  if (overlap(sides->in.unreduced, axes))
    return emitOpError()
           << "must name axes that the operand is replicated on, but one of them is unreduced";
  AxisRefs unreduced = sides->in.unreduced;
  unreduced.append(axes);
  if (failed(compareDims(*sides, dimAxes(sides->in))))
    return failure();
  return compareUnreduced(*sides, unreduced);
}

LogicalResult ShardedToUnreducedOp::verify() {
  auto sides = sidesOf(*this, getTensor(), getOutSharding());
  if (failed(sides))
    return failure();
  if (failed(compareWithSum(*sides, getOutSharding())))
    return failure();
  SmallVector<AxisRefs> dims = dimAxes(sides->in);
  AxisRefs unreduced = sides->in.unreduced;
  if (failed(removeAxes(*sides, getAxes(), dims, unreduced)) || failed(compareDims(*sides, dims)))
    return failure();
  return compareUnreduced(*sides, unreduced);
}

} // namespace tessera::sdy
