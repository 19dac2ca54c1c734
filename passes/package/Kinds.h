// The enumerations of exec as the program format numbers them.
#pragma once

#include "dialects/exec/ExecOps.h"
#include "include/tessera/program.pb.h"

namespace tessera {

program::Buffer::Space toProgram(exec::Space space);
program::Memory toProgram(exec::Memory memory);
program::Collective::Kind toProgram(exec::CollectiveKind kind);
program::Collective::Reduction toProgram(exec::Reduction reduction);

} // namespace tessera
