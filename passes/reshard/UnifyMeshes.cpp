// Writes all shardings, and what manual computations do along axes, with the axes of one mesh, the
// module's first (lib/sharding/MeshTranslation.h). Passes.td shows an example.
#include "dialects/comm/CommOps.h"
#include "dialects/sdy/PlainData.h"
#include "lib/sharding/MeshTranslation.h"
#include "passes/reshard/Passes.h"

#include "mlir/IR/AttrTypeSubElements.h"
#include "llvm/ADT/StringSet.h"

namespace tessera {
#define GEN_PASS_DEF_UNIFYMESHES
#include "passes/reshard/Passes.h.inc"

using namespace mlir;
using sharding::AxisRef;
using sharding::AxisRefs;
using sharding::Mesh;
using sharding::MeshTranslation;

namespace {

StringRef meshNameOf(Attribute attr) {
  if (auto sharding = dyn_cast<sdy::TensorShardingAttr>(attr))
    return sharding.getMeshName();
  if (auto axes = dyn_cast<comm::AxesAttr>(attr))
    return axes.getMesh().getValue();
  return {};
}

// Calls `visit` with every attribute of the op that names a mesh.
void walkNamed(Operation *op, function_ref<void(Attribute)> visit) {
  if (isa<sdy::MeshOp>(op))
    return;
  AttrTypeWalker walker;
  walker.addWalk([&](Attribute attr) {
    if (!meshNameOf(attr).empty())
      visit(attr);
    return WalkResult::advance();
  });
  walker.walk(op->getAttrDictionary());
}

AxisRefs axesIn(Attribute attr, const Mesh &mesh) {
  if (auto axes = dyn_cast<comm::AxesAttr>(attr))
    return axes.toAxisRefs(mesh);
  AxisRefs all;
  sharding::TensorSharding sharding = sdy::toSharding(cast<sdy::TensorShardingAttr>(attr), mesh);
  for (const sharding::DimSharding &dim : sharding.dims)
    all.append(dim.axes);
  all.append(sharding.replicated);
  all.append(sharding.unreduced);
  return all;
}

// The mesh of a manual computation that is manual in something.
StringRef meshNameOf(sdy::ManualComputationOp manual) {
  if (!manual.getManualAxes().getValue().empty())
    for (auto side : {manual.getInShardings(), manual.getOutShardings()})
      for (sdy::TensorShardingAttr sharding : side.getShardings())
        return sharding.getMeshName();
  return {};
}

std::string axesText(const Mesh &mesh, ArrayRef<AxisRef> axes) {
  std::string text;
  for (const AxisRef &axis : axes) {
    text += (text.empty() ? "\"" : ", \"") + mesh.axes[axis.axis].name + "\"";
    if (!isWhole(mesh, axis))
      text += ":(" + std::to_string(axis.preSize) + ")" + std::to_string(axis.size);
  }
  return text;
}

struct UnifyMeshes : impl::UnifyMeshesBase<UnifyMeshes> {
  // A mesh to be rewritten.
  struct Other {
    sdy::MeshOp op;
    Mesh mesh;
    AxisRefs used;
    std::optional<MeshTranslation> translation;
  };

  void runOnOperation() override {
    sdy::MeshTable meshes(getOperation());
    if (!meshes.main())
      return;
    for (auto op : getOperation().getOps<sdy::MeshOp>()) {
      const Mesh &mesh = *meshes.lookup(op.getSymName());
      if (&mesh == meshes.main())
        others.insert(others.begin(), {op, mesh, {}, {}});
      else if (!mesh.axes.empty())
        others.push_back({op, mesh, {}, {}});
    }
    if (others.size() == 1)
      return;
    if (failed(unify()))
      signalPassFailure();
  }

