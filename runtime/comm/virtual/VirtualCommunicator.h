// Collectives among logical devices of one GPU, each with streams and memory of its own: a kernel
// moves the bytes, between the buffers where they are. Nothing comes to the host, and the host waits
// for nothing but that all ranks have given their start.
//
// They meet as ranks on cores do (LocalCommunicator). The last to come has a stream of the group wait
// for the operands of all, launches the kernel, and records that it is done: what each rank computes
// behind its wait comes after that.
#pragma once

#include "runtime/comm/local/LocalCommunicator.h"
#include "runtime/comm/virtual/StreamEvents.h"
#include "runtime/comm/virtual/TableVersions.h"
#include "runtime/device/cuda/StreamCommunicator.h"

namespace tessera::runtime {

class VirtualChannels;

class VirtualCommunicator final : public LocalCommunicator, public device::StreamCommunicator {
public:
  VirtualCommunicator(std::shared_ptr<device::CudaBackend> backend, const DeviceProgram &program,
                      Run &run, std::shared_ptr<const Links> links,
                      std::shared_ptr<VirtualChannels> channels);
  ~VirtualCommunicator() override;

  void reset() override;
  Status come(uint32_t position, uint32_t site, device::cuda::Stream stream) override;
  Status follow(uint32_t position, uint32_t site, device::cuda::Stream stream) override;

protected:
  bool coresMove() const override { return false; }
  Status move(Worker &worker, size_t number, uint32_t group, const Arrival *arrivals) override;

private:
  bool isOfChannel(uint32_t site) const { return site >= program().decoded().sites; }
  Status launch(size_t number, uint32_t group, const Arrival *arrivals,
                device::cuda::Stream stream);
  device::cuda::Stream streamOf(uint32_t position);

  const std::shared_ptr<device::CudaBackend> backend_;
  const device::cuda::Driver &driver_;
  VirtualChannels *const channels_;
  StreamEvents ready_, done_;                 // by site and position; by site and group
  std::mutex mutex_;                          // of what follows
  std::vector<device::cuda::Stream> streams_; // by position: of groups whose first rank it is
  std::map<std::pair<uint32_t, uint32_t>, std::unique_ptr<TableVersions>>
      tables_; // by site and group
};

} // namespace tessera::runtime
