// Collectives of devices that have a GPU each, by NCCL: messages from buffer to buffer, and kernels of our
// own that reduce them, so that the bits are those of any other communicator (DeviceExchange.h). All of
// it is commands of a stream beside the device's own.
//
// A process may have any number of the devices. Those of a collective's group that are here meet, and are
// given together (StartOrder.h). Processes find each other over their transport, which also knows when one
// is gone: a peer that is dead is named as without NCCL, and what waits for it is aborted. Where all devices
// are in one process there is none.
#pragma once

#include "runtime/comm/exchange/Transport.h"
#include "runtime/comm/nccl/DeviceExchange.h"
#include "runtime/comm/nccl/NcclLibrary.h"
#include "runtime/comm/nccl/StartOrder.h"
#include "runtime/comm/nccl/UnderWay.h"
#include "runtime/comm/virtual/StreamEvents.h"
#include "runtime/comm/virtual/TableVersions.h"
#include "runtime/device/Communicator.h"
#include "runtime/device/cuda/StreamCommunicator.h"
#include "runtime/pool/Run.h"
#include "runtime/program/DeviceProgram.h"

namespace tessera::runtime {

class NcclCommunicator final : public Communicator, public device::StreamCommunicator {
public:
  // A device of this process that runs the program.
  struct Here {
    uint32_t position;
    std::shared_ptr<device::CudaBackend> backend;
  };
  // Fails where the library is not there, or the program has what it does not carry. `transport`: null
  // where all devices are here.
  static Result<std::unique_ptr<NcclCommunicator>>
  make(const std::vector<Here> &here, const DeviceProgram &program, Run &run, Transport *transport);
  ~NcclCommunicator() override;

  // All processes call it, once they have agreed on what to run. `arenas`: of each device here what lasts
  // as long as this.
  Status connect(std::vector<std::shared_ptr<device::Memory>> arenas);

  bool inPlace() const override { return false; }
  Status start(Worker &worker, uint32_t position, const CollectivePlan &plan,
               const device::Address *buffers) override;
  // Done: the collective is given, and the device's stream waits for it.
  device::Outcome wait(Worker &worker, Task &task, uint32_t position, uint32_t site) override;
  void wakeAll() override;
  std::string describeWait(uint32_t position, uint32_t site) const override;
  void reset() override;
  void announceFailure(const std::string &text) override {
    if (transport_)
      transport_->announce(text);
  }

  void begin() override { ++step_; }
  Status come(uint32_t position, uint32_t site, device::cuda::Gathering &gathering,
              uint64_t lane) override;
  Status follow(uint32_t position, uint32_t site, device::cuda::Gathering &gathering,
                uint64_t lane) override;
  bool waits(uint32_t position) override;
  Status health() override;

private:
  // A device of this process.
  struct Rank {
    explicit Rank(const Here &here)
        : position(here.position), backend(here.backend), ready(*backend), done(*backend) {}
    const uint32_t position;
    const std::shared_ptr<device::CudaBackend> backend;
    nccl::Comm comm = nullptr;
    bool isAborted = false;
    void *registered = nullptr;
    device::cuda::Stream stream = nullptr;
    StreamEvents ready, done; // by site
    std::shared_ptr<device::Memory> arena, staging;
    std::map<std::pair<const CollectivePlan *, uint32_t>, std::unique_ptr<TableVersions>> tables;
    UnderWay underWay{*backend};
  };
  // What a rank does in a collective.
  struct Turn {
    Rank *rank;
    std::vector<uint64_t> buffers;
    std::vector<DeviceStage> stages;
  };

  NcclCommunicator(const nccl::Library &library, const std::vector<Here> &here,
                   const DeviceProgram &program, Run &run, Transport *transport);
  Status open(Rank &rank);
  size_t indexOf(uint32_t position) const;
  std::vector<size_t> membersOf(const StartOrder::Start &start) const;
  Status exchangeId(nccl::UniqueId &id);
  Status join();
  Status greet();
  Status give(StartOrder::Ready ready);
  Status give(const CollectivePlan &plan, std::vector<Turn> &turns);
  Status launch(Rank &rank, const CollectivePlan &plan, uint32_t table,
                const std::vector<uint64_t> &buffers,
                const std::vector<device::cuda::MovePart> &parts, bool reduces,
                const std::vector<device::cuda::Fill> &zeros);
  Status exchange(const CollectivePlan &plan, const std::vector<Turn> &turns, size_t stage);
  bool waitsForOthers(const Rank &rank) const;
  void reportProgress();
  enum class Those { InCollectives, All };
  void abort(Those those);
  std::string oldest() const;

  const nccl::Library &library_;
  const DeviceProgram &program_;
  Run &run_;
  Transport *const transport_;
  mutable std::mutex mutex_; // of all that follows
  std::vector<std::unique_ptr<Rank>> ranks_;
  StartOrder order_;
  Task *waiting_ = nullptr; // for starts of others here
  bool aborted_ = false;    // all, or some of them
  uint64_t step_ = 0;
};

} // namespace tessera::runtime
