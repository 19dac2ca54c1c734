// A program made ready for the devices of a client. Immutable: any number of threads prepare calls
// of it.
#pragma once

#include "runtime/client/Client.h"
#include "runtime/program/LoadedProgram.h"
#include <memory>
#include <vector>

namespace tessera::runtime {

class Executable {
public:
  // Fails when the client's processes are not as many as the program's devices, or when its devices
  // can't have the memory that the program needs.
  static Result<std::shared_ptr<const Executable>>
  make(std::shared_ptr<Client> client, std::shared_ptr<const LoadedProgram> program);

  const std::shared_ptr<Client> &client() const { return client_; }
  const std::shared_ptr<const LoadedProgram> &shared() const { return program_; }
  const LoadedProgram &program() const { return *program_; }
  // The devices of this process, by position on the mesh.
  const std::vector<uint32_t> &positions() const { return positions_; }
  const std::shared_ptr<device::Memory> &constants() const { return constants_; }
  // Whether a step takes the input over: it is donated, or an output has its buffer.
  bool takes(size_t input) const { return takes_[input]; }

private:
  Executable() = default;

  std::shared_ptr<Client> client_;
  std::shared_ptr<const LoadedProgram> program_;
  std::vector<uint32_t> positions_;
  std::shared_ptr<device::Memory> constants_;
  std::vector<bool> takes_;
};

} // namespace tessera::runtime
