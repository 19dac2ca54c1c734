// What must hold of sdy's attributes: by themselves, on their mesh, and for the type of the value
// they speak of.
#include "dialects/sdy/SdyOps.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tessera::sdy {
namespace {

std::string textOf(AxisRefAttr axis) {
  std::string text = ("\"" + axis.getName() + "\"").str();
  if (SubAxisInfoAttr part = axis.getSubAxisInfo())
    text += ":(" + std::to_string(part.getPreSize()) + ")" + std::to_string(part.getSize());
  return text;
}

std::pair<int64_t, int64_t> extent(AxisRefAttr axis) { // [pre, pre * size), whole axes to infinity
  SubAxisInfoAttr part = axis.getSubAxisInfo();
  return part ? std::pair(part.getPreSize(), part.getPreSize() * part.getSize())
              : std::pair(int64_t(1), std::numeric_limits<int64_t>::max());
}

// Whether `minor` goes on where `major` ends: they should be written as one.
bool adjacent(AxisRefAttr major, AxisRefAttr minor) {
  return major.getName() == minor.getName() && major.getSubAxisInfo() && minor.getSubAxisInfo() &&
         extent(major).second == extent(minor).first;
}

LogicalResult verifyAxis(AxisRefAttr axis, MeshAttr mesh, EmitError emitError) {
  int64_t size = mesh.getAxisSize(axis.getName());
  if (!size)
    return emitError("unknown axis \"" + axis.getName() + "\"; the mesh has no axis of that name");
  SubAxisInfoAttr part = axis.getSubAxisInfo();
  if (!part)
    return success();
  // Two divisions: the product of huge sizes would wrap.
  if (size % part.getPreSize() || (size / part.getPreSize()) % part.getSize())
    return emitError("sub-axis " + textOf(axis) + " does not divide axis \"" + axis.getName() +
                     "\" of size " + Twine(size));
  if (part.getSize() == size)
    return emitError("sub-axis " + textOf(axis) + " is the whole axis; write \"" + axis.getName() +
                     "\"");
  return success();
}

LogicalResult verifyNoOverlap(ArrayRef<AxisRefAttr> axes, EmitError emitError) {
  for (auto [i, axis] : llvm::enumerate(axes))
    for (AxisRefAttr other : axes.take_front(i))
      if (axis.overlaps(other)) {
        if (axis == other)
          return emitError("axis " + textOf(axis) + " is used twice");
        return emitError("axes " + textOf(other) + " and " + textOf(axis) + " overlap");
      } else if (axis.getName() == other.getName() &&
                 std::max(extent(axis).first, extent(other).first) %
                     std::min(extent(axis).second, extent(other).second)) {
        return emitError("sub-axes " + textOf(other) + " and " + textOf(axis) +
                         " are no parts of one splitting of \"" + axis.getName() + "\"");
      }
  return success();
}

LogicalResult verifySorted(StringRef what, ArrayRef<AxisRefAttr> axes, MeshAttr mesh,
                           EmitError emitError) {
  auto place = [&](AxisRefAttr axis) {
    return std::pair(mesh.getAxisIndex(axis.getName()), extent(axis).first);
  };
  for (auto [a, b] :
       llvm::zip(axes.drop_back(axes.empty() ? 0 : 1), axes.drop_front(axes.empty() ? 0 : 1)))
    if (place(b) < place(a))
      return emitError(what + " axes must be in the order of the mesh: " + textOf(b) + " before " +
                       textOf(a));
  return success();
}

} // namespace

LogicalResult MeshAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               ArrayRef<MeshAxisAttr> axes, ArrayRef<int64_t> ids) {
  if (llvm::any_of(ids, [](int64_t id) { return id < 0; }))
    return emitError() << "a device id must not be negative";
  if (axes.empty()) {
    if (ids.size() > 1)
      return emitError() << "a mesh without axes has one device id at most";
    return success();
  }
  int64_t devices = 1;
  llvm::SmallDenseSet<StringRef> names;
  for (MeshAxisAttr axis : axes) {
    if (axis.getSize() <= 0)
      return emitError() << "axis \"" << axis.getName() << "\" must have a positive size";
    if (!names.insert(axis.getName()).second)
      return emitError() << "two axes are named \"" << axis.getName() << "\"";
    if (llvm::MulOverflow(devices, axis.getSize(), devices))
      return emitError() << "the mesh has more devices than a 64-bit number can say";
  }
  if (ids.empty())
    return success();
  if (static_cast<int64_t>(ids.size()) != devices)
    return emitError() << "the axes make " << devices << " devices, but there are " << ids.size()
                       << " device ids";
  SmallVector<int64_t> sorted(ids);
  llvm::sort(sorted);
  for (auto [i, id] : llvm::enumerate(sorted))
    if (static_cast<int64_t>(i) != id)
      return emitError() << "device ids must be a permutation of 0 to " << devices - 1;
  return success();
}

