// Writes annotations in one way, so that later passes see no synonyms: meshes that are written
// inline or twice become references to one sdy.mesh, axes of size 1 vanish, and in/out shardings of
// a manual computation mention each manual axis, as replicated where they don't shard by it. Of
// meshes of several sizes the largest comes first: it says how many devices the program has.
// Arguments and results of the program are whole values: what their annotations leave unreduced is
// dropped, with a warning. Passes.td shows an example.
#include "dialects/sdy/PlainData.h"
#include "dialects/sdy/SignatureAttributes.h"
#include "passes/propagate/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"

namespace tessera {
#define GEN_PASS_DEF_NORMALIZESHARDINGS
#include "passes/propagate/Passes.h.inc"

using namespace mlir;
using namespace tessera::sdy;

namespace {

// One sdy.mesh for each mesh of the module.
class Meshes {
public:
  explicit Meshes(ModuleOp module) : module(module) {
    for (MeshOp op : module.getOps<MeshOp>()) {
      byName[op.getSymName()] = op.getMesh();
      canonical.insert({op.getMesh(), op.getSymNameAttr()});
    }
  }

  MeshAttr meshOf(TensorShardingAttr sharding) const {
    if (auto mesh = dyn_cast<MeshAttr>(sharding.getMeshOrRef()))
      return mesh;
    return byName.lookup(sharding.getMeshName());
  }

  FlatSymbolRefAttr nameOf(MeshAttr mesh) {
    auto [entry, isNew] = canonical.insert({mesh, StringAttr()});
    if (isNew) {
      entry->second = StringAttr::get(module.getContext(), freshName(mesh));
      OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
      for (MeshOp op : module.getOps<MeshOp>()) // the first stays the program's
        builder.setInsertionPointAfter(op);
      MeshOp::create(builder, module.getLoc(), entry->second, mesh);
      byName[entry->second.getValue()] = mesh;
    }
    return FlatSymbolRefAttr::get(entry->second);
  }

  // The name that stays of two for one mesh.
  StringAttr canonicalName(StringAttr name) const {
    MeshAttr mesh = byName.lookup(name);
    return mesh ? canonical.lookup(mesh) : name;
  }

  void eraseUnused() {
    for (MeshOp op : llvm::make_early_inc_range(module.getOps<MeshOp>()))
      if (canonical.lookup(op.getMesh()) != op.getSymNameAttr())
        op.erase();
  }

private:
  std::string freshName(MeshAttr mesh) const {
    std::string base =
        mesh.isMaximal() ? "maximal_mesh_" + std::to_string(mesh.getDeviceIds()[0]) : "mesh";
    std::string name = base;
    for (int i = 0; SymbolTable::lookupSymbolIn(module, name); ++i)
      name = base + "_" + std::to_string(i);
    return name;
  }

