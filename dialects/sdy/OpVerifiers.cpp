// What must hold of sdy's ops, collectives apart.
#include "dialects/sdy/PlainData.h"
#include "dialects/sdy/SdyOps.h"

using namespace mlir;

namespace tessera::sdy {
namespace {

LogicalResult verifyOn(Operation *op, TensorShardingAttr sharding, Type type) {
  return verifySharding(sharding, type, op,
                        [&](const Twine &what) { return op->emitOpError() << what; });
}

// A dimension's size inside the region: what the manual axes leave of it. -1 when they don't divide
// it.
int64_t sizeInside(int64_t size, DimensionShardingAttr dim, ManualAxesAttr manual, MeshAttr mesh) {
  for (AxisRefAttr axis : dim.getAxes()) {
    if (!llvm::any_of(manual.getValue(),
                      [&](StringAttr name) { return name.getValue() == axis.getName(); }))
      continue;
    int64_t shards = axis.getSize(mesh);
    if (size % shards)
      return -1;
    size /= shards;
  }
  return size;
}

struct ManualSide {
  mutable ManualComputationOp op;
  StringRef what; // "operand" or "result"
  MeshAttr mesh;

  bool isManual(AxisRefAttr axis) const {
    return llvm::any_of(op.getManualAxes().getValue(),
                        [&](StringAttr name) { return name.getValue() == axis.getName(); });
  }

  InFlightDiagnostic error(unsigned i) const {
    return op.emitOpError() << what << " " << i << ": ";
  }

  LogicalResult verify(unsigned i, TensorShardingAttr sharding, Type global, Type local) const {
    for (DimensionShardingAttr dim : sharding.getDimShardings()) {
      bool free = false;
      for (AxisRefAttr axis : dim.getAxes()) {
        if (isManual(axis) && free)
          return error(i) << "manual axis \"" << axis.getName()
                          << "\" must come before the free axes of its dimension";
        free |= !isManual(axis);
      }
    }
    auto globalType = dyn_cast<RankedTensorType>(global),
         localType = dyn_cast<RankedTensorType>(local);
    if (!globalType || !localType)
      return success(global == local || globalType == localType);
    SmallVector<int64_t> shape(globalType.getShape());
    for (auto [d, dim] : llvm::enumerate(sharding.getDimShardings())) {
      if (ShapedType::isDynamic(shape[d]))
        continue;
      int64_t inside = sizeInside(shape[d], dim, op.getManualAxes(), mesh);
      if (inside < 0)
        return error(i) << "dimension " << d << " of size " << shape[d]
                        << " does not divide by its manual axes";
      shape[d] = inside;
    }
    auto expected = globalType.clone(shape);
    if (expected != localType)
      return error(i) << "has type " << localType << " inside, but the sharding makes it "
                      << expected;
    return success();
  }

  LogicalResult verify(TensorShardingPerValueAttr shardings, TypeRange globals,
                       TypeRange locals) const {
    if (globals.size() != locals.size())
      return op.emitOpError() << "has " << globals.size() << " " << what << "s, but "
                              << locals.size() << " inside";
    for (unsigned i = 0; i < globals.size(); ++i)
      if (failed(verify(i, shardings.getShardings()[i], globals[i], locals[i])))
        return failure();
    return success();
  }
};

MeshAttr meshOf(ManualComputationOp op) {
  for (TensorShardingPerValueAttr side : {op.getInShardings(), op.getOutShardings()})
    if (!side.getShardings().empty())
      return side.getShardings()[0].getMesh(op);
  return {};
}

bool onOneMesh(ManualComputationOp a, ManualComputationOp b) {
  MeshAttr first = meshOf(a), second = meshOf(b);
  return !first || !second || first == second;
}

} // namespace

LogicalResult MeshOp::verify() { return success(); } // all is in MeshAttr

LogicalResult ShardingConstraintOp::verify() {
  if (failed(verifyOn(*this, getSharding(), getResult().getType())))
    return failure();
  TensorShardingAttr before = sdy::getSharding(getInput());
  if (!before || before.getMesh(*this) != getSharding().getMesh(*this))
    return success();
  return verifyKeptReduction(before, getSharding(),
                             [&](const Twine &what) { return emitOpError() << what; });
}

LogicalResult ReshardOp::verify() { return verifyOn(*this, getSharding(), getResult().getType()); }

LogicalResult PropagationBarrierOp::verify() {
  if (getAllowedDirection() == PropagationDirection::BOTH)
    return emitOpError()
           << "lets everything through; remove it, or allow FORWARD, BACKWARD or NONE";
  return success();
}

LogicalResult DataFlowEdgeOp::verify() {
  Operation *owner = getInput().getDefiningOp();
  if (owner && isa<SdyDialect>(owner->getDialect()) && !isa<NamedComputationOp>(owner))
    return emitOpError() << "must be of an operation of another dialect, whose shardings it holds";
  if (getSharding())
    return verifyOn(*this, *getSharding(), getType());
  return success();
}

LogicalResult ConstantOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location,
                                           ValueRange operands, DictionaryAttr attributes,
                                           OpaqueProperties properties, RegionRange regions,
                                           SmallVectorImpl<Type> &types) {
  types.push_back(Adaptor(operands, attributes, properties, regions).getValue().getType());
  return success();
}

