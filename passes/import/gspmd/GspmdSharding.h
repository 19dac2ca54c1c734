// GSPMD's sharding strings as plain data, and the meshes on whose axes a program's strings fall.
#pragma once

#include "lib/sharding/Sharding.h"
#include "llvm/Support/Error.h"

namespace tessera::import {

enum class TileKind { Replicated, Manual, Unreduced };

// `{devices=[2,1,4]0,1,2,3,4,5,6,7 last_tile_dim_replicate}`: devices of a tensor's tiles,
// row-major over `tiles`.
struct TileAssignment {
  llvm::SmallVector<int64_t> tiles;
  std::vector<int64_t> devices;     // empty for the short forms below, and where it is replicated
  llvm::SmallVector<TileKind> last; // of the last tile dimensions, which are none of the tensor's
  TileKind all = TileKind::Replicated; // of the short forms `{manual}` and `{unreduced}`
  int64_t only = -1;                   // `{maximal device=3}`
  bool unknown = false;                // `{unknown}`: says nothing
  llvm::SmallVector<bool> open;        // dimensions with `?`, of strings on a mesh
  int64_t group = -1; // `shard_as 1`, `shard_like 1`: sharded as the others of this number

  bool hasTiles() const { return !devices.empty(); }
};

// Errors say what is wrong with the string.
llvm::Expected<TileAssignment> parseTileAssignment(llvm::StringRef text);

// The string `{mesh['a'=2], [{'a'}, {}]}` from behind its `mesh` on, without the braces. Empty, or
// what is wrong (NamedTileSharding.cpp).
std::string readNamedTiles(llvm::StringRef text, TileAssignment &result);

// Devices 0 .. n-1 as an array of `shape`, transposed: `<=[2,4]T(1,0)`. None where the permutation
// is none, or there are more than a million devices.
std::optional<std::vector<int64_t>> transposedIota(llvm::ArrayRef<int64_t> shape,
                                                   llvm::ArrayRef<int64_t> permutation);

// The shardings of a tuple `{{..}, {..}}` and of the tuples in it; the text itself if it is no
// tuple.
llvm::SmallVector<llvm::StringRef> tupleParts(llvm::StringRef text);

// Of `count` values: a tuple of them, or one string for all.
llvm::Expected<llvm::SmallVector<TileAssignment>> parseTileAssignments(llvm::StringRef text,
                                                                       size_t count);

// The meshes that a program's assignments need: given ones, and as few more as will do, the
// coarsest, their axes named axis_0 .. major to minor.
//   {devices=[2,3]<=[6]}     <["axis_0"=2, "axis_1"=3]>   no mesh has axes for this one and the next
//   {devices=[3,2]<=[6]}     <["axis_0"=3, "axis_1"=2]>
//   {devices=[4]0,2,3,1}     <["axis_0"=4], device_ids=[0, 2, 3, 1]>
class TileMeshes {
public:
  explicit TileMeshes(llvm::ArrayRef<sharding::Mesh> given);

  // The number of a mesh that has axes for all of these, which concern one value; none when they
  // are of another number of devices than those before. Its axes follow from all that is added.
  std::optional<size_t> add(llvm::ArrayRef<TileAssignment> assignments);

  std::vector<sharding::Mesh> meshes() const;    // at least one
  int64_t numDevices() const { return devices; } // 0: nothing says it

private:
  // A mesh in the making: boundaries of its axes as distances between positions in `order`.
  struct Candidate {
    std::vector<int64_t> order; // as Mesh::deviceIds
    llvm::SmallVector<int64_t> boundaries = {1};
    std::optional<sharding::Mesh> given;

    bool take(llvm::ArrayRef<TileAssignment> assignments);
  };

  std::vector<Candidate> candidates;
  int64_t devices = 0;
};

// The assignment by the axes of `mesh`, for a tensor of `rank` dimensions.
std::optional<sharding::TensorSharding> onMesh(const sharding::Mesh &mesh,
                                               const TileAssignment &assignment, int64_t rank);

// The axes in which the assignment is manual; none where it falls on no axes of the mesh.
std::optional<sharding::AxisRefs> manualAxes(const sharding::Mesh &mesh,
                                             const TileAssignment &assignment);

} // namespace tessera::import
