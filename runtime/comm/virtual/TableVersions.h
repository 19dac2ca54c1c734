// The tables of a collective's kernel (MoveTable.h) on the GPU. With other addresses it is another
// table: the old one may still be read by a kernel that has not run, and its copy on the host by the
// copy to the GPU. So a version is written over only when its last kernel is over.
#pragma once

#include "runtime/device/cuda/CudaBackend.h"
#include "runtime/device/cuda/MoveTable.h"

namespace tessera::runtime {

// Not thread-safe.
class TableVersions {
public:
  struct Version {
    device::cuda::MoveTable table;
    std::shared_ptr<device::Memory> onHost, onDevice;
    device::cuda::EventHandle used = nullptr; // the last kernel that reads it
  };

  explicit TableVersions(device::CudaBackend &backend) : backend_(backend) {}
  ~TableVersions();

  // The version for these buffers, which `make` makes; the stream copies it first where it is new.
  // Valid until the next call.
  Result<Version *> of(const std::vector<uint64_t> &buffers,
                       const std::function<device::cuda::MoveTable()> &make,
                       device::cuda::Stream stream);
  // Launches the kernel that reads it: of a reduction of the plan, or one that copies.
  Status launch(Version &version, const CollectivePlan *reduction, device::cuda::Stream stream);

private:
  struct Known {
    std::vector<uint64_t> buffers;
    Version version;
  };
  Known *free();
  Status write(Version &version, device::cuda::Stream stream);

  device::CudaBackend &backend_;
  std::vector<std::unique_ptr<Known>> known_;
};

} // namespace tessera::runtime
