// An array that lives on the devices: one tile a device.
#pragma once

#include "include/tessera/program.pb.h"
#include "runtime/array/Layout.h"
#include "runtime/device/Memory.h"
#include <memory>
#include <vector>

namespace tessera::runtime {

// Values are not changed once made; a run that takes the buffers over leaves the array invalid.
struct Array {
  program::Parameter parameter; // type, global shape, layout; the name is the one it was made for
  std::shared_ptr<const MeshGrid> mesh;               // that the layout speaks of
  std::vector<std::shared_ptr<device::Memory>> tiles; // by device here; null when invalid
  bool valid = true;
  uint64_t number = 0; // of those that its session made: the same on all ranks
};

// Same type and shape, and every device holds the same tile: an array of the one kind can be used
// as the other.
bool samePlacement(const program::Parameter &a, const MeshGrid &aMesh, const program::Parameter &b,
                   const MeshGrid &bMesh);
std::string describe(const program::Parameter &parameter); // "f32[8,16] in tiles [4,16]"

} // namespace tessera::runtime