  LogicalResult unify() {
    getOperation().walk([&](Operation *op) {
      walkNamed(op, [&](Attribute attr) {
        if (Other *other = lookup(meshNameOf(attr)))
          other->used.append(axesIn(attr, other->mesh));
      });
    });
    for (Other &other : others)
      if (!other.used.empty() && other.mesh.numDevices() > others[0].mesh.numDevices())
        return other.op.emitError()
               << "has " << other.mesh.numDevices() << " devices, but mesh @" << others[0].mesh.name
               << " has " << others[0].mesh.numDevices() << "; the first mesh must have most";
    main = others[0].mesh;
    translate();
    if (AxisRefs needed = manualParts(); !needed.empty()) {
      main = refined(main, needed);
      others[0].op.setMeshAttr(attrOf(main));
      translate();
    }
    for (Other &other : others)
      remarkRenumbered(other);
    WalkResult rewritten = getOperation().walk([&](Operation *op) {
      return isa<sdy::MeshOp>(op) ? WalkResult::advance() : WalkResult(rewrite(op));
    });
    if (rewritten.wasInterrupted())
      return failure();
    for (Other &other : llvm::drop_begin(others))
      other.op.erase();
    return verifyManual();
  }

  Other *lookup(StringRef name) {
    auto found = llvm::find_if(others, [&](const Other &each) { return each.mesh.name == name; });
    return found == others.end() ? nullptr : &*found;
  }

  void translate() {
    others[0].translation.emplace(main, others[0].mesh, AxisRefs(), others[0].used);
    usedOfMain.clear();
    for (const AxisRef &axis : others[0].used)
      usedOfMain.append(others[0].translation->axesOf(axis).value_or(AxisRefs()));
    for (Other &other : llvm::drop_begin(others))
      other.translation.emplace(main, other.mesh, usedOfMain, other.used);
  }

  // The parts of axes of the main mesh in which manual computations on others are manual.
  AxisRefs manualParts() {
    AxisRefs needed;
    getOperation().walk([&](sdy::ManualComputationOp manual) {
      if (Other *other = lookup(meshNameOf(manual)))
        for (StringAttr name : manual.getManualAxes().getValue()) {
          AxisRef axis = sharding::wholeAxis(other->mesh, other->mesh.axisIndex(name.getValue()));
          for (const AxisRef &part : other->translation->axesOf(axis).value_or(AxisRefs()))
            if (!isWhole(main, part))
              needed.push_back(part);
        }
    });
    return needed;
  }

  void remarkRenumbered(Other &other) {
    if (other.used.empty() || other.translation->keepsDevices())
      return;
    std::string images;
    bool isWhole = true;
    for (auto [i, axis] : llvm::enumerate(other.mesh.axes)) {
      if (axis.size == 1)
        continue;
      AxisRefs image = *other.translation->axesOf(ArrayRef(wholeAxis(other.mesh, i)));
      images += (images.empty() ? "\"" : ", \"") + axis.name + "\" is " +
                (image.empty() ? "nothing" : axesText(main, image));
      isWhole &= other.translation->holds(wholeAxis(other.mesh, i));
    }
    if (!isWhole) {
      other.op.emitWarning() << "the " << other.mesh.numDevices() << " devices of mesh @"
                             << other.mesh.name << " do not divide the " << main.numDevices()
                             << " of mesh @" << main.name
                             << ": values on it are in fewer parts, so that " << images;
      return;
    }
    other.op.emitRemark() << "mesh @" << other.mesh.name << " cuts the devices as no axes of mesh @"
                          << main.name << " do: its devices are renumbered, so that " << images;
  }

  sdy::MeshAttr attrOf(const Mesh &mesh) {
    SmallVector<sdy::MeshAxisAttr> axes;
    for (const sharding::MeshAxis &axis : mesh.axes)
      axes.push_back(sdy::MeshAxisAttr::get(&getContext(), axis.name, axis.size));
    return sdy::MeshAttr::get(&getContext(), axes, ArrayRef<int64_t>(mesh.deviceIds));
  }

  LogicalResult rewrite(Operation *op) {
    auto manual = dyn_cast<sdy::ManualComputationOp>(op);
    if (manual && failed(rewriteManualAxes(manual)))
      return failure();
    LogicalResult result = success();
    AttrTypeReplacer replacer;
    auto replace = [&](Attribute attr) -> std::optional<std::pair<Attribute, WalkResult>> {
      Other *other = lookup(meshNameOf(attr));
      if (other == &others[0] && main.axes == other->mesh.axes)
        other = nullptr;
      Attribute written = other ? inWordsOfMain(attr, *other) : attr;
      if (!written) {
        result = op->emitError() << "cuts axes of mesh @" << other->mesh.name
                                 << " in ways that do not nest; use parts of one splitting inside "
                                    "of manual computations";
        written = attr;
      }
      return std::pair(written, WalkResult::skip());
    };
    replacer.addReplacement([&](sdy::TensorShardingAttr attr) { return replace(attr); });
    replacer.addReplacement([&](comm::AxesAttr attr) { return replace(attr); });
    replacer.replaceElementsIn(op, /*replaceAttrs=*/true, /*replaceLocs=*/false,
                               /*replaceTypes=*/false);
    return result;
  }

