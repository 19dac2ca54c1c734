// The tables of a collective's kernel (MoveTable.h) on the GPU. With other addresses it is another
// table: the old one may still be read by a kernel that has not run, and its copy on the host by the
// copy to the GPU. So a version is written over only in a later step than its last kernel, and never
// while a graph has such a kernel.
#pragma once

#include "runtime/device/cuda/Command.h"
#include "runtime/device/cuda/CudaBackend.h"
#include "runtime/device/cuda/MoveTable.h"

namespace tessera::runtime {

// Not thread-safe.
class TableVersions {
public:
  // What a stream is given to move the bytes.
  struct Moves {
    std::vector<device::cuda::Command> commands;
    std::shared_ptr<const void> held; // that they need
  };

  explicit TableVersions(device::CudaBackend &backend) : backend_(backend) {}

  // Between these buffers, by the table that `make` makes of them, which is copied first where it is
  // new: of a reduction of the plan, or copies. `step`: the number of the one that is executed.
  Result<Moves> of(const std::vector<uint64_t> &buffers,
                   const std::function<device::cuda::MoveTable()> &make,
                   const CollectivePlan *reduction, uint64_t step);

private:
  struct Version {
    std::vector<uint64_t> buffers;
    device::cuda::MoveTable table;
    std::shared_ptr<device::Memory> onHost, onDevice;
    uint64_t step = 0; // the last that used it
  };
  std::shared_ptr<Version> &free(uint64_t step);
  Status write(Version &version);

  device::CudaBackend &backend_;
  std::vector<std::shared_ptr<Version>> known_; // oldest first
};

} // namespace tessera::runtime
