// Channels between logical devices of one GPU: what is sent is copied on a stream of the device that
// sends it, after both ends have come so far.
#pragma once

#include "runtime/comm/local/LocalChannels.h"
#include "runtime/comm/virtual/StreamEvents.h"
#include "runtime/device/cuda/Gathering.h"
#include <set>

namespace tessera::runtime {

class VirtualChannels final : public LocalChannels {
public:
  VirtualChannels(std::shared_ptr<device::CudaBackend> backend, const LoadedProgram &file,
                  Run &run);
  ~VirtualChannels() override;

  void reset() override;
  // Of all programs.
  const std::shared_ptr<device::cuda::Gathering> &gathering() const { return gathering_; }
  // As of StreamCommunicator.
  Status come(const DeviceProgram &program, uint32_t position, uint32_t site, uint64_t lane);
  Status follow(const DeviceProgram &program, uint32_t position, uint32_t site, uint64_t lane);

protected:
  Status carry(const Place &from, const Place &to, const void *source, void *target,
               uint64_t bytes) override;

private:
  // A device's number among all of the file's.
  uint32_t deviceOf(const DeviceProgram &program, uint32_t position) const {
    return static_cast<uint32_t>(program.mesh().deviceAt(position));
  }

  const std::shared_ptr<device::CudaBackend> backend_;
  Run &run_;
  const device::cuda::Driver &driver_;
  const std::shared_ptr<device::cuda::Gathering> gathering_;
  StreamEvents ready_, done_;                        // by site and device
  std::mutex mutex_;                                 // of what follows
  std::map<uint32_t, device::cuda::Stream> streams_; // by device that sends
  std::set<uint64_t> lanes_;                         // that are open
};

} // namespace tessera::runtime
