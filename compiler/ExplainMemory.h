// What a device program holds while it runs, as plain data.
#pragma once

#include "compiler/explanation/Explanation.h"
#include "dialects/exec/ExecOps.h"

namespace tessera {

// From the instructions as they stand: an array of the arena is there from the first that writes it
// to the last that reads it; what a loop carries, all the while.
explain::Memory memoryOf(exec::ProgramOp program);

} // namespace tessera