LogicalResult NamedComputationOp::verify() {
  auto error = [&](const Twine &what) { return emitOpError() << what; };
  Operation *terminator = getBody().front().getTerminator();
  if (getBody().getArgumentTypes() != getOperandTypes())
    return error("must have the same types inside as its operands");
  if (terminator->getOperandTypes() != getResultTypes())
    return error("must return the types of its results");
  if (getInShardings() &&
      failed(verifyShardings(*getInShardings(), getOperandTypes(), *this, error)))
    return failure();
  if (getOutShardings() &&
      failed(verifyShardings(*getOutShardings(), getResultTypes(), *this, error)))
    return failure();
  return success();
}

LogicalResult ManualComputationOp::verify() {
  auto error = [&](const Twine &what) { return emitOpError() << what; };
  llvm::SmallDenseSet<StringRef> named;
  for (StringAttr axis : getManualAxes().getValue())
    if (!named.insert(axis.getValue()).second)
      return error("manual axis \"" + axis.getValue() + "\" is listed twice");
  // Outer manual computations must use other axes.
  for (auto outer = (*this)->getParentOfType<ManualComputationOp>();
       outer && onOneMesh(*this, outer); outer = outer->getParentOfType<ManualComputationOp>())
    for (StringAttr axis : getManualAxes().getValue())
      if (llvm::is_contained(outer.getManualAxes().getValue(), axis))
        return error("axis \"" + axis.getValue() +
                     "\" is manual already in an enclosing computation");
  if (failed(verifyShardings(getInShardings(), getOperandTypes(), *this, error)) ||
      failed(verifyShardings(getOutShardings(), getResultTypes(), *this, error)))
    return failure();
  MeshAttr mesh = meshOf(*this);
  for (TensorShardingPerValueAttr side : {getInShardings(), getOutShardings()})
    if (llvm::any_of(side.getShardings(),
                     [&](TensorShardingAttr each) { return each.getMesh(*this) != mesh; }))
      return error("must be on one mesh");
  if (!mesh) { // nothing goes in or out
    for (StringAttr axis : getManualAxes().getValue())
      if (llvm::none_of((*this)->getParentOfType<ModuleOp>().getOps<MeshOp>(),
                        [&](MeshOp each) { return each.getMesh().getAxisIndex(axis) >= 0; }))
        return error("unknown manual axis \"" + axis.getValue() +
                     "\"; no mesh has an axis of that name");
  } else {
    for (StringAttr axis : getManualAxes().getValue())
      if (mesh.getAxisIndex(axis) < 0)
        return error("unknown manual axis \"" + axis.getValue() +
                     "\"; the mesh has no axis of that name");
    if (!mesh.getAxes().empty() || getManualAxes().getValue().empty()) {
      TypeRange returned = getBody().front().getTerminator()->getOperandTypes();
      if (failed(ManualSide{*this, "operand", mesh}.verify(getInShardings(), getOperandTypes(),
                                                           getBody().getArgumentTypes())) ||
          failed(ManualSide{*this, "result", mesh}.verify(getOutShardings(), getResultTypes(),
                                                          returned)))
        return failure();
    }
  }
  return success();
}

} // namespace tessera::sdy
