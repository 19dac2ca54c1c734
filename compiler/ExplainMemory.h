// What a device program holds while it runs, as plain data.
#pragma once

#include "compiler/explanation/Explanation.h"
#include "dialects/exec/ExecOps.h"

namespace tessera {

// From the instructions as they stand: an array of the arena is there from the first that writes it
// to the last that reads it; what a loop carries, all the while.
explain::Memory memoryOf(exec::ProgramOp program);

// What every instruction finds held in the arena and in outputs, in program order: of all arrays, or of those
// that are first used by such an op.
std::vector<int64_t> heldOver(exec::ProgramOp program,
                              llvm::function_ref<bool(mlir::Operation *)> counts);

} // namespace tessera
