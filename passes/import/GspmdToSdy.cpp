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

constexpr StringLiteral key = "mhlo.sharding";

bool calls(Operation *op, StringRef target) {
  auto call = dyn_cast<stablehlo::CustomCallOp>(op);
  return call && call.getCallTargetName() == target && op->getNumOperands() == 1 &&
         op->getNumResults() == 1;
}

// `unspecified_dims=[1,2]` of a @Sharding call: dimensions that propagation may shard.
SmallVector<int64_t> unspecifiedDims(Operation *op) {
  SmallVector<int64_t> dims;
  auto config = op->getAttrOfType<StringAttr>("backend_config");
  StringRef text = config ? config.getValue().split("unspecified_dims=[").second : StringRef();
  int64_t dim;
  while (!text.consumeInteger(10, dim)) {
    dims.push_back(dim);
    text.consume_front(",");
  }
  return dims;
}

struct GspmdToSdyPass : impl::GspmdToSdyBase<GspmdToSdyPass> {
  enum class Where { Argument, Result, Constraint, Value, Border };

  // One value that has a string.
  struct Annotated {
    Operation *op;
    Where where;
    unsigned index; // of the argument or result
    int64_t rank;
    TileAssignment assignment;
    TileAssignment manual; // of borders: what is manual on their inner side
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
      assignments.insert(assignments.end(), {a.assignment, a.manual});
    std::optional<sharding::Mesh> mesh = import::commonMesh(assignments);
    if (!mesh) {
      module.emitError("no mesh has axes for all of this module's mhlo.sharding strings; "
                       "annotate it with sdy shardings instead");
      return signalPassFailure();
    }
    declare(mesh->name, *mesh);
    for (const Annotated &a : annotated)
      if (failed(annotate(a, *mesh)))
        return signalPassFailure();
    strip();
  }

  LogicalResult add(Operation *op, Where where, Attribute text, TypeRange types, unsigned index) {
    auto string = dyn_cast_or_null<StringAttr>(text);
    if (!string)
      return success();
    auto assignments = import::parseTileAssignments(string.getValue(), types.size());
    if (!assignments)
      return op->emitError() << llvm::toString(assignments.takeError())
                             << "; annotate with sdy shardings instead";
    for (auto [i, type] : llvm::enumerate(types))
      if (auto tensor = dyn_cast<RankedTensorType>(type))
        annotated.push_back(
            {op, where, unsigned(index + i), tensor.getRank(), (*assignments)[i], {}});
    return success();
  }

  LogicalResult collect(ModuleOp module) {
    for (auto function : module.getOps<func::FuncOp>()) {
      for (unsigned i = 0; i < function.getNumArguments(); ++i)
        if (failed(add(function, Where::Argument, function.getArgAttr(i, key),
                       function.getArgumentTypes()[i], i)))
          return failure();
      for (unsigned i = 0; i < function.getNumResults(); ++i)
        if (failed(add(function, Where::Result, function.getResultAttr(i, key),
                       function.getResultTypes()[i], i)))
          return failure();
    }
    WalkResult walk = module.walk([&](Operation *op) {
      if (isa<func::FuncOp>(op))
        return WalkResult::advance();
      LogicalResult added = success();
      if (calls(op, "SPMDFullToShardShape"))
        added = addBorder(op, /*outside=*/sourceOf(op->getOperand(0)), op->getAttr(key));
      else if (calls(op, "SPMDShardToFullShape"))
        added = addBorder(op, op->getAttr(key), sourceOf(op->getOperand(0)));
      else
        added = add(op, calls(op, "Sharding") ? Where::Constraint : Where::Value, op->getAttr(key),
                    op->getResultTypes(), 0);
      return WalkResult(added);
    });
    return failure(walk.wasInterrupted());
  }

  // The string of the op or argument that makes a value.
  static Attribute sourceOf(Value value) {
    if (Operation *definition = value.getDefiningOp())
      return definition->getAttr(key);
    auto argument = cast<BlockArgument>(value);
    auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
    return function ? function.getArgAttr(argument.getArgNumber(), key) : Attribute();
  }

  LogicalResult addBorder(Operation *op, Attribute outside, Attribute inside) {
    Type whole = calls(op, "SPMDFullToShardShape") ? op->getOperand(0).getType()
                                                   : op->getResult(0).getType();
    StringAttr none = StringAttr::get(&getContext(), "{replicated}");
    if (failed(add(op, Where::Border, outside ? outside : none, whole, 0)))
      return failure();
    auto string = dyn_cast_or_null<StringAttr>(inside);
    auto manual = import::parseTileAssignment(string ? string.getValue() : "{manual}");
    if (!manual)
      return op->emitError() << llvm::toString(manual.takeError());
    annotated.back().manual = *manual;
    return success();
  }

