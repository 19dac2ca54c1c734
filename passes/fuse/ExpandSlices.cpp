// Turns "my part of a value that the group has" into index arithmetic and a dynamic slice, which
// then fuses. Passes.td shows an example.
#include "dialects/comm/CommOps.h"
#include "dialects/stablehlo/StablehloOps.h"
#include "passes/OpsWithin.h"
#include "passes/fuse/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

namespace tessera {
#define GEN_PASS_DEF_EXPANDSLICES
#include "passes/fuse/Passes.h.inc"

using namespace mlir;

static void expand(comm::SliceOp slice) {
  OpBuilder b(slice);
  Location loc = slice.getLoc();
  auto type = cast<RankedTensorType>(slice.getOutput().getType());
  auto scalar = RankedTensorType::get({}, b.getI32Type());
  auto constant = [&](int64_t value) -> Value {
    return stablehlo::ConstantOp::create(
        b, loc, DenseElementsAttr::get(scalar, b.getI32IntegerAttr(value).getValue()));
  };
  int64_t dim = slice.getDim();
  Value index = comm::AxisIndexOp::create(b, loc, slice.getAxes());
  Value start = stablehlo::MulOp::create(b, loc, scalar, index, constant(type.getDimSize(dim)));
  Value zero = constant(0);
  SmallVector<Value> starts(type.getRank(), zero);
  starts[dim] = start;
  Value part =
      stablehlo::DynamicSliceOp::create(b, loc, type, slice.getInput(), starts, type.getShape());
  slice.getOutput().replaceAllUsesWith(part);
  slice.erase();
}

// One comm.axis_index for each list of axes, at the entry.
static void hoistCoordinates(func::FuncOp func) {
  DenseMap<Attribute, comm::AxisIndexOp> first;
  for (comm::AxisIndexOp index : opsWithin<comm::AxisIndexOp>(func)) {
    comm::AxisIndexOp &kept = first[index.getAxes()];
    if (!kept) {
      kept = index;
      index->moveBefore(&func.getBody().front(), func.getBody().front().begin());
      continue;
    }
    index.getOutput().replaceAllUsesWith(kept.getOutput());
    index.erase();
  }
}

namespace {
struct ExpandSlices : impl::ExpandSlicesBase<ExpandSlices> {
  void runOnOperation() override {
    for (comm::SliceOp slice : opsWithin<comm::SliceOp>(getOperation()))
      expand(slice);
    for (auto func : getOperation().getOps<func::FuncOp>())
      hoistCoordinates(func);
  }
};
} // namespace
} // namespace tessera
