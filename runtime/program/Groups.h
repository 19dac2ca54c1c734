// Which devices meet in a collective.
#pragma once

#include "include/tessera/program.pb.h"
#include "runtime/Status.h"
#include "runtime/array/Layout.h"
#include <cstdint>
#include <string>
#include <vector>

namespace tessera::runtime {

// The groups that one list of axes (or one table) divides the mesh into. Along axes they are
// computed: a mesh of 2 x 4 grouped along its first axis has
//
//   position       0 1 2 3 4 5 6 7
//   group          0 1 2 3 0 1 2 3     digits of the position beside the axes, major to minor
//   rank           0 0 0 0 1 1 1 1     digits along the axes
//
// so that a set of groups takes memory in the number of its axes, not of the devices. A table takes
// memory in the number of devices, as it does in the program.
class GroupSet {
public:
  static Result<GroupSet> make(const program::Collective &collective, const MeshGrid &mesh);

  uint32_t size() const { return size_; }   // of a group
  uint32_t count() const { return count_; } // of groups
  uint32_t groupOf(uint32_t position) const {
    return table_.empty() ? index(position, beside_) : groupOf_[position];
  }
  uint32_t rankOf(uint32_t position) const {
    return table_.empty() ? index(position, along_) : rankOf_[position];
  }
  uint32_t member(uint32_t group, uint32_t rank) const { // its position
    return table_.empty() ? place(group, beside_) + place(rank, along_)
                          : table_[uint64_t{group} * size_ + rank];
  }

private:
  using Parts = std::vector<MeshGrid::Part>; // major to minor

  static uint32_t index(uint32_t position, const Parts &parts);
  static uint32_t place(uint32_t index, const Parts &parts);
  Status fromTables(const program::Collective &collective, const MeshGrid &mesh);

  uint32_t size_ = 1, count_ = 1;
  Parts along_, beside_;
  std::vector<uint32_t> table_;            // positions by group and rank; empty: along axes
  std::vector<uint32_t> groupOf_, rankOf_; // of a table, by position
};

// Equal for collectives over the same groups.
std::string groupSignature(const program::Collective &collective);

} // namespace tessera::runtime