  void declare(StringRef name, const sharding::Mesh &mesh) {
    SmallVector<sdy::MeshAxisAttr> axes;
    for (const sharding::MeshAxis &axis : mesh.axes)
      axes.push_back(sdy::MeshAxisAttr::get(&getContext(), axis.name, axis.size));
    OpBuilder b = OpBuilder::atBlockBegin(getOperation().getBody());
    sdy::MeshOp::create(b, getOperation().getLoc(), name,
                        sdy::MeshAttr::get(&getContext(), axes, ArrayRef<int64_t>(mesh.deviceIds)));
  }

  // A mesh of one device, by the name that Shardy gives it.
  sdy::TensorShardingAttr onDevice(int64_t device) {
    std::string name = "maximal_mesh_" + std::to_string(device);
    if (maximal.insert(device).second)
      declare(name, {name, {}, {device}});
    return sdy::TensorShardingAttr::get(&getContext(), name, {});
  }

  LogicalResult annotate(const Annotated &a, const sharding::Mesh &mesh) {
    std::optional<sharding::TensorSharding> sharding = import::onMesh(mesh, a.assignment, a.rank);
    std::optional<sharding::AxisRefs> own = import::manualAxes(mesh, a.assignment);
    if (!sharding || !own)
      return a.op->emitError() << "has a sharding string that does not fit its type";
    if (!own->empty()) { // on the inner side: nothing is left to say
      if (a.where == Where::Constraint) {
        a.op->replaceAllUsesWith(a.op->getOperands());
        a.op->erase();
        return success();
      }
      if (a.where == Where::Value)
        return success();
      return a.op->emitError() << "is manual at the border of the program; such a value has no "
                                  "global meaning: annotate with sdy shardings instead";
    }
    if (a.where == Where::Constraint)
      for (int64_t dim : unspecifiedDims(a.op))
        if (dim >= 0 && dim < a.rank)
          sharding->dims[dim].closed = false;
    sdy::TensorShardingAttr attr = a.assignment.only >= 0
                                       ? onDevice(a.assignment.only)
                                       : sdy::toAttr(&getContext(), mesh, *sharding);
    auto name = StringAttr::get(&getContext(), sdy::kShardingAttr);
    switch (a.where) {
    case Where::Argument:
      cast<func::FuncOp>(a.op).setArgAttr(a.index, name, attr);
      break;
    case Where::Result:
      cast<func::FuncOp>(a.op).setResultAttr(a.index, name, attr);
      break;
    case Where::Value:
      if (a.assignment.only < 0)
        sdy::setSharding(a.op->getResult(a.index), attr);
      break;
    case Where::Border:
      return annotateBorder(a, mesh, attr);
    case Where::Constraint: {
      OpBuilder b(a.op);
      auto constraint = sdy::ShardingConstraintOp::create(
          b, a.op->getLoc(), a.op->getResult(0).getType(), a.op->getOperand(0), attr);
      a.op->replaceAllUsesWith(constraint);
      a.op->erase();
      break;
    }
    }
    return success();
  }

  LogicalResult annotateBorder(const Annotated &a, const sharding::Mesh &mesh,
                               sdy::TensorShardingAttr attr) {
    std::optional<sharding::AxisRefs> axes = import::manualAxes(mesh, a.manual);
    if (!axes || axes->empty())
      return a.op->emitError() << "the border of a manual region whose inner side is not manual; "
                                  "give it mhlo.sharding = \"{manual}\"";
    SmallVector<StringAttr> names;
    for (const sharding::AxisRef &axis : *axes) {
      if (!isWhole(mesh, axis))
        return a.op->emitError() << "is manual in a part of an axis; use sdy.manual_computation";
      names.push_back(StringAttr::get(&getContext(), mesh.axes[axis.axis].name));
    }
    a.op->setAttr("tessera.crosses", attr);
    a.op->setAttr("tessera.manual_axes", sdy::ManualAxesAttr::get(&getContext(), names));
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

  std::vector<Annotated> annotated;
  llvm::SmallDenseSet<int64_t> maximal;
};

} // namespace
} // namespace tessera
