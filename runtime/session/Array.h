// An array that lives on the devices: one tile a device.
#pragma once

#include "runtime/array/Placement.h"
#include "runtime/client/Call.h"
#include <memory>

namespace tessera::runtime {

// Values are not changed once made; a run that takes the tiles over leaves the array invalid.
struct Array {
  Array(std::shared_ptr<const LoadedProgram> file, const LoadedProgram::Place &place,
        uint64_t number);

  std::shared_ptr<const LoadedProgram> file;
  const DeviceProgram &program; // of the file: on its mesh the array lies
  // Type, global shape, layout; the name is the one it was made for. Of `program`.
  const program::Parameter &parameter;
  Tiles tiles; // by device of this process that runs the program; empty when invalid
  bool valid = true;
  const uint64_t number;   // of those that its session made: the same on all ranks
  const uint64_t identity; // of all arrays of this process

  const MeshGrid &mesh() const { return program.mesh(); }
  // Gives the tiles away: to a step that takes the array over.
  Tiles take() {
    valid = false;
    return std::move(tiles);
  }
};

} // namespace tessera::runtime