int64_t MeshAttr::getNumDevices() const {
  int64_t devices = 1;
  for (MeshAxisAttr axis : getAxes())
    devices *= axis.getSize();
  return devices;
}

int64_t MeshAttr::getAxisIndex(StringRef axisName) const {
  for (auto [i, axis] : llvm::enumerate(getAxes()))
    if (axis.getName() == axisName)
      return i;
  return -1;
}

int64_t MeshAttr::getAxisSize(StringRef axisName) const {
  int64_t index = getAxisIndex(axisName);
  return index < 0 ? 0 : getAxes()[index].getSize();
}

LogicalResult SubAxisInfoAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t preSize,
                                      int64_t size) {
  if (preSize < 1)
    return emitError() << "the pre-size of a sub-axis must be at least 1";
  if (size <= 1)
    return emitError() << "the size of a sub-axis must be greater than 1";
  return success();
}

int64_t AxisRefAttr::getSize(MeshAttr mesh) const {
  return getSubAxisInfo() ? getSubAxisInfo().getSize() : mesh.getAxisSize(getName());
}

bool AxisRefAttr::overlaps(AxisRefAttr other) const {
  if (getName() != other.getName())
    return false;
  auto [begin, end] = extent(*this);
  auto [otherBegin, otherEnd] = extent(other);
  return begin < otherEnd && otherBegin < end;
}

TensorShardingAttr TensorShardingAttr::get(MLIRContext *context, StringRef mesh,
                                           ArrayRef<DimensionShardingAttr> dims,
                                           ArrayRef<AxisRefAttr> replicated,
                                           ArrayRef<AxisRefAttr> unreduced, ReductionOp reduction) {
  return get(context, FlatSymbolRefAttr::get(context, mesh), dims, replicated, unreduced,
             reduction);
}

TensorShardingAttr TensorShardingAttr::getReplicated(MLIRContext *context, StringRef mesh,
                                                     int64_t rank, bool isClosed) {
  return get(
      context, mesh,
      SmallVector<DimensionShardingAttr>(rank, DimensionShardingAttr::get(context, {}, isClosed)));
}

StringRef TensorShardingAttr::getMeshName() const {
  auto ref = dyn_cast<FlatSymbolRefAttr>(getMeshOrRef());
  return ref ? ref.getValue() : StringRef();
}

MeshAttr TensorShardingAttr::getMesh(Operation *from) const {
  if (auto mesh = dyn_cast<MeshAttr>(getMeshOrRef()))
    return mesh;
  auto module = dyn_cast<ModuleOp>(from);
  if (!module)
    module = from->getParentOfType<ModuleOp>();
  // Meshes stand first in a module, so this looks at few ops.
  for (; module; module = module->getParentOfType<ModuleOp>())
    for (MeshOp mesh : module.getOps<MeshOp>())
      if (mesh.getSymName() == getMeshName())
        return mesh.getMesh();
  return {};
}

LogicalResult verifyAxes(ArrayRef<AxisRefAttr> axes, MeshAttr mesh, EmitError emitError) {
  for (AxisRefAttr axis : axes)
    if (failed(verifyAxis(axis, mesh, emitError)))
      return failure();
  for (auto [i, axis] : llvm::enumerate(axes))
    if (i && adjacent(axes[i - 1], axis))
      return emitError("sub-axes " + textOf(axes[i - 1]) + " and " + textOf(axis) +
                       " must be written as one");
  return verifyNoOverlap(axes, emitError);
}

