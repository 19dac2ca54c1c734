// Turns the sharding strings of GSPMD into sdy annotations over a mesh that has their axes, or
// several where no mesh has the axes of all. Passes.td shows an example.
#include "passes/import/Passes.h"

#include "dialects/sdy/PlainData.h"
#include "dialects/sdy/SignatureAttributes.h"
#include "dialects/stablehlo/StablehloOps.h"
#include "dialects/tessera/Marks.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"
#include "passes/import/DeviceProgram.h"
#include "passes/import/gspmd/GspmdSharding.h"

#include <map>

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
  enum class Where { Argument, Result, Constraint, Value, Boundary };

  // One value that has a string.
  struct Annotated {
    Operation *op;
    Where where;
    unsigned index; // of the argument or result
    int64_t rank;
    TileAssignment assignment;
    TileAssignment manual; // of boundaries: what is manual on their inner side

    Location loc() const {
      return where == Where::Argument ? cast<func::FuncOp>(op).getArgument(index).getLoc()
                                      : op->getLoc();
    }
  };

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(collect(module)))
      return signalPassFailure();
    if (annotated.empty())
      return;
    if (hasSdyShardings(module)) // the strings say the same, but for calls
      llvm::erase_if(annotated, [](const Annotated &a) {
        return a.where != Where::Constraint && a.where != Where::Boundary;
      });
    if (failed(annotateAll()))
      return signalPassFailure();
    strip();
  }

  static bool hasSdyShardings(ModuleOp module) {
    return module
        .walk([](Operation *op) {
          bool found = isa<sdy::ShardingConstraintOp, sdy::ManualComputationOp>(op) ||
                       op->hasAttr(sdy::kShardingAttr);
          if (auto function = dyn_cast<func::FuncOp>(op)) {
            for (unsigned i = 0; i < function.getNumArguments(); ++i)
              found |= bool(function.getArgAttr(i, sdy::kShardingAttr));
            for (unsigned i = 0; i < function.getNumResults(); ++i)
              found |= bool(function.getResultAttr(i, sdy::kShardingAttr));
          }
          return found ? WalkResult::interrupt() : WalkResult::advance();
        })
        .wasInterrupted();
  }

  LogicalResult annotateAll() {
    SmallVector<sharding::Mesh> given;
    for (auto mesh : getOperation().getOps<sdy::MeshOp>())
      if (!mesh.getMesh().getAxes().empty())
        given.push_back(sdy::toMesh(mesh));
    import::TileMeshes tiles(given);
    int64_t partitions = import::processGridOf(getOperation()).partitions;
    SmallVector<size_t> meshOf;
    for (const Annotated &a : annotated) {
      int64_t devices = a.assignment.devices.size();
      if (devices && partitions > 1 && devices != partitions)
        return emitError(a.loc()) << "mhlo.sharding is for " << devices
                                  << " devices, but the program's mhlo.num_partitions is "
                                  << partitions;
      std::optional<size_t> mesh = tiles.add({a.assignment, a.manual});
      if (!mesh)
        return emitError(a.loc()) << "mhlo.sharding is for " << devices
                                  << " devices, but others of the program are for "
                                  << tiles.numDevices();
      meshOf.push_back(*mesh);
    }
    devices = std::max(tiles.numDevices(), partitions);
    getOperation().walk([&](sdy::ShardingGroupOp op) {
      firstGroup = std::max<int64_t>(firstGroup, op.getGroupId() + 1);
    });
    std::vector<sharding::Mesh> meshes = tiles.meshes();
    for (size_t i = given.size(); i < meshes.size(); ++i)
      declare(meshes[i]);
    std::map<Operation *, sdy::SignatureAttributes> signatures;
    for (auto [a, mesh] : llvm::zip_equal(annotated, meshOf))
      if (failed(annotate(a, meshes[mesh], signatures)))
        return failure();
    return success();
  }

  LogicalResult add(Operation *op, Where where, Attribute text, TypeRange types, unsigned index) {
    if (!text)
      return success();
    Location loc = Annotated{op, where, index, 0, {}, {}}.loc();
    auto string = dyn_cast<StringAttr>(text);
    if (!string)
      return emitError(loc) << "mhlo.sharding must be a string, as \"{devices=[2,4]<=[8]}\"";
    SmallVector<Type> parts;
    for (Type type : types)
      if (auto tuple = dyn_cast<TupleType>(type))
        tuple.getFlattenedTypes(parts);
      else
        parts.push_back(type);
    auto assignments = import::parseTileAssignments(string.getValue(), parts.size());
    if (!assignments)
      return emitError(loc) << llvm::toString(assignments.takeError());
    size_t part = 0;
    for (auto [i, type] : llvm::enumerate(types)) {
      if (auto tensor = dyn_cast<RankedTensorType>(type))
        annotated.push_back(
            {op, where, unsigned(index + i), tensor.getRank(), (*assignments)[part], {}});
      auto tuple = dyn_cast<TupleType>(type);
      SmallVector<Type> inside;
      if (tuple)
        tuple.getFlattenedTypes(inside);
      part += tuple ? inside.size() : 1;
    }
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
        added = addBoundary(op, /*outside=*/sourceOf(op->getOperand(0)), op->getAttr(key));
      else if (calls(op, "SPMDShardToFullShape"))
        added = addBoundary(op, op->getAttr(key), sourceOf(op->getOperand(0)));
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

  LogicalResult addBoundary(Operation *op, Attribute outside, Attribute inside) {
    auto from = dyn_cast<RankedTensorType>(op->getOperand(0).getType()),
         to = dyn_cast<RankedTensorType>(op->getResult(0).getType());
    if (!from || !to || from.getRank() != to.getRank())
      return op->emitError() << "a value keeps its rank where a manual region begins or ends, but "
                             << op->getOperand(0).getType() << " becomes "
                             << op->getResult(0).getType();
    Type whole = calls(op, "SPMDFullToShardShape") ? op->getOperand(0).getType()
                                                   : op->getResult(0).getType();
    StringAttr none = StringAttr::get(&getContext(), "{replicated}");
    if (failed(add(op, Where::Boundary, outside ? outside : none, whole, 0)))
      return failure();
    auto string = dyn_cast_or_null<StringAttr>(inside);
    auto manual = import::parseTileAssignment(string ? string.getValue() : "{manual}");
    if (!manual)
      return op->emitError() << llvm::toString(manual.takeError());
    annotated.back().manual = *manual;
    return success();
  }

  // Gives the mesh a name of its own.
  void declare(sharding::Mesh &mesh) {
    if (mesh.name.empty())
      mesh.name = "mesh";
    for (int i = 1; SymbolTable::lookupSymbolIn(getOperation(), mesh.name); ++i)
      mesh.name = "mesh_" + std::to_string(i);
    SmallVector<sdy::MeshAxisAttr> axes;
    for (const sharding::MeshAxis &axis : mesh.axes)
      axes.push_back(sdy::MeshAxisAttr::get(&getContext(), axis.name, axis.size));
    OpBuilder b = OpBuilder::atBlockBegin(getOperation().getBody());
    while (b.getInsertionPoint() != getOperation().getBody()->end() &&
           isa<sdy::MeshOp>(*b.getInsertionPoint()))
      b.setInsertionPointAfter(&*b.getInsertionPoint());
    sdy::MeshOp::create(b, getOperation().getLoc(), mesh.name,
                        sdy::MeshAttr::get(&getContext(), axes, ArrayRef<int64_t>(mesh.deviceIds)));
  }

  // A mesh of one device, by the name that Shardy gives it.
  sdy::TensorShardingAttr onDevice(int64_t device) {
    sharding::Mesh mesh{"maximal_mesh_" + std::to_string(device), {}, {device}};
    if (maximal.insert(device).second)
      declare(mesh);
    return sdy::TensorShardingAttr::get(&getContext(), mesh.name, {});
  }

  LogicalResult annotate(const Annotated &a, const sharding::Mesh &mesh,
                         std::map<Operation *, sdy::SignatureAttributes> &signatures) {
    if (int64_t dims = a.assignment.tiles.size() - a.assignment.last.size();
        a.assignment.hasTiles() && dims != a.rank)
      return emitError(a.loc()) << "mhlo.sharding has tiles of " << dims
                                << " dimensions for a value of rank " << a.rank;
    if (a.assignment.only >= std::max<int64_t>(devices, 1) && devices)
      return emitError(a.loc()) << "mhlo.sharding names device " << a.assignment.only
                                << ", but the program has " << devices;
    std::optional<sharding::TensorSharding> sharding = import::onMesh(mesh, a.assignment, a.rank);
    std::optional<sharding::AxisRefs> own = import::manualAxes(mesh, a.assignment);
    if (!sharding || !own)
      return emitError(a.loc()) << "mhlo.sharding falls on no axes of mesh @" << mesh.name;
    join(a);
    if (a.assignment.unknown && a.where != Where::Boundary) {
      if (a.where == Where::Constraint)
        forward(a.op);
      return success();
    }
    bool isManual = !own->empty() || a.assignment.all == import::TileKind::Manual;
    if (isManual && (a.where == Where::Argument || a.where == Where::Result))
      return emitError(a.loc()) << "mhlo.sharding is manual at the boundary of the program; such a "
                                   "value has no global meaning: annotate with sdy shardings "
                                   "instead";
    if (isManual && a.where != Where::Boundary) { // on the inner side: nothing is left to say
      if (a.where == Where::Constraint)
        forward(a.op);
      return success();
    }
    if (a.where == Where::Constraint)
      for (int64_t dim : unspecifiedDims(a.op)) {
        if (dim < 0 || dim >= a.rank)
          return emitError(a.loc())
                 << "names unspecified dimension " << dim << " of a value of rank " << a.rank;
        sharding->dims[dim].closed = false;
      }
    for (auto [dim, open] : llvm::zip(sharding->dims, a.assignment.open))
      dim.closed &= !open;
    sdy::TensorShardingAttr attr = a.assignment.only >= 0
                                       ? onDevice(a.assignment.only)
                                       : sdy::toAttr(&getContext(), mesh, *sharding);
    auto signature = [&]() -> sdy::SignatureAttributes & {
      return signatures.try_emplace(a.op, cast<func::FuncOp>(a.op)).first->second;
    };
    switch (a.where) {
    case Where::Argument:
      signature().setArgument(a.index, sdy::kShardingAttr, attr);
      break;
    case Where::Result:
      signature().setResult(a.index, sdy::kShardingAttr, attr);
      break;
    case Where::Value:
      if (a.assignment.only < 0)
        sdy::setSharding(a.op->getResult(a.index), attr);
      break;
    case Where::Boundary:
      return annotateBoundary(a, mesh, attr);
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

  static void forward(Operation *op) {
    op->replaceAllUsesWith(op->getOperands());
    op->erase();
  }

  // `shard_as` and `shard_like`: into a sharding group.
  void join(const Annotated &a) {
    if (a.assignment.group < 0)
      return;
    OpBuilder b(&getContext());
    Value value;
    if (auto function = dyn_cast<func::FuncOp>(a.op)) {
      Block &body = function.getBody().front();
      bool isArgument = a.where == Where::Argument;
      value = isArgument ? body.getArgument(a.index) : body.getTerminator()->getOperand(a.index);
      isArgument ? b.setInsertionPointToStart(&body) : b.setInsertionPoint(body.getTerminator());
    } else {
      value = a.op->getResult(a.index);
      b.setInsertionPointAfter(a.op);
    }
    sdy::ShardingGroupOp::create(b, a.loc(), value, firstGroup + a.assignment.group);
  }

  LogicalResult annotateBoundary(const Annotated &a, const sharding::Mesh &mesh,
                                 sdy::TensorShardingAttr attr) {
    std::optional<sharding::AxisRefs> axes = import::manualAxes(mesh, a.manual);
    if (!axes || axes->empty())
      return a.op->emitError() << "the boundary of a manual region whose inner side is not manual; "
                                  "give it mhlo.sharding = \"{manual}\"";
    SmallVector<StringAttr> names;
    for (const sharding::AxisRef &axis : *axes) {
      if (!isWhole(mesh, axis))
        return a.op->emitError() << "is manual in a part of an axis; use sdy.manual_computation";
      names.push_back(StringAttr::get(&getContext(), mesh.axes[axis.axis].name));
    }
    setBoundary(a.op, BoundaryAttr::get(&getContext(), attr,
                                        sdy::ManualAxesAttr::get(&getContext(), names)));
    return success();
  }

  void strip() {
    getOperation().walk([](Operation *op) {
      op->removeAttr(key);
      if (auto function = dyn_cast<func::FuncOp>(op)) {
        sdy::SignatureAttributes attributes(function);
        for (unsigned i = 0; i < function.getNumArguments(); ++i)
          attributes.removeArgument(i, key);
        for (unsigned i = 0; i < function.getNumResults(); ++i)
          attributes.removeResult(i, key);
      }
    });
  }

  std::vector<Annotated> annotated;
  llvm::SmallDenseSet<int64_t> maximal;
  int64_t devices = 0;    // 0: nothing says it
  int64_t firstGroup = 0; // above the sharding groups that the program has
};

} // namespace
} // namespace tessera