  // Null where the axes of an attribute that must be in tune with others have no translation.
  Attribute inWordsOfMain(Attribute attr, const Other &other) {
    AxisRefs axes = axesIn(attr, other.mesh);
    const MeshTranslation *translation = &*other.translation;
    std::optional<MeshTranslation> own;
    if (llvm::any_of(axes, [&](const AxisRef &axis) { return !translation->axesOf(axis); })) {
      own.emplace(main, other.mesh, usedOfMain, axes);
      translation = &*own;
    }
    auto axesAttr = dyn_cast<comm::AxesAttr>(attr);
    if (axesAttr)
      return own ? Attribute()
                 : comm::AxesAttr::get(&getContext(), main, *translation->axesOf(axes));
    sharding::TensorSharding sharding =
        sdy::toSharding(cast<sdy::TensorShardingAttr>(attr), other.mesh);
    for (sharding::DimSharding &dim : sharding.dims)
      dim.axes = *translation->axesOf(ArrayRef(dim.axes));
    for (AxisRefs *set : {&sharding.replicated, &sharding.unreduced}) {
      *set = *translation->axesOf(ArrayRef(*set));
      llvm::sort(*set);
    }
    return sdy::toAttr(&getContext(), main, sharding)
        .withReduction(cast<sdy::TensorShardingAttr>(attr).getReductionOp());
  }

  LogicalResult rewriteManualAxes(sdy::ManualComputationOp manual) {
    Other *other = lookup(meshNameOf(manual));
    if (!other)
      return success();
    AxisRefs axes;
    for (StringAttr name : manual.getManualAxes().getValue()) {
      AxisRef axis = sharding::wholeAxis(other->mesh, other->mesh.axisIndex(name.getValue()));
      if (!other->translation->holds(axis))
        return manual.emitError() << "is manual in \"" << name.getValue() << "\" of mesh @"
                                  << other->mesh.name << ", whose " << other->mesh.numDevices()
                                  << " devices do not divide the " << main.numDevices()
                                  << " of mesh @" << main.name
                                  << "; give the meshes numbers of devices that divide each other";
      axes.append(*other->translation->axesOf(axis));
    }
    llvm::sort(axes);
    SmallVector<StringAttr> names;
    for (const AxisRef &axis : axes)
      names.push_back(StringAttr::get(&getContext(), main.axes[axis.axis].name));
    manual.setManualAxesAttr(sdy::ManualAxesAttr::get(&getContext(), names));
    return success();
  }

  // What is inside of a manual computation may come from another mesh than it, and then be sharded
  // along what it is manual in.
  LogicalResult verifyManual() {
    WalkResult walk = getOperation().walk([&](Operation *op) {
      llvm::StringSet<> manual;
      for (auto outer = op->getParentOfType<sdy::ManualComputationOp>(); outer;
           outer = outer->getParentOfType<sdy::ManualComputationOp>())
        for (StringAttr name : outer.getManualAxes().getValue())
          manual.insert(name.getValue());
      if (manual.empty())
        return WalkResult::advance();
      LogicalResult result = success();
      walkNamed(op, [&](Attribute attr) {
        if (!isa<sdy::TensorShardingAttr>(attr) || failed(result))
          return;
        for (const AxisRef &axis : axesIn(attr, main))
          if (manual.contains(main.axes[axis.axis].name) && succeeded(result))
            result = op->emitError() << "is sharded on another mesh than the manual computation "
                                        "around it, along what that is manual in: "
                                     << attr << "; use the axes of one mesh in it";
      });
      return WalkResult(result);
    });
    return failure(walk.wasInterrupted());
  }

  std::vector<Other> others; // the main mesh first
  Mesh main;
  AxisRefs usedOfMain; // parts of its axes that something on it is along
};

} // namespace
} // namespace tessera
