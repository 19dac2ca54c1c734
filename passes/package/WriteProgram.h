// One exec.program as a message: one an op, with buffers, kernels, axes and locations as numbers.
#pragma once

#include "dialects/exec/ExecOps.h"
#include "dialects/sdy/PlainData.h"
#include "include/tessera/program.pb.h"

#include "llvm/ADT/StringMap.h"

namespace tessera {

// What the programs of a file refer to by number.
struct FileNumbers {
  program::File &file;
  llvm::StringMap<uint32_t> kernels, channels, locations;
  llvm::StringMap<uint64_t> scratch; // bytes, of kernels

  uint32_t ofLocation(mlir::Location location); // entered into the file; 0 where it says nothing
};

// All but the offset of its constants. Emits errors.
llvm::LogicalResult writeProgram(exec::ProgramOp program, const sdy::MeshTable &meshes,
                                 FileNumbers &numbers, program::Program &out);

} // namespace tessera
