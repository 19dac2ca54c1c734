// Values that come from nowhere: constants and iota.
//
//   stablehlo.iota dim = 0 {sharding [{"x"}]} : tensor<8xi32>
// becomes
//   %i = comm.axis_index over <@mesh, ["x"=4]>
//   stablehlo.iota dim = 0 : tensor<2xi32>, plus %i * 2
//
// Splat constants shrink; others are cut by each device where it stands.
#include "passes/localize/Handlers.h"
#include "passes/localize/Rows.h"

#include "dialects/sdy/SdyOps.h"

using namespace mlir;

namespace tessera::localize {
namespace {

LogicalResult bindConstant(Localizer &l, Value global, ElementsAttr value) {
  LocalLayout layout = l.annotated(global);
  AxisRefs partial = layout.partial;
  layout.partial.clear();
  auto splat = dyn_cast<SplatElementsAttr>(value);
  if (splat) {
    Value local =
        stablehlo::ConstantOp::create(l.b, l.loc, splat.resizeSplat(l.localType(global, layout)));
    LocalLayout want = layout;
    want.partial = partial;
    l.setLocal(global, {l.move({local, layout}, shapeOf(global), want), want});
    return success();
  }
  LocalLayout whole = l.whole(global), want = layout;
  want.partial = partial;
  Value all = stablehlo::ConstantOp::create(l.b, l.loc, value);
  l.setLocal(global, {l.move({all, whole}, shapeOf(global), want), want});
  return success();
}

} // namespace

LogicalResult localizeConstant(Localizer &l, Operation *op) {
  return bindConstant(l, op->getResult(0), cast<stablehlo::ConstantOp>(op).getValue());
}

LogicalResult localizeShardableConstant(Localizer &l, Operation *op) {
  return bindConstant(l, op->getResult(0), cast<sdy::ConstantOp>(op).getValue());
}

LogicalResult localizeIota(Localizer &l, Operation *op) {
  auto iota = cast<stablehlo::IotaOp>(op);
  Value global = iota.getOutput();
  LocalLayout layout = l.annotated(global);
  layout.partial.clear();
  RankedTensorType type = l.localType(global, layout);
  int64_t dim = iota.getIotaDimension();
  Value local = l.copy(op, {}, type)->getResult(0);
  if (isSharded(layout.dims[dim])) {
    Value start = myStart(l, layout.dims[dim].axes, layout.dims[dim].tile, 0);
    if (!type.getElementType().isInteger(32) || !type.getElementType().isSignlessInteger())
      start = stablehlo::ConvertOp::create(l.b, l.loc,
                                           RankedTensorType::get({}, type.getElementType()), start);
    local = binary(l, "add", local, splat(l, start, type.getShape()));
  }
  l.bind(global, local, layout);
  return success();
}

} // namespace tessera::localize
