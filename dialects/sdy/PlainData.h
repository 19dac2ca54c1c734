// Between sdy's attributes and the plain data on which lib/sharding decides; and where values keep
// their shardings.
#pragma once

#include "dialects/sdy/SdyOps.h"
#include "lib/sharding/FactorRule.h"
#include "llvm/ADT/StringMap.h"

namespace tessera::sdy {

sharding::Mesh toMesh(MeshOp op);
sharding::Mesh toMesh(MeshAttr mesh, llvm::StringRef name);

// The axis must be one of the mesh: verified IR says so.
sharding::AxisRef toAxisRef(AxisRefAttr axis, const sharding::Mesh &mesh);
AxisRefAttr toAttr(mlir::MLIRContext *context, const sharding::Mesh &mesh,
                   const sharding::AxisRef &axis);

// By what unreduced values are combined is no part of the plain data, which says where values lie: who
// makes an attribute of it anew says so by `withReduction`, where that is no sum.
sharding::ReductionKind toKind(ReductionOp op);

sharding::TensorSharding toSharding(TensorShardingAttr attr, const sharding::Mesh &mesh);
TensorShardingAttr toAttr(mlir::MLIRContext *context, const sharding::Mesh &mesh,
                          const sharding::TensorSharding &sharding);

// Rules. A dimension without factors gets one of its own in the attribute. Reductions other than
// sums lose their kind there, and blocked factors in the plain rule: `blockedFactors` has them.
sharding::FactorRule toRule(OpShardingRuleAttr attr);
OpShardingRuleAttr toAttr(mlir::Operation *op, const sharding::FactorRule &rule);

// The rule that an op knows of itself: by its ShardingRuleOpInterface, or because it is elementwise.
std::optional<sharding::FactorRule> ownRule(mlir::Operation *op);

// The rule of an op: what `sdy.sharding_rule` says, else its own, else none.
std::optional<sharding::FactorRule> getRule(mlir::Operation *op);

// Factors along which shardings of this op must not propagate (`blocked_propagation` of its
// `sdy.sharding_rule`).
llvm::ArrayRef<int64_t> blockedFactors(mlir::Operation *op);

// The sharding of a value, null when it has none:
//   op results      `sdy.sharding` of the op; the sharding that an sdy op says its result has
//   function args   the argument's attribute
//   loop-carried    block arguments of stablehlo.while share the sharding of the loop's result
//   regions         of a manual computation: in_shardings without the manual axes
//                   of a named one: in_shardings
TensorShardingAttr getSharding(mlir::Value value);

// Sets it in the same place (setting a loop-carried argument sets the loop's result). Not for
// values inside a manual computation that enter it: their sharding is the op's own.
void setSharding(mlir::Value value, TensorShardingAttr sharding);

// A sharding as seen inside a manual computation: without its manual axes.
TensorShardingAttr insideManual(TensorShardingAttr sharding, ManualAxesAttr manual);

// The meshes of a module by name, as plain data.
class MeshTable {
public:
  explicit MeshTable(mlir::ModuleOp module);

  const sharding::Mesh *lookup(llvm::StringRef name) const;        // null when there is none
  const sharding::Mesh *lookup(TensorShardingAttr sharding) const; // null for meshes written inline

  // The mesh of a module that has one with axes; the first of several; null when there is none.
  const sharding::Mesh *main() const { return first < 0 ? nullptr : &meshes[first]; }

private:
  std::vector<sharding::Mesh> meshes;
  llvm::StringMap<int> byName;
  int first = -1;
};

} // namespace tessera::sdy
