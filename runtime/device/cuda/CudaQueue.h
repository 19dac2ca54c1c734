// The commands of a logical device on a GPU: streams for what it computes and for copies beside that.
//
//   compute   launch launch .. | fork     launch .. launch    | land   launch ..
//   copies                       | fork   copy     land
//
// They are gathered, with those of the other devices where these are on the same GPU (Gathering.h).
#pragma once

#include "runtime/device/Queue.h"
#include "runtime/device/cuda/CudaCode.h"
#include "runtime/device/cuda/StreamCommunicator.h"
#include <map>

namespace tessera::runtime::device {

class CudaQueue final : public Queue {
public:
  CudaQueue(std::shared_ptr<CudaBackend> backend, const Lane &lane);
  ~CudaQueue() override;

  // Generated kernels have their scratch on their stacks; those of a library take the arena's.
  Outcome launch(Worker &worker, uint32_t tag, const KernelEntry &kernel, const Address *buffers,
                 bool hasScratch) override;
  Outcome copy(Worker &worker, uint32_t tag, Address from, Address to, uint64_t bytes) override;
  Outcome startCopy(Worker &worker, uint32_t tag, uint32_t number, Address from, Address to,
                    uint64_t bytes) override;
  Outcome land(Worker &worker, uint32_t tag, uint32_t number) override;
  Outcome write(Worker &worker, uint32_t tag, int32_t value, Address to) override;
  Outcome start(Worker &worker, uint32_t tag, const CollectivePlan &plan,
                const Address *buffers) override;
  Outcome wait(Worker &worker, uint32_t tag, uint32_t site) override;
  Outcome read(Worker &worker, uint32_t tag, Address from, uint32_t bytes,
               uint32_t &value) override;
  Outcome finish(Worker &worker) override;
  void reset() override;

private:
  // Of a copy that goes on beside what follows.
  struct Beside {
    cuda::StreamEvent fork, landed;
  };

  Status open();
  bool enter();
  bool isWatched() const { return lane_.issuer.tracing || backend_->blocks(); }
  Outcome add(const cuda::Command &command, const cuda::Pointer *operands = nullptr);
  Outcome refused(uint32_t tag, cuda::ResultCode code, const char *what);
  cuda::ResultCode watch(uint32_t tag, cuda::Stream stream);
  Outcome copyByWay(uint64_t lane, uint32_t tag, Address from, Address to, uint64_t bytes);
  Outcome makeRoom();
  Outcome launchOnHost(Worker &worker, uint32_t tag, const KernelEntry &kernel,
                       const Address *buffers);
  Outcome fetchOperands(uint32_t tag, const KernelEntry::Library &library, const Address *buffers);
  // Done once all commands so far are carried out; else the issuer is parked until then.
  Outcome catchUp(uint32_t tag, cuda::Gathering::For what);
  Outcome arrived(uint32_t tag);

  const std::shared_ptr<CudaBackend> backend_;
  const cuda::Driver &driver_;
  const Lane lane_;
  const CudaCode *code_;
  StreamCommunicator *const streams_; // null: the communicator is the host's
  Patience::Waits waits_;
  std::unique_ptr<cuda::Gathering> own_;
  cuda::Gathering *gathering_;
  const uint64_t compute_, beside_; // lanes
  Status broken_;                   // why there are none
  cuda::Stream stream_ = nullptr, copies_ = nullptr;
  cuda::Marks watched_;
  std::shared_ptr<Memory> value_;   // pinned: what is read
  std::shared_ptr<Memory> scratch_; // of kernels that the arena has none for; null: there are none
  std::shared_ptr<Memory> staged_;  // pinned: operands of a kernel that the host computes
  size_t stagedBytes_ = 0;
  std::map<uint32_t, Beside> started_;
  cuda::Gathering::Member waiting_;
  uint32_t firstTag_ = 0, given_ = 0; // of the commands since the last catchUp
};

} // namespace tessera::runtime::device
