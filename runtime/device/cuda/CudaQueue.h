// The commands of a logical device on a GPU: streams for what it computes and for copies beside that.
//
//   compute   launch launch .. | fork     launch .. launch    | land   launch ..
//   copies                       | fork   copy     land
//
// Commands that follow each other are gathered, and given together (Segment.h). The issuer is parked
// where it needs to know that the stream has come so far: a timer asks the driver.
#pragma once

#include "runtime/device/Queue.h"
#include "runtime/device/cuda/CudaCode.h"
#include "runtime/device/cuda/Segment.h"
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
    cuda::EventHandle fork = nullptr, landed = nullptr;
  };

  bool enter();
  Outcome add(const cuda::Command &command);
  // What was gathered is in the stream.
  Outcome flush();
  Outcome refused(uint32_t tag, cuda::ResultCode code, const char *what);
  Outcome giveEach();
  cuda::ResultCode copyIn(cuda::Stream stream, Address from, Address to, uint64_t bytes);
  // Done once all commands so far are carried out; else the issuer is parked until then.
  Outcome catchUp(uint32_t tag);
  Outcome arrived(uint32_t tag);
  void ask();

  const std::shared_ptr<CudaBackend> backend_;
  const cuda::Driver &driver_;
  const Lane lane_;
  const CudaCode *code_;
  StreamCommunicator *const streams_; // null: the communicator is the host's
  Status broken_;                     // why there is no stream
  cuda::Stream stream_ = nullptr, copies_ = nullptr;
  cuda::EventHandle event_ = nullptr;
  std::shared_ptr<Memory> value_;   // pinned: what is read
  std::shared_ptr<Memory> scratch_; // of kernels that the arena has none for; null: there are none
  std::map<uint32_t, Beside> beside_;
  cuda::Segment segment_; // gathered
  cuda::Graphs graphs_;

  bool arrived_ = false; // the stream, where the issuer waited for it
  cuda::ResultCode result_ = cuda::kSuccess;
  uint32_t firstTag_ = 0, given_ = 0; // of the commands since the last catchUp
  Timer timer_ = {};
  int64_t pause_ = 0; // until the driver is asked again
};

} // namespace tessera::runtime::device
