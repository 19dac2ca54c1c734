// Values that are sharded alike because data flows between them unchanged: through loops, branches,
// barriers and the boundaries of computations.
#pragma once

#include "dialects/sdy/SdyOps.h"

namespace tessera::sdy {

// Shardings flow between the sources and the targets of an edge as through an identity. The targets
// share one sharding, that of the first.
//   y = while (x) cond(c) { .. } do(b) { .. return r }    sources x, r      targets y, c, b
//   y = case .. { .. return r0 } { .. return r1 }         sources r0, r1    targets y
//   y = manual_computation(x) (b) { .. return r }         source x, target b; source r, target y
struct DataFlowEdge {
  llvm::SmallVector<mlir::Value, 4> sources, targets;
  bool entersRegion = false; // the targets are block arguments only
  unsigned index = 0;        // of the op's operand or result
};

// The edges of an op, none for ops that compute.
llvm::SmallVector<DataFlowEdge> dataFlowEdges(mlir::Operation *op);

// Whether the ops of its regions are part of the program (a loop's body, unlike the combiner of a
// reduction).
bool holdsProgram(mlir::Operation *op);

// Whether the value is the target of an edge.
bool isEdgeTarget(mlir::Value value);

} // namespace tessera::sdy
