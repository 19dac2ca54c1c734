// A call whose inputs and outputs are buffers: what fits is checked when one is bound.
#pragma once

#include "runtime/client/Buffer.h"
#include "runtime/client/Call.h"

namespace tessera::runtime {

// One thread at a time, but for cancel.
class ShardedCall {
public:
  // `holds`: whether inputs that no step takes over are kept alive here, or by the caller.
  explicit ShardedCall(std::unique_ptr<Call> call, bool holds = true)
      : call_(std::move(call)), holds_(holds), pending_(call_->program().inputs().size()) {}

  Call &call() { return *call_; }

  // One buffer for each device of this process that runs the input's program, of the type and shape of the input's tiles. They stay
  // bound, and are held, until others are. An input that a step takes over takes its buffers here,
  // which are invalid then, and has to be bound again for the next step. Not while a step is being
  // executed.
  Status bind(size_t input, const std::vector<Buffer *> &tiles);

  // Starts a step, which begins when what is bound is ready. `outputs`: by output, then by device.
  Result<std::shared_ptr<device::Event>> start(std::vector<std::unique_ptr<Buffer>> &outputs);

private:
  Status check(size_t input, const std::vector<Buffer *> &tiles) const;

  std::unique_ptr<Call> call_;
  const bool holds_;
  std::vector<std::vector<std::shared_ptr<device::Event>>> pending_; // by input: not seen ready yet
};

} // namespace tessera::runtime
