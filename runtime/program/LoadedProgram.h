// A program that has been checked and is ready to run: what a .tsr file becomes.
#pragma once

#include "include/tessera/program.pb.h"
#include "runtime/Status.h"
#include "runtime/array/Layout.h"
#include "runtime/program/Decoded.h"
#include "runtime/program/SharedObject.h"
#include <memory>
#include <string>
#include <string_view>

namespace tessera::runtime {

// Immutable; shared by the sessions that run it.
class LoadedProgram {
public:
  // Checks everything before any code is opened. `owner` keeps `file` alive. Kernels are looked up
  // by `symbols` when given (tests link theirs in), in the code section otherwise.
  static Result<std::shared_ptr<const LoadedProgram>> load(std::string_view file,
                                                           std::shared_ptr<const void> owner,
                                                           const SymbolResolver &symbols = nullptr);
  // With a `digest`, no other file than the one with this SHA-256 is opened.
  static Result<std::shared_ptr<const LoadedProgram>> loadFile(const std::string &path,
                                                               std::string_view digest = {});

  const program::Program &manifest() const { return manifest_; }
  const MeshGrid &mesh() const { return *mesh_; }
  const std::shared_ptr<const MeshGrid> &sharedMesh() const { return mesh_; }
  const Decoded &decoded() const { return decoded_; }
  const char *constants() const { return constants_; }
  // Of every byte of the file, by the checksums in it: whether two ranks have the same program.
  uint64_t fingerprint() const { return fingerprint_; }
  // The source location that an instruction carries, or "an unknown place".
  std::string location(uint32_t index) const;

private:
  LoadedProgram() = default;

  program::Program manifest_;
  std::shared_ptr<const MeshGrid> mesh_;
  Decoded decoded_;
  std::shared_ptr<SharedObject> code_;
  std::shared_ptr<const void> owner_; // of the constants
  const char *constants_ = nullptr;
  uint64_t fingerprint_ = 0;
};

} // namespace tessera::runtime
