// Marks: what one phase leaves for another, each with one function that reads it and one that
// writes it. Names are spelled in Marks.cpp only, where a table says which type each has and
// where it may stand.
#pragma once

#include "dialects/tessera/TesseraDialect.h"
#include "mlir/IR/BuiltinOps.h"

namespace tessera {

// --- The machine ---
// As the module says, or the default where it says nothing.
cost::Topology topologyOf(mlir::ModuleOp module);
void setTopology(mlir::ModuleOp module, TopologyAttr topology);

// --- Loops ---
// How often a loop runs; none where its data ends it.
std::optional<int64_t> getTripCount(mlir::Operation *loop);
void setTripCount(mlir::Operation *loop, std::optional<int64_t> trips);
// How often `op` runs for each time that `ancestor` (null: the program) does: the product of the
// counted loops around it, at most the largest number; loops that data end count once.
int64_t tripsAround(mlir::Operation *op, mlir::Operation *ancestor = nullptr);

// --- Partial values ---
// By what the unreduced results of `op` (null: an argument) are combined.
sharding::ReductionKind getPartialKind(mlir::Operation *op);
void setPartialKind(mlir::Operation *op, sharding::ReductionKind kind);

// Whether an attribute of this name says something of a value that several devices share:
// localize leaves none.
bool speaksOfGlobalValues(mlir::StringAttr name);

} // namespace tessera
