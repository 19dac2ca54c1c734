// The constant section: arrays as kernels read them.
#pragma once

#include "dialects/exec/ExecOps.h"

#include <string>

namespace tessera {

// The bytes of all exec.constant ops of the program at their offsets, zeros between. Emits an error
// for contents that are not in the module.
mlir::FailureOr<std::string> constantSection(exec::ProgramOp program);

} // namespace tessera
