// Where the buffers of a device program lie.
#pragma once

#include "dialects/exec/ExecOps.h"
#include "passes/memory/WrittenArrays.h"

namespace tessera::memory {

// Spaces of ranges: 0 arena, 1 constants, 2 + 2i input i, 3 + 2i output i; -1 host arena, -2 file,
// -3 - i argument i. An output that takes an input's buffer is that input.
int64_t outputSpace(exec::ProgramOp program, int64_t output);
ByteRange rangeOf(exec::ProgramOp program, mlir::Value buffer);

} // namespace tessera::memory
