// The commands of a logical device on a GPU: a stream. The issuer is parked where it needs to know
// that the stream has come so far: a timer asks the driver.
//
// Collectives are the communicator's, between the hosts' views: operands are copied to pinned memory
// before one starts, results from there after it.
#pragma once

#include "runtime/device/Queue.h"
#include "runtime/device/cuda/CudaBackend.h"

namespace tessera::runtime::device {

class CudaQueue final : public Queue {
public:
  CudaQueue(std::shared_ptr<CudaBackend> backend, const Lane &lane);
  ~CudaQueue() override;

  // Kernels have their scratch on their stacks.
  Outcome launch(Worker &worker, uint32_t tag, const KernelEntry &kernel, const Address *buffers,
                 bool hasScratch) override;
  Outcome copy(Worker &worker, uint32_t tag, Address from, Address to, uint64_t bytes) override;
  Outcome startCopy(Worker &worker, uint32_t tag, uint32_t number, Address from, Address to,
                    uint64_t bytes) override;
  Outcome land(Worker &, uint32_t, uint32_t) override { return Outcome::Done; }
  Outcome write(Worker &worker, uint32_t tag, int32_t value, Address to) override;
  Outcome start(Worker &worker, uint32_t tag, const CollectivePlan &plan,
                const Address *buffers) override;
  Outcome wait(Worker &worker, uint32_t tag, uint32_t site) override;
  Outcome read(Worker &worker, uint32_t tag, Address from, uint32_t bytes,
               uint32_t &value) override;
  Outcome finish(Worker &worker) override;
  void reset() override;

private:
  // Of a collective: the arrays as the host has them.
  struct Staged {
    const CollectivePlan *plan = nullptr;
    const Address *buffers = nullptr; // the device's; none: nothing is under way
    std::shared_ptr<Memory> memory;
    std::vector<Address> host; // operands, then results
  };

  bool enter();
  Outcome given(uint32_t tag, cuda::ResultCode code, const char *what);
  // Done once all commands so far are carried out; else the issuer is parked until then.
  Outcome catchUp(uint32_t tag);
  Outcome arrived(uint32_t tag);
  void ask();
  Staged *stage(const CollectivePlan &plan);
  Outcome copyStaged(uint32_t tag, const Staged &staged, bool isToHost);

  const std::shared_ptr<CudaBackend> backend_;
  const cuda::Driver &driver_;
  const Lane lane_;
  const CudaCode *code_;
  Status broken_; // why there is no stream
  cuda::Stream stream_ = nullptr;
  cuda::EventHandle event_ = nullptr;
  std::shared_ptr<Memory> value_; // pinned: what is read

  bool arrived_ = false; // the stream, where the issuer waited for it
  cuda::ResultCode result_ = cuda::kSuccess;
  uint32_t firstTag_ = 0, given_ = 0; // of the commands since the last catchUp
  Timer timer_ = {};
  int64_t pause_ = 0;              // until the driver is asked again
  std::vector<Staged> staged_;     // by site
  std::vector<void *> parameters_; // of a launch: where its buffers' addresses are
};

} // namespace tessera::runtime::device
