// The state of localize: which local value stands for each global value, and how it lies on the
// devices.
#pragma once

#include "dialects/comm/CommOps.h"
#include "dialects/sdy/SdyAttrs.h"
#include "dialects/stablehlo/StablehloOps.h"
#include "dialects/stablehlo/TensorTypes.h"
#include "lib/sharding/ReshardSearch.h"
#include "lib/sharding/Sharding.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/DenseMap.h"

namespace tessera::localize {

using sharding::AxisRefs;
using sharding::DimLayout;
using sharding::LocalLayout;
using sharding::ReductionKind;

struct LocalValue {
  mlir::Value value;
  LocalLayout layout;
};

class Localizer;
// Makes the local form of one global op and binds its results. Only ops that need more than what
// they say of themselves have one.
using Handler = mlir::LogicalResult (*)(Localizer &, mlir::Operation *);
using HandlerTable = llvm::DenseMap<mlir::OperationName, Handler>;

// Ops are visited in program order. A handler asks for its operands in the layout it needs, builds
// at `b`, and binds the results in whatever layout came out: `bind` moves them to the annotated
// axes when they differ.
class Localizer {
public:
  Localizer(mlir::ModuleOp module, const sharding::Mesh &mesh, const cost::Topology &topology,
            const HandlerTable &handlers);

  mlir::OpBuilder b;
  mlir::Location loc;

  const sharding::Mesh &getMesh() const { return planner.getMesh(); }
  const cost::Topology &getTopology() const { return planner.getTopology(); }

  // --- Layouts ---
  // What the annotation of a global value asks for, with canonical tiles and without axes of
  // size 1.
  LocalLayout annotated(mlir::Value global);
  // The same for an attribute; null is whole.
  LocalLayout layoutOf(sdy::TensorShardingAttr sharding, llvm::ArrayRef<int64_t> shape);
  // The annotation, but with the tiles of `found` wherever the axes agree.
  LocalLayout annotatedLike(mlir::Value global, const LocalLayout &found);
  LocalLayout whole(mlir::Value global);
  static mlir::RankedTensorType localType(mlir::Value global, const LocalLayout &layout);

  // --- Values ---
  const LocalValue &local(mlir::Value global);
  // The value in layout `want`; axes over which it is partial stay unless `reduceAll`.
  mlir::Value get(mlir::Value global, const LocalLayout &want);
  mlir::Value getWhole(mlir::Value global) { return get(global, whole(global)); }
  void bind(mlir::Value global, mlir::Value local, LocalLayout layout);
  // Exactly `to`, made partial or reduced as it says.
  mlir::Value move(LocalValue from, llvm::ArrayRef<int64_t> globalShape, const LocalLayout &to);
  void setLocal(mlir::Value global, LocalValue value) { values[global] = std::move(value); }

  // --- Ops ---
  mlir::LogicalResult visitBlock(mlir::Block &global); // all but the terminator
  // A copy with local operands and types: without what speaks of shardings, with its regions.
  mlir::Operation *copy(mlir::Operation *op, mlir::ValueRange operands, mlir::TypeRange types);
  comm::AxesAttr axesAttr(llvm::ArrayRef<sharding::AxisRef> axes);

private:
  mlir::LogicalResult visit(mlir::Operation *op);
  Handler handlerOf(mlir::Operation *op) const; // null: it cannot be partitioned

  sharding::ReshardPlanner planner;
  const HandlerTable &handlers;
  llvm::DenseMap<mlir::Value, LocalValue> values;
};

// Whether a dimension holds rows past the end on some device.
inline bool isUneven(const DimLayout &dim, int64_t size) {
  return dim.tile * sharding::shardCount(dim.axes) != size;
}
inline bool isSharded(const DimLayout &dim) { return !dim.axes.empty(); }
inline DimLayout wholeDim(int64_t size) { return {{}, size}; }
AxisRefs commonAxes(llvm::ArrayRef<sharding::AxisRef> a, llvm::ArrayRef<sharding::AxisRef> b);
// What an operation that only moves elements leaves in parts: the axes along which its operand is
// in parts and its result may be, combined as before.
void keepParts(LocalLayout &operand, LocalLayout &result);
void addAxes(AxisRefs &axes,
             llvm::ArrayRef<sharding::AxisRef> more); // those that are not there yet

// Of ops that say so (LocalizationOpInterface, ElementwiseOpInterface).
mlir::LogicalResult localizeElementwise(Localizer &l, mlir::Operation *op);
mlir::LogicalResult localizeByRule(Localizer &l, mlir::Operation *op);

} // namespace tessera::localize
