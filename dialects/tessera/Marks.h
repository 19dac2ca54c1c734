// Marks: what one phase leaves for another, each with one function that reads it and one that
// writes it. Names are spelled in Marks.cpp only, where a table says which type each has and
// where it may stand.
#pragma once

#include "dialects/sdy/SignatureAttributes.h"
#include "dialects/tessera/TesseraDialect.h"
#include "mlir/IR/BuiltinOps.h"

// Who asks for prices includes lib/cost/Topology.h.

namespace tessera {

namespace comm {
enum class Space : uint32_t;
}

// --- The machine ---
// As the module says, or the default where it says nothing. For other targets a GPU is none: what is
// known of it is how fast it computes, and how fast its memory is.
cost::Topology topologyOf(mlir::ModuleOp module);
void setTopology(mlir::ModuleOp module, TopologyAttr topology); // null: it says nothing

// --- The schedule ---
// What the user asks of the order; the memory is what the topology says where the user says nothing.
cost::ScheduleOptions scheduleOf(mlir::ModuleOp module);
// Of a loop whose trips were made for it; none: as of the module.
std::optional<cost::Overlap> overlapOf(mlir::Operation *loop);
void setOverlap(mlir::Operation *loop, cost::Overlap overlap);
void setSchedule(mlir::ModuleOp module, const cost::ScheduleOptions &options);

// --- The target ---
// What the module is compiled for; where it says nothing, what is named here is set, or the module
// has an error. Without names: the cpu, and the processor of this machine.
mlir::FailureOr<TargetAttr> ensureTarget(mlir::ModuleOp module,
                                         llvm::StringRef target = target::kDefaultTarget,
                                         llvm::StringRef processors = target::kDefaultProcessor);
TargetAttr getTarget(mlir::ModuleOp module);              // null where it says nothing
void setTarget(mlir::ModuleOp module, TargetAttr target); // null takes it out

// --- Signatures ---
// The shape that the command line gives an argument; null where it gives none.
mlir::RankedTensorType getGivenShape(mlir::DictionaryAttr argument);
void setGivenShape(sdy::SignatureAttributes &, unsigned argument, mlir::RankedTensorType);
void dropGivenShape(sdy::SignatureAttributes &, unsigned argument);
// The type that an argument or result of the program has as a whole; null before localize.
mlir::RankedTensorType getGlobalType(mlir::DictionaryAttr argumentOrResult);
void setGlobalTypeOfArgument(sdy::SignatureAttributes &, unsigned argument, mlir::Type);
void setGlobalTypeOfResult(sdy::SignatureAttributes &, unsigned result, mlir::Type);

// The memory that an argument or result of the program lies in: the device's where nothing is said.
comm::Space getMemory(mlir::DictionaryAttr argumentOrResult);
void setMemoryOfArgument(sdy::SignatureAttributes &, unsigned argument, comm::Space);
void setMemoryOfResult(sdy::SignatureAttributes &, unsigned result, comm::Space);

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
// By what an unreduced value is: what its sharding says, and where that says no more than `unreduced`,
// its op's mark.
sharding::ReductionKind getPartialKind(mlir::Value value);
void setPartialKind(mlir::Operation *op, sharding::ReductionKind kind);

// --- Boundaries of manual regions ---
// Of a custom call of GSPMD's; null where it has none.
BoundaryAttr getBoundary(mlir::Operation *call);
void setBoundary(mlir::Operation *call, BoundaryAttr boundary);

// --- Explanations ---
// Whether reasons are to be noted, of all that is decided.
bool wantsReasons(mlir::ModuleOp module);
void setWantsReasons(mlir::ModuleOp module, bool wants);
// Null where nothing is noted.
OriginAttr getOrigin(mlir::Operation *op);
OriginAttr getOrigin(mlir::DictionaryAttr argument);
void setOrigin(mlir::Operation *op, OriginAttr origin);
void setOrigin(sdy::SignatureAttributes &, unsigned argument, OriginAttr origin);
ConflictAttr getConflict(mlir::Operation *op);
void setConflict(mlir::Operation *op, ConflictAttr conflict);
// Whether the program asks for this sdy.reshard, by a constraint.
bool isAskedFor(mlir::Operation *reshard);
void setAskedFor(mlir::Operation *reshard, bool asked);

// Whether an attribute of this name says something of a value that several devices share:
// localize leaves none.
bool speaksOfGlobalValues(mlir::StringAttr name);

} // namespace tessera
