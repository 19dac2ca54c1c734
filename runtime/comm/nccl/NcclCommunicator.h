// Collectives of one GPU a process, by NCCL: messages from buffer to buffer, and kernels of our own
// that reduce them, so that the bits are those of any other communicator (DeviceExchange.h). All of
// it is commands of a stream beside the device's own.
//
// The ranks find each other over the processes' transport, which also knows when one is gone: a peer
// that is dead is named as without NCCL, and what waits for it is aborted.
#pragma once

#include "runtime/comm/exchange/Transport.h"
#include "runtime/comm/nccl/DeviceExchange.h"
#include "runtime/comm/nccl/NcclLibrary.h"
#include "runtime/comm/virtual/StreamEvents.h"
#include "runtime/comm/virtual/TableVersions.h"
#include "runtime/device/Communicator.h"
#include "runtime/device/cuda/StreamCommunicator.h"
#include "runtime/pool/Run.h"
#include "runtime/program/DeviceProgram.h"
#include <deque>

namespace tessera::runtime {

class NcclCommunicator final : public Communicator, public device::StreamCommunicator {
public:
  // Fails where the library is not there, or the program has what it does not carry.
  static Result<std::unique_ptr<NcclCommunicator>>
  make(std::shared_ptr<device::CudaBackend> backend, const DeviceProgram &program, Run &run,
       Transport &transport);
  ~NcclCommunicator() override;

  // All ranks call it, once they have agreed on what to run. `arena`: what lasts as long as this.
  Status connect(std::shared_ptr<device::Memory> arena);

  bool inPlace() const override { return false; }
  Status start(Worker &worker, uint32_t position, const CollectivePlan &plan,
               const device::Address *buffers) override;
  // At once: the device's stream waits.
  device::Outcome wait(Worker &, Task &, uint32_t, uint32_t) override {
    return run_.failed() ? device::Outcome::Failed : device::Outcome::Done;
  }
  void wakeAll() override {}
  std::string describeWait(uint32_t position, uint32_t site) const override;
  void reset() override;
  void announceFailure(const std::string &text) override { transport_.announce(text); }

  void begin() override { ++step_; }
  Status come(uint32_t position, uint32_t site, device::cuda::Gathering &gathering,
              uint64_t lane) override;
  Status follow(uint32_t position, uint32_t site, device::cuda::Gathering &gathering,
                uint64_t lane) override;
  Status health() override;

private:
  NcclCommunicator(const nccl::Library &library, std::shared_ptr<device::CudaBackend> backend,
                   const DeviceProgram &program, Run &run, Transport &transport);
  Status exchangeId(nccl::UniqueId &id);
  Status initialize(const nccl::UniqueId &id);
  Status give(const CollectivePlan &plan, const std::vector<uint64_t> &buffers);
  Status give(const CollectivePlan &plan, const DeviceStage &stage, uint32_t number,
              const std::vector<uint64_t> &buffers);
  Status launch(const CollectivePlan &plan, uint32_t table, const std::vector<uint64_t> &buffers,
                const std::vector<device::cuda::MovePart> &parts, bool reduces,
                const std::vector<device::cuda::Fill> &zeros);
  Status exchange(const CollectivePlan &plan, const DeviceStage &stage);
  void abort();
  std::string oldest();

  const nccl::Library &library_;
  const std::shared_ptr<device::CudaBackend> backend_;
  const device::cuda::Driver &driver_;
  const DeviceProgram &program_;
  Run &run_;
  Transport &transport_;
  uint32_t position_ = 0;
  std::mutex mutex_; // of the connection, and of what is under way
  nccl::Comm comm_ = nullptr;
  bool aborted_ = false;
  void *registered_ = nullptr;
  device::cuda::Stream stream_ = nullptr;
  StreamEvents ready_, done_; // by site
  std::shared_ptr<device::Memory> arena_, staging_;
  uint64_t step_ = 0;
  std::map<std::pair<const CollectivePlan *, uint32_t>, std::unique_ptr<TableVersions>> tables_;
  std::deque<const CollectivePlan *> underWay_; // oldest first
  const CollectivePlan *last_ = nullptr;        // that was started
};

} // namespace tessera::runtime
