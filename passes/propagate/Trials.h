// What a program would cost if its values were sharded in some way: tried on copies of it.
#pragma once

#include "lib/sharding/PropagationGraph.h"
#include "passes/propagate/Surroundings.h"
#include "passes/reshard/Movement.h"

#include <optional>

namespace tessera {

using PropagatedValues = llvm::ArrayRef<sharding::PropagatedValue>;

/// What its reshards move, each for itself. None where that can't be said.
std::optional<Movement> reshardsWith(PropagatedValues values, mlir::ModuleOp original);
/// The same of what stands around some values.
std::optional<Movement> reshardsWith(PropagatedValues values, Surroundings &around);

/// Seconds of a step, predicted of the instructions that it becomes: collectives have been joined and lie beside
/// what is computed. It takes all phases up to memory.
std::optional<double> stepSecondsWith(PropagatedValues values, mlir::ModuleOp original);

} // namespace tessera
