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

// Of a program with annotations the mesh that they are on; else what is asked for.
std::string chooseMeshes(const Source &source, const PlanRequest &request, llvm::StringRef name,
                         std::vector<sharding::Mesh> &meshes);

// Of a program that is given more than there is, on any mesh, how much that is.
std::string refuseTooMuch(const Source &source, int64_t devices, llvm::StringRef name);

} // namespace tessera::planning
