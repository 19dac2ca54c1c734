// GSPMD's sharding strings as plain data, and the mesh that a program's strings have in common.
#pragma once

#include "lib/sharding/Sharding.h"
#include "llvm/Support/Error.h"

namespace tessera::import {

enum class TileKind { Replicated, Manual };

// `{devices=[2,1,4]0,1,2,3,4,5,6,7 last_tile_dim_replicate}`: devices of a tensor's tiles,
// row-major over `tiles`.
struct TileAssignment {
  llvm::SmallVector<int64_t> tiles;
  std::vector<int64_t> devices;     // empty for the short forms below, and where it is replicated
  llvm::SmallVector<TileKind> last; // of the last tile dimensions, which are none of the tensor's
  bool manual = false;              // `{manual}`: each device has its own part, in all axes
  int64_t only = -1;                // `{maximal device=3}`

  bool isReplicated() const { return devices.empty(); }
};

// Errors say what the string holds that is not supported.
llvm::Expected<TileAssignment> parseTileAssignment(llvm::StringRef text);

// Of `count` values: a tuple `{{..}, {..}}`, or one string for all.
llvm::Expected<llvm::SmallVector<TileAssignment>> parseTileAssignments(llvm::StringRef text,
                                                                       size_t count);

// The coarsest mesh on whose axes all assignments fall, axes named axis_0 .. major to minor; none
// when there is none.
std::optional<sharding::Mesh> commonMesh(llvm::ArrayRef<TileAssignment> assignments);

// The assignment by the axes of `mesh`, for a tensor of `rank` dimensions.
std::optional<sharding::TensorSharding> onMesh(const sharding::Mesh &mesh,
                                               const TileAssignment &assignment, int64_t rank);

// The axes in which the assignment is manual; none where it falls on no axes of the mesh.
std::optional<sharding::AxisRefs> manualAxes(const sharding::Mesh &mesh,
                                             const TileAssignment &assignment);

} // namespace tessera::import
