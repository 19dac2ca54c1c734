// Kernels of a program for GPUs that the host computes, between two copies (docs/linear-algebra.md).
#include "runtime/device/cpu/Launch.h"
#include "runtime/device/cuda/CudaQueue.h"

namespace tessera::runtime::device {

using cuda::Command;
using For = cuda::Gathering::For;

// Operands lie one after the other in the memory that they are staged in.
static uint64_t placeBehind(uint64_t bytes) { return (bytes + 63) / 64 * 64; }

// Also makes room for the results. The place is one for all such kernels: a later one's operands come after
// an earlier one's results have gone, in the stream.
Outcome CudaQueue::fetchOperands(uint32_t tag, const KernelEntry::Library &library,
                                 const Address *buffers) {
  size_t needed = 0;
  for (uint64_t bytes : library.operandBytes)
    needed += placeBehind(bytes);
  if (needed > stagedBytes_) {
    staged_ = backend_->allocate(Space::Host, needed);
    stagedBytes_ = staged_ ? needed : 0;
    if (!staged_) {
      lane_.issuer.commandFailed(
          tag, {Code::ResourceExhausted, "no pinned memory on the host for its operands (" +
                                             std::to_string(needed) + " bytes)"});
      return Outcome::Failed;
    }
  }
  cuda::Pointer to = staged_->address().number();
  for (size_t i = 0; i < library.inputs; ++i) {
    uint64_t bytes = library.operandBytes[i];
    Command copy{
        .kind = Command::Copy, .tag = tag, .from = buffers[i].number(), .to = to, .bytes = bytes};
    if (bytes)
      gathering_->add(compute_, copy, nullptr, staged_);
    to += placeBehind(bytes);
  }
  return catchUp(tag, For::Value);
}

// Its operands come to the host, which all its cores may compute it on, and its results go back.
Outcome CudaQueue::launchOnHost(Worker &worker, uint32_t tag, const KernelEntry &kernel,
                                const Address *buffers) {
  const KernelEntry::Library &library = *kernel.library;
  Outcome outcome = Outcome::Done;
  if (waiting_.hasArrived)
    outcome = arrived(tag);
  else if (!enter())
    outcome = Outcome::Failed;
  else
    outcome = fetchOperands(tag, library, buffers);
  if (outcome != Outcome::Done)
    return outcome;
  std::vector<void *> places;
  cuda::Pointer next = staged_->address().number();
  for (uint64_t bytes : library.operandBytes) {
    places.push_back(reinterpret_cast<void *>(next));
    next += placeBehind(bytes);
  }
  int64_t begin = Pool::now();
  int32_t code =
      launchShared(worker, lane_.run, kernel, places.data(), nullptr, library.scratchBytes);
  if (code == kGivenUp || lane_.run.failed())
    return Outcome::Failed;
  if (code) {
    lane_.issuer.kernelFailed(tag, code);
    return Outcome::Failed;
  }
  if (lane_.issuer.tracing)
    lane_.issuer.executed(tag, begin, Pool::now());
  backend_->enter();
  for (size_t i = library.inputs; i < places.size(); ++i) {
    if (library.operandBytes[i] == 0)
      continue;
    if (given_++ == 0)
      firstTag_ = tag;
    gathering_->add(compute_,
                    {.kind = Command::Copy,
                     .tag = tag,
                     .from = reinterpret_cast<cuda::Pointer>(places[i]),
                     .to = buffers[i].number(),
                     .bytes = library.operandBytes[i]},
                    nullptr, staged_);
  }
  return lane_.run.failed() ? Outcome::Failed : Outcome::Done;
}

} // namespace tessera::runtime::device
