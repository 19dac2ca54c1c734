// Commands of the cpu are carried out as they come, in the interpreter's own task.
#pragma once

#include "runtime/device/Queue.h"
#include "runtime/device/cpu/Launch.h"
#include <cstring>

namespace tessera::runtime::device {

// Final, and all of it here: the interpreter's loop for it has a dispatch as one indirect call.
class CpuQueue final : public Queue {
public:
  explicit CpuQueue(const Lane &lane) : lane_(lane) {}

  // The issuer is on this worker from now on. Failed: the worker has no memory for scratch.
  Outcome enter(Worker &worker) {
    scratch_ = worker.scratch(lane_.scratchBytes);
    if (scratch_ || !lane_.scratchBytes)
      return Outcome::Done;
    lane_.run.fail({Code::ResourceExhausted,
                    "no memory for " + std::to_string(lane_.scratchBytes) + " bytes of scratch"});
    return Outcome::Failed;
  }

  Outcome launch(Worker &worker, uint32_t tag, const KernelEntry &kernel, const Address *buffers,
                 bool hasScratch) override {
    void *const *pointers = pointersOf(buffers);
    void *scratch = hasScratch ? pointers[kernel.operands] : scratch_;
    if (int32_t code =
            launchKernel(worker, lane_.run, kernel, pointers, scratch,
                         hasScratch ? kernel.scratchBytes : lane_.scratchBytes, hasScratch)) {
      lane_.issuer.kernelFailed(tag, code);
      return Outcome::Failed;
    }
    return Outcome::Done;
  }
  Outcome copy(Worker &, uint32_t, Address from, Address to, uint64_t bytes) override {
    std::memmove(to.bits(), from.bits(), bytes);
    return Outcome::Done;
  }
  Outcome startCopy(Worker &worker, uint32_t tag, uint32_t, Address from, Address to,
                    uint64_t bytes) override {
    return copy(worker, tag, from, to, bytes);
  }
  Outcome land(Worker &, uint32_t, uint32_t) override { return Outcome::Done; }
  Outcome write(Worker &, uint32_t, int32_t value, Address to) override {
    std::memcpy(to.bits(), &value, sizeof value);
    return Outcome::Done;
  }
  Outcome start(Worker &worker, uint32_t, const CollectivePlan &plan,
                const Address *buffers) override {
    Status status = lane_.communicator.start(worker, lane_.position, plan, buffers);
    if (status.ok())
      return Outcome::Done;
    lane_.run.fail(std::move(status));
    return Outcome::Failed;
  }
  Outcome wait(Worker &worker, uint32_t, uint32_t site) override {
    return lane_.communicator.wait(worker, lane_.issuer, lane_.position, site);
  }
  Outcome read(Worker &, uint32_t, Address from, uint32_t bytes, uint32_t &value) override {
    if (bytes == 1)
      value = *static_cast<const uint8_t *>(from.bits());
    else
      std::memcpy(&value, from.bits(), sizeof value);
    return Outcome::Done;
  }
  Outcome finish(Worker &) override { return Outcome::Done; }

private:
  const Lane lane_;
  void *scratch_ = nullptr; // of the worker that the issuer is on
};

} // namespace tessera::runtime::device
