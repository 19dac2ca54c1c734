// A program made ready for the devices of a client. Immutable: any number of threads prepare calls
// of it.
#pragma once

#include "runtime/client/Client.h"
#include "runtime/program/LoadedProgram.h"
#include <memory>
#include <vector>

namespace tessera::runtime {

// Where a parameter's tiles lie.
inline device::Space spaceOf(const program::Parameter &parameter) {
  return parameter.memory() == program::HOST_MEMORY ? device::Space::Host : device::Space::Device;
}

class Executable {
public:
  // Fails when the client's processes are not as many as the program's devices, or when its devices
  // can't have the memory that the program needs.
  static Result<std::shared_ptr<const Executable>>
  make(std::shared_ptr<Client> client, std::shared_ptr<const LoadedProgram> program);

  const std::shared_ptr<Client> &client() const { return client_; }
  const std::shared_ptr<const LoadedProgram> &shared() const { return program_; }
  const LoadedProgram &program() const { return *program_; }
  // A device of this process.
  struct Device {
    const DeviceProgram *program;
    uint32_t position; // on the program's mesh
    device::Backend *backend;
    std::shared_ptr<device::Memory> constants;
    // Its kernels there; null where they are the host's functions.
    std::shared_ptr<const device::KernelCode> code;
  };
  // Those of a program follow each other, in the order of their positions.
  const std::vector<Device> &devices() const { return devices_; }
  struct Range {
    size_t begin = 0, end = 0;
  };
  // Those of a program: what holds tiles of its parameters.
  Range devicesOf(const DeviceProgram &program) const { return ranges_[program.index()]; }
  // The process that has a device of the program: 0 without others.
  int32_t processOf(int64_t device) const;
  // Memory for a tile of `bytes` on each device of a range; empty where there is none.
  std::vector<std::shared_ptr<device::Memory>> allocateTiles(Range range, device::Space space,
                                                             size_t bytes) const;
  // Whether a step takes the input over: it is donated, or an output has its buffer.
  bool takes(size_t input) const { return takes_[input]; }

private:
  Executable() = default;
  std::shared_ptr<Client> client_;
  std::shared_ptr<const LoadedProgram> program_;
  Status listDevices();
  Status checkProcesses() const;
  Status loadCode();

  std::vector<Device> devices_;
  std::vector<Range> ranges_; // by program
  std::vector<bool> takes_;
};

} // namespace tessera::runtime