  mutable ModuleOp module;
  llvm::StringMap<MeshAttr> byName;
  llvm::MapVector<MeshAttr, StringAttr> canonical;
};

TensorShardingAttr withoutUnitAxes(TensorShardingAttr sharding, MeshAttr mesh, Attribute name) {
  auto keep = [&](ArrayRef<AxisRefAttr> axes) {
    SmallVector<AxisRefAttr> kept;
    llvm::copy_if(axes, std::back_inserter(kept),
                  [&](AxisRefAttr axis) { return axis.getSize(mesh) != 1; });
    return kept;
  };
  SmallVector<DimensionShardingAttr> dims;
  for (DimensionShardingAttr dim : sharding.getDimShardings()) {
    auto axes = keep(dim.getAxes());
    auto priority = dim.getIsClosed() && axes.empty() ? std::nullopt : dim.getPriority();
    dims.push_back(
        DimensionShardingAttr::get(sharding.getContext(), axes, dim.getIsClosed(), priority));
  }
  return TensorShardingAttr::get(sharding.getContext(), name, dims,
                                 keep(sharding.getReplicatedAxes()),
                                 keep(sharding.getUnreducedAxes()), sharding.getReductionOp());
}

TensorShardingAttr mentioning(ArrayRef<StringAttr> manual, TensorShardingAttr sharding,
                              MeshAttr mesh) {
  llvm::StringSet<> used;
  auto use = [&](ArrayRef<AxisRefAttr> axes) {
    for (AxisRefAttr axis : axes)
      used.insert(axis.getName());
  };
  for (DimensionShardingAttr dim : sharding.getDimShardings())
    use(dim.getAxes());
  use(sharding.getReplicatedAxes());
  use(sharding.getUnreducedAxes());
  SmallVector<AxisRefAttr> replicated(sharding.getReplicatedAxes());
  for (StringAttr axis : manual)
    if (!used.contains(axis))
      replicated.push_back(AxisRefAttr::get(sharding.getContext(), axis.getValue()));
  llvm::sort(replicated, [&](AxisRefAttr a, AxisRefAttr b) {
    auto place = [&](AxisRefAttr axis) {
      return std::pair(mesh.getAxisIndex(axis.getName()),
                       axis.getSubAxisInfo() ? axis.getSubAxisInfo().getPreSize() : 1);
    };
    return place(a) < place(b);
  });
  return sharding.withAxes(sharding.getDimShardings(), replicated, sharding.getUnreducedAxes());
}

// After the shardings themselves are in order.
void normalizeManual(ManualComputationOp op, const Meshes &meshes) {
  MeshAttr mesh;
  for (TensorShardingPerValueAttr side : {op.getInShardings(), op.getOutShardings()})
    if (!side.getShardings().empty())
      mesh = meshes.meshOf(side.getShardings()[0]);
  if (!mesh)
    return;
  SmallVector<StringAttr> manual;
  for (StringAttr axis : op.getManualAxes().getValue())
    if (mesh.getAxisSize(axis) != 1)
      manual.push_back(axis);
  llvm::sort(manual, [&](StringAttr a, StringAttr b) {
    return mesh.getAxisIndex(a) < mesh.getAxisIndex(b);
  });
  op.setManualAxesAttr(ManualAxesAttr::get(op.getContext(), manual));
  auto complete = [&](TensorShardingPerValueAttr side) {
    SmallVector<TensorShardingAttr> shardings;
    for (TensorShardingAttr sharding : side.getShardings())
      shardings.push_back(mentioning(manual, sharding, mesh));
    return TensorShardingPerValueAttr::get(op.getContext(), shardings);
  };
  op.setInShardingsAttr(complete(op.getInShardings()));
  op.setOutShardingsAttr(complete(op.getOutShardings()));
}

// The annotation without its unreduced axes, which only the inside of a program can mean.
Attribute whole(TensorShardingAttr sharding, Location loc, StringRef what, unsigned index) {
  if (!sharding || sharding.getUnreducedAxes().empty())
    return sharding;
  InFlightDiagnostic warning = emitWarning(loc)
                               << what << " " << index << " of the program is unreduced over ";
  llvm::interleave(
      sharding.getUnreducedAxes(),
      [&](AxisRefAttr axis) { warning << '"' << axis.getName() << '"'; }, [&] { warning << ", "; });
  warning << ": the caller and the program pass whole values, so every device has the "
          << stringifyReductionOp(sharding.getReductionOp());
  return sharding.withAxes(sharding.getDimShardings(), sharding.getReplicatedAxes(), {});
}

void passWholeValues(func::FuncOp function) {
  auto name = StringAttr::get(function.getContext(), kShardingAttr);
  SignatureAttributes attributes(function);
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (auto sharding = function.getArgAttrOfType<TensorShardingAttr>(i, name))
      attributes.setArgument(i, name,
                             whole(sharding, function.getArgument(i).getLoc(), "argument", i));
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    if (auto sharding = function.getResultAttrOfType<TensorShardingAttr>(i, name))
      attributes.setResult(i, name, whole(sharding, function.getLoc(), "result", i));
}

// The program has the devices of the largest mesh that something is on; that mesh becomes the
// first.
void putLargestFirst(ModuleOp module) {
  SmallVector<MeshOp> meshes;
  for (MeshOp op : module.getOps<MeshOp>())
    if (!op.getMesh().getAxes().empty())
      meshes.push_back(op);
  llvm::StringSet<> used;
  AttrTypeWalker walker;
  walker.addWalk([&](FlatSymbolRefAttr name) { used.insert(name.getValue()); });
  if (meshes.size() > 1)
    module.walk([&](Operation *op) { walker.walk(op->getAttrDictionary()); });
  MeshOp largest;
  for (MeshOp op : meshes)
    if (used.contains(op.getSymName()) &&
        (!largest || op.getMesh().getNumDevices() > largest.getMesh().getNumDevices()))
      largest = op;
  if (largest && largest.getMesh().getNumDevices() != meshes[0].getMesh().getNumDevices())
    largest->moveBefore(meshes[0]);
}

struct NormalizeShardings : impl::NormalizeShardingsBase<NormalizeShardings> {
  void runOnOperation() override {
    Meshes meshes(getOperation());
    AttrTypeReplacer replacer;
    replacer.addReplacement(
        [&](TensorShardingAttr sharding) -> std::optional<std::pair<Attribute, WalkResult>> {
          MeshAttr mesh = meshes.meshOf(sharding);
          Attribute clean = mesh ? withoutUnitAxes(sharding, mesh, meshes.nameOf(mesh)) : sharding;
          return std::pair(clean, WalkResult::skip());
        });
    // Collectives of manual computations name it too.
    replacer.addReplacement([&](FlatSymbolRefAttr ref) -> std::optional<Attribute> {
      return FlatSymbolRefAttr::get(meshes.canonicalName(ref.getAttr()));
    });
    getOperation().walk([&](Operation *op) {
      if (isa<MeshOp>(op))
        return;
      replacer.replaceElementsIn(op, /*replaceAttrs=*/true, /*replaceLocs=*/false,
                                 /*replaceTypes=*/false);
      if (auto manual = dyn_cast<ManualComputationOp>(op))
        normalizeManual(manual, meshes);
    });
    getOperation().walk([](FuncDataFlowEdgeOp edge) { // calls are inlined
      edge.getResult().replaceAllUsesWith(edge.getOperand());
      edge.erase();
    });
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (function.isPublic() && !function.isDeclaration())
        passWholeValues(function);
    meshes.eraseUnused();
    putLargestFirst(getOperation());
  }
};

} // namespace
} // namespace tessera
