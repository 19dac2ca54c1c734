// What is planned: the program as it was read, as import leaves it and as plain data; and on which meshes.
#pragma once

#include "compiler/Road.h"
#include "compiler/plan/Calls.h"
#include "compiler/plan/Plan.h"
#include "compiler/plan/Trial.h"

namespace tessera::planning {

// The line of an error about the program of that name.
std::string errorOf(llvm::StringRef name, const llvm::Twine &what);

// Of all that follows: "" or an error's line. The road's program becomes the source's.
std::string readSource(Road &road, llvm::StringRef text, llvm::StringRef name, Source &source,
                       SeparateCalls &separate);

// The program once more, as `source` has it read, on a road of its own: an MLIR context is for one thread. Null
// where it can't be read again.
mlir::OwningOpRef<mlir::ModuleOp> readAgain(Road &road, llvm::StringRef text, const Source &source);

// Of a program with annotations the mesh that they are on; else what is asked for.
std::string chooseMeshes(const Source &source, const PlanRequest &request, llvm::StringRef name,
                         std::vector<sharding::Mesh> &meshes);

// Bytes that any plan takes of each device: what the program is given and gives back. 0 where some of it lies
// in the host's memory.
double leastGiven(const Source &source, int64_t devices);

} // namespace tessera::planning