// The axes of `mesh` in which the code around `op` is local already.
static SmallVector<StringRef> manualAround(Operation *op, MeshAttr mesh) {
  SmallVector<StringRef> axes;
  for (auto outer = op->getParentOfType<ManualComputationOp>(); outer;
       outer = outer->getParentOfType<ManualComputationOp>()) {
    for (TensorShardingPerValueAttr side : {outer.getInShardings(), outer.getOutShardings()})
      if (!side.getShardings().empty() && side.getShardings()[0].getMesh(outer) != mesh)
        return axes;
    for (StringAttr axis : outer.getManualAxes().getValue())
      axes.push_back(axis.getValue());
  }
  return axes;
}

LogicalResult verifySharding(TensorShardingAttr sharding, Type type, Operation *from,
                             EmitError emitError) {
  MeshAttr mesh = sharding.getMesh(from);
  if (!mesh)
    return emitError("unknown mesh @" + sharding.getMeshName() + "; define it by sdy.mesh");
  if (auto shaped = dyn_cast_or_null<ShapedType>(type)) {
    if (!shaped.hasRank())
      return emitError("a value without rank has no sharding");
    if (mesh.isMaximal())
      return sharding.getRank() == 0
                 ? success()
                 : emitError("a mesh of one device shards no dimension: write []");
    if (shaped.getRank() != sharding.getRank())
      return emitError("the sharding has " + Twine(sharding.getRank()) +
                       " dimensions, but the value has " + Twine(shaped.getRank()));
  } else if (type && (sharding.getRank() != 0 || !sharding.getReplicatedAxes().empty())) {
    return emitError("only tensors have dimensions to shard");
  }
  SmallVector<AxisRefAttr> all;
  auto list = [&](ArrayRef<AxisRefAttr> axes) {
    llvm::append_range(all, axes);
    return verifyAxes(axes, mesh, emitError);
  };
  for (DimensionShardingAttr dim : sharding.getDimShardings()) {
    if (failed(list(dim.getAxes())))
      return failure();
    if (!dim.getPriority())
      continue;
    if (*dim.getPriority() < 0)
      return emitError("a priority must not be negative");
    if (dim.getIsClosed() && dim.getAxes().empty())
      return emitError(
          "a closed dimension without axes has nothing to propagate, hence no priority");
  }
  if (failed(list(sharding.getReplicatedAxes())) || failed(list(sharding.getUnreducedAxes())) ||
      failed(verifySorted("replicated", sharding.getReplicatedAxes(), mesh, emitError)) ||
      failed(verifySorted("unreduced", sharding.getUnreducedAxes(), mesh, emitError)))
    return failure();
  SmallVector<StringRef> manual = manualAround(from, mesh);
  for (AxisRefAttr axis : all)
    if (llvm::is_contained(manual, axis.getName()))
      return emitError("axis \"" + axis.getName() +
                       "\" is manual here: values inside the manual computation are local in it; "
                       "leave it out");
  return verifyNoOverlap(all, emitError);
}

LogicalResult verifyKeptReduction(TensorShardingAttr before, TensorShardingAttr after,
                                  EmitError emitError) {
  bool keeps = llvm::any_of(before.getUnreducedAxes(), [&](AxisRefAttr axis) {
    return llvm::any_of(after.getUnreducedAxes(),
                        [&](AxisRefAttr kept) { return axis.overlaps(kept); });
  });
  if (keeps && before.getReductionOp() != after.getReductionOp())
    return emitError("keeps axes unreduced, but by " +
                     stringifyReductionOp(after.getReductionOp()) + ", not by " +
                     stringifyReductionOp(before.getReductionOp()) +
                     " as the operand; parts of the one are no parts of the other");
  return success();
}

LogicalResult verifyShardings(TensorShardingPerValueAttr shardings, TypeRange types,
                              Operation *from, EmitError emitError) {
  if (shardings.getShardings().size() != types.size())
    return emitError(Twine(shardings.getShardings().size()) + " shardings for " +
                     Twine(types.size()) + " values");
  for (auto [sharding, type] : llvm::zip_equal(shardings.getShardings(), types))
    if (failed(verifySharding(sharding, type, from, emitError)))
      return failure();
  return success();
}

