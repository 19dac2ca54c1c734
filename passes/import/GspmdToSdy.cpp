// Turns the sharding strings of GSPMD into sdy annotations over a mesh that has their axes.
//
//   func.func @main(%x: .. {mhlo.sharding = "{devices=[2,1,4]0,1,.. last_tile_dim_replicate}"})
//     %0 = stablehlo.custom_call @Sharding(%x) {mhlo.sharding = "{devices=[4,1,2]0,2,..}"}
//   ->
//   sdy.mesh @mesh = <["axis_0"=2, "axis_1"=2, "axis_2"=2]>
//   func.func @main(%x: .. {sdy.sharding = #sdy.sharding<@mesh, [{"axis_0"}, {}]>})
//     %0 = sdy.sharding_constraint %x <@mesh, [..]>
#include "passes/import/Passes.h"

#include "dialects/sdy/PlainData.h"
#include "dialects/stablehlo/StablehloOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"
#include "passes/import/GspmdSharding.h"

namespace tessera {
#define GEN_PASS_DEF_GSPMDTOSDY
#include "passes/import/Passes.h.inc"

using namespace mlir;
using import::TileAssignment;

namespace {

constexpr StringRef key = "mhlo.sharding";

struct GspmdToSdyPass : impl::GspmdToSdyBase<GspmdToSdyPass> {
  // One place that has a string: an argument or result of a function, or an operation.
  struct Annotated {
    Operation *op;
    int64_t argument = -1, result = -1;
    int64_t rank;
    TileAssignment assignment;
  };

  void runOnOperation() override {
    ModuleOp module = getOperation();
    bool hasMesh = !module.getOps<sdy::MeshOp>().empty();
    if (failed(collect(module)))
      return signalPassFailure();
    if (annotated.empty())
      return;
    if (hasMesh) { // sdy annotations are there already: the strings say the same
      strip();
      return;
    }
    SmallVector<TileAssignment> assignments;
    for (const Annotated &a : annotated)
      assignments.push_back(a.assignment);
    std::optional<sharding::Mesh> mesh = import::commonMesh(assignments);
    if (!mesh) {
      module.emitError("no mesh has axes for all of this module's mhlo.sharding strings; "
                       "annotate it with sdy shardings instead");
      return signalPassFailure();
    }
    declare(module, *mesh);
    for (const Annotated &a : annotated)
      if (failed(annotate(a, *mesh)))
        return signalPassFailure();
    strip();
  }

  LogicalResult add(Operation *op, Attribute text, Type type, int64_t argument, int64_t result) {
    auto string = dyn_cast_or_null<StringAttr>(text);
    auto tensor = dyn_cast_or_null<RankedTensorType>(type);
    if (!string || !tensor)
      return success();
    llvm::Expected<TileAssignment> assignment = import::parseTileAssignment(string.getValue());
    if (!assignment)
      return op->emitError() << llvm::toString(assignment.takeError())
                             << "; annotate with sdy shardings instead";
    annotated.push_back({op, argument, result, tensor.getRank(), *assignment});
    return success();
  }

  LogicalResult collect(ModuleOp module) {
    for (auto function : module.getOps<func::FuncOp>()) {
      for (unsigned i = 0; i < function.getNumArguments(); ++i)
        if (failed(
                add(function, function.getArgAttr(i, key), function.getArgumentTypes()[i], i, -1)))
          return failure();
      for (unsigned i = 0; i < function.getNumResults(); ++i)
        if (failed(
                add(function, function.getResultAttr(i, key), function.getResultTypes()[i], -1, i)))
          return failure();
    }
    WalkResult walk = module.walk([&](stablehlo::CustomCallOp call) {
      if (call.getCallTargetName() != "Sharding" || call->getNumOperands() != 1 ||
          call->getNumResults() != 1)
        return WalkResult::advance();
      if (failed(add(call, call->getAttr(key), call.getResult(0).getType(), -1, -1)))
        return WalkResult::interrupt();
      return WalkResult::advance();
    });
    return failure(walk.wasInterrupted());
  }

  void declare(ModuleOp module, const sharding::Mesh &mesh) {
    SmallVector<sdy::MeshAxisAttr> axes;
    for (const sharding::MeshAxis &axis : mesh.axes)
      axes.push_back(sdy::MeshAxisAttr::get(&getContext(), axis.name, axis.size));
    OpBuilder b = OpBuilder::atBlockBegin(module.getBody());
    sdy::MeshOp::create(b, module.getLoc(), mesh.name,
                        sdy::MeshAttr::get(&getContext(), axes, ArrayRef<int64_t>{}));
  }

  LogicalResult annotate(const Annotated &a, const sharding::Mesh &mesh) {
    std::optional<sharding::TensorSharding> sharding = import::onMesh(mesh, a.assignment, a.rank);
    if (!sharding)
      return a.op->emitError() << "has a sharding string that does not fit its type";
    sdy::TensorShardingAttr attr = sdy::toAttr(&getContext(), mesh, *sharding);
    if (auto function = dyn_cast<func::FuncOp>(a.op)) {
      if (a.argument >= 0)
        function.setArgAttr(a.argument, "sdy.sharding", attr);
      else
        function.setResultAttr(a.result, "sdy.sharding", attr);
      return success();
    }
    OpBuilder b(a.op);
    auto constraint = sdy::ShardingConstraintOp::create(
        b, a.op->getLoc(), a.op->getResult(0).getType(), a.op->getOperand(0), attr);
    a.op->replaceAllUsesWith(constraint);
    a.op->erase();
    return success();
  }

  void strip() {
    getOperation().walk([](Operation *op) {
      op->removeAttr(key);
      if (auto function = dyn_cast<func::FuncOp>(op)) {
        for (unsigned i = 0; i < function.getNumArguments(); ++i)
          function.removeArgAttr(i, key);
        for (unsigned i = 0; i < function.getNumResults(); ++i)
          function.removeResultAttr(i, StringAttr::get(function.getContext(), key));
      }
    });
  }

  SmallVector<Annotated> annotated;
};

} // namespace
} // namespace tessera
