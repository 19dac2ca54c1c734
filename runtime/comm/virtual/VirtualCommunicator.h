// Collectives among logical devices of one GPU, each with streams and memory of its own: a kernel
// moves the bytes, between the buffers where they are. Nothing comes to the host, and the host waits
// for nothing but that all ranks have given their start.
//
// They meet as ranks on cores do (LocalCommunicator). The last to come has a lane of the group wait for
// the operands of all, launch the kernel, and record that it is done: what each rank computes behind
// its wait comes after that. All of it is gathered with what the devices compute (Gathering.h).
#pragma once

#include "runtime/comm/local/LocalCommunicator.h"
#include "runtime/comm/virtual/StreamEvents.h"
#include "runtime/comm/virtual/TableVersions.h"
#include "runtime/device/cuda/StreamCommunicator.h"
#include <atomic>

namespace tessera::runtime {

class VirtualChannels;

class VirtualCommunicator final : public LocalCommunicator, public device::StreamCommunicator {
public:
  VirtualCommunicator(std::shared_ptr<device::CudaBackend> backend, const DeviceProgram &program,
                      Run &run, std::shared_ptr<const Links> links,
                      std::shared_ptr<VirtualChannels> channels);
  ~VirtualCommunicator() override;

  void reset() override;
  device::cuda::Gathering *gathering() override { return gathering_.get(); }
  uint32_t deviceOf(uint32_t position) const override {
    return static_cast<uint32_t>(program().mesh().deviceAt(position));
  }
  void begin() override { ++step_; }
  Status come(uint32_t position, uint32_t site, device::cuda::Gathering &gathering,
              uint64_t lane) override;
  Status follow(uint32_t position, uint32_t site, device::cuda::Gathering &gathering,
                uint64_t lane) override;

protected:
  bool coresMove() const override { return false; }
  Status move(Worker &worker, size_t number, uint32_t group, const Arrival *arrivals) override;

private:
  // What moves the bytes of a site for a group.
  struct Moves {
    uint64_t lane = 0;
    TableVersions tables;
  };
  bool isOfChannel(uint32_t site) const { return site >= program().decoded().sites; }
  Status ofCollective(const CollectivePlan &plan, const Status &status) const;
  Result<Moves *> movesOf(size_t number, uint32_t group);
  Status give(size_t number, uint32_t group, const Arrival *arrivals);

  const std::shared_ptr<device::CudaBackend> backend_;
  const device::cuda::Driver &driver_;
  VirtualChannels *const channels_;
  Run &run_;
  const std::shared_ptr<device::cuda::Gathering> gathering_;
  StreamEvents ready_, done_; // by site and position; by site and group
  std::atomic<uint64_t> step_{0};
  std::mutex mutex_;                          // of what follows
  std::vector<device::cuda::Stream> streams_; // by position: of groups whose first rank it is
  std::map<std::pair<uint32_t, uint32_t>, std::unique_ptr<Moves>> moves_; // by site and group
};

} // namespace tessera::runtime
