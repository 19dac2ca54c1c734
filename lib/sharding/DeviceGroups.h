// The mesh axes behind tables of device numbers, as frontends write collectives.
#pragma once

#include "lib/mesh/Mesh.h"
#include <optional>

namespace tessera::sharding {

// All axes of the mesh, each whole, major to minor.
AxisRefs allAxes(const Mesh &mesh);

// `count` numbers at distance `stride`: one digit of a mixed-radix numbering of the devices.
struct Digit {
  int64_t stride, count;
};

// The digits of `offsets` (offsets[0] = 0), minor first: {0, 1, 4, 5} is {1, 2}, {4, 2}. None when
// there are no such digits.
std::optional<llvm::SmallVector<Digit>> digitsOf(llvm::ArrayRef<int64_t> offsets);

// The axes, or parts of them, that a digit of the position in the mesh runs along, major to minor;
// a digit may span several axes. None when it cuts an axis unevenly.
//   mesh ["x"=2, "y"=4]: {1, 4} is y; {4, 2} is x; {1, 8} is x, y; {2, 2} is y:(1)2
std::optional<AxisRefs> axesOfDigit(const Mesh &mesh, Digit digit);

// Axes such that each group is the devices that differ along them only, in rank order. None when
// there are none.
//   mesh ["x"=2, "y"=4]: {0, 4}, {1, 5}, {2, 6}, {3, 7} is x
std::optional<AxisRefs> axesOfGroups(const Mesh &mesh,
                                     llvm::ArrayRef<llvm::SmallVector<int64_t>> groups);

// A table of (source, target) device pairs as axes and pairs of ranks along them.
struct RankPairs {
  AxisRefs axes;
  llvm::SmallVector<int64_t> pairs; // source, target, source, target, ..; sorted by source
  std::optional<int64_t> shift;     // target = source + shift for all that have one, ..
  bool wrap = false;                // .. modulo the size of the group
};

// The fewest whole axes (major to minor as in the mesh) that explain the table: along all others it
// is the same everywhere.
//   mesh ["x"=2, "y"=4]: {0, 0}, {4, 4} is y, with 0 -> 0; {0, 0} alone is x, y
RankPairs ranksOfPairs(const Mesh &mesh, llvm::ArrayRef<int64_t> pairs);

// Groups that no axes have: for each position in the mesh, which ranks along `axes` are its group,
// in the group's order. `axes` are the fewest whole axes that hold every group.
//   mesh ["x"=2, "y"=4], {0, 3}, {1, 2}, {4, 7}, {5, 6}: y; 0 -> {0, 3}, 1 -> {1, 2}, ..
struct GroupTable {
  AxisRefs axes;
  std::vector<llvm::SmallVector<int64_t>> members; // empty for devices in no group
  std::vector<int64_t> rank;                       // the position's own place in its group
  int64_t largest = 0;                             // number of members of a group
};

GroupTable tableOfGroups(const Mesh &mesh, llvm::ArrayRef<llvm::SmallVector<int64_t>> groups);

} // namespace tessera::sharding