LogicalResult verifyRule(OpShardingRuleAttr rule, Operation *op, EmitError emitError) {
  int64_t factors = rule.getFactorSizes().size();
  llvm::SmallBitVector used(factors), alone(factors), fits(factors), inResults(factors);
  if (llvm::any_of(rule.getFactorSizes(), [](int64_t size) { return size < 0; }))
    return emitError("the factors of the rule must not have negative sizes");
  auto verifyTensors = [&](StringRef what, ArrayRef<TensorMappingAttr> tensors,
                           TypeRange types) -> LogicalResult {
    if (tensors.size() != types.size())
      return emitError("the rule has " + Twine(tensors.size()) + " " + what + "s, but the op has " +
                       Twine(types.size()));
    for (auto [i, tensor] : llvm::enumerate(tensors)) {
      auto shaped = dyn_cast<ShapedType>(types[i]);
      int64_t rank = shaped && shaped.hasRank() ? shaped.getRank() : 0;
      if (static_cast<int64_t>(tensor.getDimMappings().size()) != rank)
        return emitError("the rule's " + what + " " + Twine(i) + " must have " + Twine(rank) +
                         " dimensions");
      llvm::SmallDenseSet<int64_t> seen;
      for (auto [d, dim] : llvm::enumerate(tensor.getDimMappings())) {
        int64_t product = 1, size = shaped.getDimSize(d);
        for (int64_t factor : dim.getFactorIndices()) {
          if (factor >= factors)
            return emitError("the rule uses a factor that has no size");
          if (!seen.insert(factor).second)
            return emitError("the rule uses a factor twice in " + what + " " + Twine(i));
          used.set(factor);
          if (what == "result")
            inResults.set(factor);
          if (llvm::MulOverflow(product, rule.getFactorSizes()[factor], product))
            return emitError("the factors of the rule's " + what + " " + Twine(i) +
                             " are larger than a 64-bit number can say");
        }
        if (dim.getFactorIndices().size() > 1 &&
            llvm::any_of(dim.getFactorIndices(),
                         [&](int64_t factor) { return rule.getFactorSizes()[factor] == 1; }))
          return emitError("dimension " + Twine(d) + " of the rule's " + what + " " + Twine(i) +
                           " has several factors, one of size 1; leave it out");
        // One of several tensors may have more or less of a factor: parts that are concatenated.
        if (dim.getFactorIndices().size() == 1) {
          alone.set(dim.getFactorIndices()[0]);
          if (product == size || ShapedType::isDynamic(size))
            fits.set(dim.getFactorIndices()[0]);
        } else if (product != size && !ShapedType::isDynamic(size)) {
          return emitError("the factors of dimension " + Twine(d) + " of the rule's " + what + " " +
                           Twine(i) + " make " + Twine(product) + ", but its size is " +
                           Twine(size));
        }
      }
    }
    return success();
  };
  if (rule.getOperandMappings().empty() && rule.getResultMappings().empty())
    return emitError("a rule needs an operand or a result");
  if (failed(verifyTensors("operand", rule.getOperandMappings(), op->getOperandTypes())) ||
      failed(verifyTensors("result", rule.getResultMappings(), op->getResultTypes())))
    return failure();
  llvm::SmallBitVector special(factors);
  for (ArrayRef<int64_t> set :
       {rule.getReductionFactors(), rule.getNeedReplicationFactors(), rule.getPermutationFactors()})
    for (int64_t factor : set) {
      if (factor >= factors)
        return emitError("the rule names a factor that has no size");
      if (special.test(factor))
        return emitError("a factor of the rule is of two kinds");
      special.set(factor);
    }
  for (int64_t factor : rule.getBlockedPropagationFactors())
    if (factor >= factors)
      return emitError("the rule blocks a factor that has no size");
  for (int64_t factor : rule.getReductionFactors())
    if (inResults.test(factor))
      return emitError("the rule reduces a factor that a result has still");
  for (int64_t factor = 0; factor < factors; ++factor) {
    if (!used.test(factor))
      return emitError("the rule gives a size to a factor that no dimension has");
    if (alone.test(factor) && !fits.test(factor))
      return emitError("the rule gives a factor size " + Twine(rule.getFactorSizes()[factor]) +
                       ", but no dimension that is this factor has that size");
  }
  return success();
}

} // namespace tessera::sdy
