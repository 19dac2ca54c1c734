#include "runtime/device/cuda/CudaQueue.h"
#include <cstring>

namespace tessera::runtime::device {

using cuda::kSuccess;

static constexpr int64_t kFirstPause = 4'000, kLongestPause = 200'000; // nanoseconds

CudaQueue::CudaQueue(std::shared_ptr<CudaBackend> backend, const Lane &lane)
    : backend_(std::move(backend)), driver_(backend_->driver()), lane_(lane),
      code_(static_cast<const CudaCode *>(lane.code)), staged_(lane.sites) {
  constexpr unsigned kNonBlocking = 1, kNoTiming = 2;
  backend_->enter();
  broken_ = driver_.status(driver_.cuStreamCreate(&stream_, kNonBlocking), "no stream");
  if (broken_.ok())
    broken_ = driver_.status(driver_.cuEventCreate(&event_, kNoTiming), "no event");
  value_ = backend_->allocate(Space::Host, sizeof(uint32_t));
  if (broken_.ok() && !value_)
    broken_ = {Code::ResourceExhausted, "no pinned memory on the host"};
  timer_.context = this;
  timer_.fire = [](Timer *timer) { static_cast<CudaQueue *>(timer->context)->ask(); };
}

CudaQueue::~CudaQueue() {
  backend_->enter();
  if (stream_)
    driver_.cuStreamSynchronize(stream_);
  if (event_)
    driver_.cuEventDestroy(event_);
  if (stream_)
    driver_.cuStreamDestroy(stream_);
}

// Whether commands can be given.
bool CudaQueue::enter() {
  if (lane_.run.failed())
    return false;
  if (!broken_.ok()) {
    lane_.run.fail(broken_);
    return false;
  }
  backend_->enter();
  return true;
}

// A command is in the stream, or the driver has refused it.
Outcome CudaQueue::given(uint32_t tag, cuda::ResultCode code, const char *what) {
  if (given_++ == 0)
    firstTag_ = tag;
  if (code == kSuccess && lane_.issuer.tracing) { // one after the other, so that each has its time
    int64_t begin = Pool::now();
    code = driver_.cuStreamSynchronize(stream_);
    if (code == kSuccess)
      lane_.issuer.executed(tag, begin, Pool::now());
  }
  if (code == kSuccess)
    return Outcome::Done;
  lane_.issuer.commandFailed(tag, driver_.status(code, what));
  return Outcome::Failed;
}

Outcome CudaQueue::launch(Worker &, uint32_t tag, const KernelEntry &kernel, const Address *buffers,
                          bool) {
  if (!enter())
    return Outcome::Failed;
  parameters_.resize(kernel.operands);
  for (uint32_t i = 0; i < kernel.operands; ++i)
    parameters_[i] = const_cast<Address *>(&buffers[i]);
  return given(tag,
               driver_.cuLaunchKernel(code_->functions[kernel.number], kernel.grid, 1, 1,
                                      kernel.threads, 1, 1, 0, stream_, parameters_.data(),
                                      nullptr),
               "a kernel cannot be launched");
}

Outcome CudaQueue::copy(Worker &, uint32_t tag, Address from, Address to, uint64_t bytes) {
  if (!enter())
    return Outcome::Failed;
  if (bytes == 0 || from == to)
    return Outcome::Done;
  uint64_t apart =
      from.number() < to.number() ? to.number() - from.number() : from.number() - to.number();
  if (apart >= bytes)
    return given(tag, driver_.cuMemcpyAsync(to.number(), from.number(), bytes, stream_),
                 "a copy cannot be started");
  // By way of another place, as copies of the driver's must not overlap.
  auto between = backend_->allocate(Space::Device, bytes);
  cuda::ResultCode code = between ? kSuccess : cuda::kOutOfMemory;
  if (code == kSuccess)
    code = driver_.cuMemcpyAsync(between->address().number(), from.number(), bytes, stream_);
  if (code == kSuccess)
    code = driver_.cuMemcpyAsync(to.number(), between->address().number(), bytes, stream_);
  if (code == kSuccess)
    code = driver_.cuStreamSynchronize(stream_); // until then the place stays
  return given(tag, code, "a copy cannot be started");
}

// In its turn: copies are not yet beside what follows.
Outcome CudaQueue::startCopy(Worker &worker, uint32_t tag, uint32_t, Address from, Address to,
                             uint64_t bytes) {
  return copy(worker, tag, from, to, bytes);
}

Outcome CudaQueue::write(Worker &, uint32_t tag, int32_t value, Address to) {
  if (!enter())
    return Outcome::Failed;
  return given(tag, driver_.cuMemsetD32Async(to.number(), static_cast<unsigned>(value), 1, stream_),
               "a value cannot be written");
}

Outcome CudaQueue::catchUp(uint32_t tag) {
  result_ = driver_.cuEventRecord(event_, stream_);
  if (result_ == kSuccess)
    result_ = driver_.cuEventQuery(event_);
  if (result_ != cuda::kNotReady)
    return arrived(tag);
  pause_ = kFirstPause;
  lane_.run.hold();
  timer_.deadline = Pool::now() + pause_;
  backend_->pool().add(&timer_);
  return Outcome::Parked;
}

// Of a timer's turn.
void CudaQueue::ask() {
  backend_->enter();
  result_ = driver_.cuEventQuery(event_);
  if (result_ == cuda::kNotReady) {
    pause_ = std::min(2 * pause_, kLongestPause);
    timer_.deadline = Pool::now() + pause_;
    backend_->pool().add(&timer_);
    return;
  }
  arrived_ = true;
  Run &run = lane_.run; // once the issuer is awake, this may be gone
  run.wake(&lane_.issuer);
  run.retire();
}

Outcome CudaQueue::arrived(uint32_t tag) {
  arrived_ = false;
  uint32_t first = given_ ? firstTag_ : tag, given = given_;
  given_ = 0;
  if (result_ == kSuccess)
    return Outcome::Done;
  std::string what = "the GPU failed";
  if (given > 1)
    what += " in this command, or one of the " + std::to_string(given - 1) + " after it";
  lane_.issuer.commandFailed(first, driver_.status(result_, what));
  return Outcome::Failed;
}

Outcome CudaQueue::read(Worker &, uint32_t tag, Address from, uint32_t bytes, uint32_t &value) {
  Outcome outcome = Outcome::Done;
  if (arrived_) {
    outcome = arrived(tag);
  } else {
    if (!enter())
      return Outcome::Failed;
    outcome =
        given(tag, driver_.cuMemcpyAsync(value_->address().number(), from.number(), bytes, stream_),
              "a value cannot be read");
    if (outcome == Outcome::Done)
      outcome = catchUp(tag);
  }
  if (outcome == Outcome::Done) {
    value = 0;
    std::memcpy(&value, value_->address().bits(), bytes);
  }
  return outcome;
}

// Never fails: what went wrong is the run's.
Outcome CudaQueue::finish(Worker &) {
  if (!broken_.ok()) {
    lane_.run.fail(broken_);
    return Outcome::Done;
  }
  backend_->enter();
  Outcome outcome = arrived_ ? arrived(firstTag_) : catchUp(firstTag_);
  return outcome == Outcome::Parked ? outcome : Outcome::Done;
}

void CudaQueue::reset() {
  arrived_ = false;
  given_ = 0;
  for (Staged &staged : staged_)
    staged.buffers = nullptr;
}

static uint64_t aligned(int64_t bytes) { return (static_cast<uint64_t>(bytes) + 63) / 64 * 64; }

// Places on the host for the arrays of a collective; null: there is no memory.
CudaQueue::Staged *CudaQueue::stage(const CollectivePlan &plan) {
  Staged &staged = staged_[plan.site];
  staged.plan = &plan;
  if (staged.memory)
    return &staged;
  uint64_t total = 0;
  std::vector<uint64_t> offsets;
  for (bool isResult : {false, true})
    for (const Transfer &transfer : plan.transfers) {
      offsets.push_back(total);
      total += aligned(isResult ? transfer.resultBytes : transfer.operandBytes);
    }
  staged.memory = backend_->allocate(Space::Host, total);
  if (!staged.memory)
    return nullptr;
  for (uint64_t offset : offsets)
    staged.host.push_back(staged.memory->address() + offset);
  return &staged;
}

Outcome CudaQueue::copyStaged(uint32_t tag, const Staged &staged, bool isToHost) {
  size_t count = staged.plan->transfers.size();
  for (size_t i = 0; i < count; ++i) {
    const Transfer &transfer = staged.plan->transfers[i];
    int64_t bytes = isToHost ? transfer.operandBytes : transfer.resultBytes;
    size_t at = isToHost ? i : count + i;
    if (bytes == 0 || !staged.buffers[at])
      continue;
    Address to = isToHost ? staged.host[at] : staged.buffers[at];
    Address from = isToHost ? staged.buffers[at] : staged.host[at];
    Outcome outcome = given(tag, driver_.cuMemcpyAsync(to.number(), from.number(), bytes, stream_),
                            "an array of a collective cannot be copied");
    if (outcome != Outcome::Done)
      return outcome;
  }
  return Outcome::Done;
}

// Operands are on the host, or, where the communicator copies for itself, complete on the device.
Outcome CudaQueue::start(Worker &worker, uint32_t tag, const CollectivePlan &plan,
                         const Address *buffers) {
  bool inPlace = lane_.communicator.inPlace();
  if (arrived_) {
    if (Outcome outcome = arrived(tag); outcome != Outcome::Done)
      return outcome;
  } else {
    if (!enter())
      return Outcome::Failed;
    Staged *staged = stage(plan);
    if (!staged) {
      lane_.issuer.commandFailed(
          tag, {Code::ResourceExhausted, "no pinned memory on the host for a collective"});
      return Outcome::Failed;
    }
    staged->buffers = buffers;
    if (inPlace)
      if (Outcome outcome = copyStaged(tag, *staged, /*isToHost=*/true); outcome != Outcome::Done)
        return outcome;
    if (Outcome outcome = catchUp(tag); outcome != Outcome::Done)
      return outcome;
  }
  if (lane_.run.failed())
    return Outcome::Failed;
  Status status = lane_.communicator.start(worker, lane_.position, plan,
                                           inPlace ? staged_[plan.site].host.data() : buffers);
  if (status.ok())
    return Outcome::Done;
  lane_.run.fail(std::move(status));
  return Outcome::Failed;
}

Outcome CudaQueue::wait(Worker &worker, uint32_t tag, uint32_t site) {
  Outcome outcome = lane_.communicator.wait(worker, lane_.issuer, lane_.position, site);
  Staged &staged = staged_[site];
  if (outcome != Outcome::Done || !lane_.communicator.inPlace() || !staged.buffers)
    return outcome;
  if (!enter())
    return Outcome::Failed;
  outcome = copyStaged(tag, staged, /*isToHost=*/false);
  staged.buffers = nullptr;
  return outcome;
}

} // namespace tessera::runtime::device
