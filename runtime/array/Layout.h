// Where a device stands on the mesh, and which part of a global array it holds.
#pragma once

#include "include/tessera/program.pb.h"
#include "runtime/Status.h"
#include <cstdint>
#include <utility>
#include <vector>

namespace tessera::runtime {

using AxisRefs = google::protobuf::RepeatedPtrField<program::AxisRef>;
using DimLayouts = google::protobuf::RepeatedPtrField<program::DimLayout>;

// A mesh of logical devices. Position p is the row-major index of coordinates; deviceAt(p) is the
// device there, by its number among all of the file. Devices that follow each other take no memory.
class MeshGrid {
public:
  static Result<MeshGrid> make(const program::Mesh &mesh);

  int64_t size() const { return size_; }
  int64_t deviceAt(int64_t position) const {
    return devices_.empty() ? first_ + position : devices_[position];
  }
  int64_t positionOf(int64_t device) const; // -1 where it is not on this mesh
  bool sameDevices(const MeshGrid &other) const {
    return size_ == other.size_ && first_ == other.first_ && devices_ == other.devices_;
  }
  // The devices as ranges [begin, end): one, or one for each.
  std::vector<std::pair<int64_t, int64_t>> ranges() const;
  int axisCount() const { return static_cast<int>(sizes_.size()); }

  bool operator==(const MeshGrid &other) const = default;

  // The index of `position` along `axes`, major to minor; the product of their sizes.
  int64_t indexAlong(int64_t position, const AxisRefs &axes) const;
  static int64_t sizeOf(const AxisRefs &axes);
  // Axis in range, sub-axis a true part of it, no part used twice or across another.
  Status check(const AxisRefs &axes) const;

  // A digit of positions: the part of a position that is `position / stride % size`.
  struct Part {
    int64_t stride, size;
  };
  Part part(const program::AxisRef &ref) const;
  // The parts that `axes` leave, major to minor: what distinguishes the groups that they span.
  std::vector<Part> partsBeside(const AxisRefs &axes) const;

private:
  int64_t size_ = 1;
  std::vector<int64_t> sizes_, strides_;
  int64_t first_ = 0;
  std::vector<int64_t> devices_;                       // by position; empty: from first_ on
  std::vector<std::pair<int64_t, int64_t>> positions_; // (device, position), by device
};

// Takes out the parts of size 1, which say nothing: what is left of a checked list has at most as
// many entries as the number of devices has factors.
void dropTrivial(AxisRefs &axes);

int64_t elementCount(const std::vector<int64_t> &shape);
std::vector<int64_t> rowMajorStrides(const std::vector<int64_t> &shape);

// The tiles' shape: what one device allocates for a parameter.
std::vector<int64_t> localShape(const program::Parameter &parameter);
int64_t localBytes(const program::Parameter &parameter);
std::vector<int64_t> globalShape(const program::Parameter &parameter);

// Layouts fit the mesh, tiles cover the dimensions, the type is known.
Status checkParameter(const program::Parameter &parameter, const MeshGrid &mesh);

// The box of the global array that the device at `position` holds.
struct Tile {
  std::vector<int64_t> start, extent;
  bool full = true; // the device's array has no padding
};
Tile tileOf(const program::Parameter &parameter, const MeshGrid &mesh, int64_t position);

// Fills the tile of the device at `position` from a global array; what lies past the end is zero.
void scatterTile(const program::Parameter &parameter, const MeshGrid &mesh, int64_t position,
                 const void *global, void *local);

// Puts a device's tile into the global array.
void gatherTile(const program::Parameter &parameter, const MeshGrid &mesh, int64_t position,
                const void *local, void *global);

// The position that holds each distinct tile first: gathering these fills the global array.
std::vector<int64_t> firstReplicas(const program::Parameter &parameter, const MeshGrid &mesh);

} // namespace tessera::runtime
