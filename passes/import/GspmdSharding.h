// GSPMD's sharding strings as plain data, and the mesh that a program's strings have in common.
#pragma once

#include "lib/sharding/Sharding.h"
#include "llvm/Support/Error.h"

namespace tessera::import {

// `{devices=[2,1,4]0,1,2,3,4,5,6,7 last_tile_dim_replicate}`: devices of a tensor's tiles,
// row-major over `tiles`.
struct TileAssignment {
  llvm::SmallVector<int64_t> tiles; // with the replicated one last, if any
  std::vector<int64_t> devices;     // empty: replicated
  bool lastReplicated = false;

  bool isReplicated() const { return devices.empty(); }
};

// Errors say what the string holds that is not supported.
llvm::Expected<TileAssignment> parseTileAssignment(llvm::StringRef text);

// The coarsest mesh on whose axes all assignments fall, axes named axis_0 .. major to minor; none
// when there is none.
std::optional<sharding::Mesh> commonMesh(llvm::ArrayRef<TileAssignment> assignments);

// The assignment by the axes of `mesh`, for a tensor of `rank` dimensions.
std::optional<sharding::TensorSharding> onMesh(const sharding::Mesh &mesh,
                                               const TileAssignment &assignment, int64_t rank);

} // namespace tessera::import
