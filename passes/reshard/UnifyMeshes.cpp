// Writes all shardings with the axes of one mesh, the module's first. Meshes over the same devices
// may cut them otherwise, or name or order them otherwise: an axis of one is then axes, or parts of
// them, of the other.
//
//   sdy.mesh @a = <["x"=2, "y"=4]>      sdy.mesh @b = <["p"=4, "q"=2]>
//   stablehlo.add .. {sdy.sharding = [<@b, [{"p"}, {"q"}]>]}
// becomes
//   stablehlo.add .. {sdy.sharding = [<@a, [{"x", "y":(1)2}, {"y":(2)2}]>]}
//
// After propagation, as Shardy has it: shardings on different meshes do not flow into each other.
#include "dialects/sdy/PlainData.h"
#include "lib/sharding/DeviceGroups.h"
#include "passes/reshard/Passes.h"

#include "mlir/IR/AttrTypeSubElements.h"

namespace tessera {
#define GEN_PASS_DEF_UNIFYMESHES
#include "passes/reshard/Passes.h.inc"

using namespace mlir;
using sharding::AxisRef;
using sharding::AxisRefs;
using sharding::Mesh;

namespace {

// Where in `to` the device at each position of `from` is; empty when they hold other devices.
std::vector<int64_t> positionsIn(const Mesh &to, const Mesh &from) {
  int64_t n = from.numDevices();
  std::vector<int64_t> of(n, -1), positions;
  if (to.numDevices() != n)
    return {};
  for (int64_t i = 0; i < n; ++i)
    if (int64_t device = to.deviceIds.empty() ? i : to.deviceIds[i]; device >= 0 && device < n)
      of[device] = i;
  for (int64_t i = 0; i < n; ++i) {
    int64_t device = from.deviceIds.empty() ? i : from.deviceIds[i];
    if (device < 0 || device >= n || of[device] < 0)
      return {};
    positions.push_back(of[device]);
  }
  return positions;
}

// The axes of one mesh in the words of another.
class Translation {
public:
  Translation(const Mesh &to, const Mesh &from)
      : to(to), from(from), positions(positionsIn(to, from)) {
    int64_t stride = from.numDevices();
    for (const sharding::MeshAxis &axis : from.axes)
      strides.push_back(stride /= axis.size);
    possible = !positions.empty() && positions[0] == 0 && isSumOfAxes();
    for (size_t i = 0; possible && i < from.axes.size(); ++i)
      possible = axesOf(sharding::wholeAxis(from, i)).has_value();
  }

  bool isPossible() const { return possible; }

  std::optional<AxisRefs> axesOf(const AxisRef &axis) const {
    int64_t step = strides[axis.axis] * from.axes[axis.axis].size / (axis.preSize * axis.size);
    llvm::SmallVector<int64_t> offsets;
    for (int64_t i = 0; i < axis.size; ++i)
      offsets.push_back(positions[i * step]);
    auto digits = sharding::digitsOf(offsets);
    if (!digits)
      return std::nullopt;
    AxisRefs axes;
    for (sharding::Digit digit : llvm::reverse(*digits)) {
      auto part = sharding::axesOfDigit(to, digit);
      if (!part)
        return std::nullopt;
      axes.append(*part);
    }
    return axes;
  }

private:
  bool isSumOfAxes() const {
    for (size_t at = 0; at < positions.size(); ++at) {
      int64_t sum = 0;
      for (auto [stride, axis] : llvm::zip(strides, from.axes))
        sum += positions[at / stride % axis.size * stride];
      if (sum != positions[at])
        return false;
    }
    return true;
  }

  const Mesh &to, &from;
  std::vector<int64_t> positions;
  llvm::SmallVector<int64_t> strides;
  bool possible = false;
};

bool same(const Mesh &a, const Mesh &b) { return a.axes == b.axes && a.deviceIds == b.deviceIds; }

struct UnifyMeshes : impl::UnifyMeshesBase<UnifyMeshes> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    sdy::MeshTable meshes(module);
    if (!meshes.main())
      return;
    for (sdy::MeshOp op : llvm::make_early_inc_range(module.getOps<sdy::MeshOp>())) {
      const Mesh &mesh = *meshes.lookup(op.getSymName());
      if (mesh.axes.empty() || &mesh == meshes.main())
        continue;
      if (failed(rewrite(op, mesh, *meshes.main())))
        return signalPassFailure();
      op.erase();
    }
  }

  LogicalResult rewrite(sdy::MeshOp op, const Mesh &mesh, const Mesh &main) {
    if (SymbolTable::symbolKnownUseEmpty(op, getOperation()))
      return success();
    Translation translation(main, mesh);
    if (!translation.isPossible())
      return op.emitError() << "the axes of mesh @" << mesh.name
                            << " are no parts of the axes of mesh @" << main.name
                            << ": use the axes of one mesh throughout";
    auto translated = [&](const AxisRefs &axes) {
      AxisRefs result;
      for (const AxisRef &axis : axes)
        result.append(*translation.axesOf(axis));
      return sharding::normalized(result);
    };
    AttrTypeReplacer replacer;
    replacer.addReplacement(
        [&](sdy::TensorShardingAttr attr) -> std::optional<std::pair<Attribute, WalkResult>> {
          if (!isa<FlatSymbolRefAttr>(attr.getMeshOrRef()) || attr.getMeshName() != mesh.name)
            return std::pair(Attribute(attr), WalkResult::skip());
          sharding::TensorSharding sharding = sdy::toSharding(attr, mesh);
          for (sharding::DimSharding &dim : sharding.dims)
            dim.axes = translated(dim.axes);
          sharding.replicated = translated(sharding.replicated);
          llvm::sort(sharding.replicated);
          sharding.unreduced = translated(sharding.unreduced);
          llvm::sort(sharding.unreduced);
          return std::pair(Attribute(sdy::toAttr(&getContext(), main, sharding)),
                           WalkResult::skip());
        });
    WalkResult walk = getOperation().walk([&](Operation *inner) {
      if (isa<sdy::MeshOp>(inner))
        return WalkResult::advance();
      if (auto manual = dyn_cast<sdy::ManualComputationOp>(inner); manual && !same(mesh, main))
        for (auto side : {manual.getInShardings(), manual.getOutShardings()})
          for (sdy::TensorShardingAttr attr : side.getShardings())
            if (!manual.getManualAxes().getValue().empty() &&
                isa<FlatSymbolRefAttr>(attr.getMeshOrRef()) && attr.getMeshName() == mesh.name) {
              manual.emitError() << "a manual computation on mesh @" << mesh.name
                                 << ", and values on mesh @" << main.name
                                 << ": use the axes of one mesh throughout";
              return WalkResult::interrupt();
            }
      replacer.replaceElementsIn(inner, /*replaceAttrs=*/true, /*replaceLocs=*/false,
                                 /*replaceTypes=*/false);
      return WalkResult::advance();
    });
    return failure(walk.wasInterrupted());
  }
};

} // namespace
} // namespace tessera
