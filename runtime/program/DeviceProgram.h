// One program of a file: what the devices of its mesh run.
#pragma once

#include "include/tessera/program.pb.h"
#include "runtime/array/Layout.h"
#include "runtime/program/Decoded.h"
#include <memory>
#include <string>
#include <vector>

namespace tessera::runtime {

class LoadedProgram;

// Lives as long as its file.
class DeviceProgram {
public:
  DeviceProgram(const LoadedProgram &file, uint32_t index, std::shared_ptr<const MeshGrid> mesh)
      : file_(file), index_(index), mesh_(std::move(mesh)) {}

  const LoadedProgram &file() const { return file_; }
  uint32_t index() const { return index_; } // in the file
  const program::Program &manifest() const;
  const MeshGrid &mesh() const { return *mesh_; }
  const std::shared_ptr<const MeshGrid> &sharedMesh() const { return mesh_; }
  const Decoded &decoded() const { return decoded_; }
  const std::vector<KernelEntry> &kernels() const; // of the file
  const char *constants() const { return constants_; }
  // The source location that an instruction carries, or "an unknown place".
  std::string location(uint32_t index) const;

private:
  friend class LoadedProgram;
  const LoadedProgram &file_;
  uint32_t index_;
  std::shared_ptr<const MeshGrid> mesh_;
  Decoded decoded_;
  const char *constants_ = nullptr;
};

} // namespace tessera::runtime
