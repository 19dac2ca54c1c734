#include "runtime/device/cuda/CudaQueue.h"
#include <cstring>

namespace tessera::runtime::device {

using cuda::Command;
using cuda::kSuccess;

static constexpr int64_t kFirstPause = 4'000, kLongestPause = 200'000; // nanoseconds
static constexpr size_t kMostCommands = 4096;                          // that are gathered

CudaQueue::CudaQueue(std::shared_ptr<CudaBackend> backend, const Lane &lane)
    : backend_(std::move(backend)), driver_(backend_->driver()), lane_(lane),
      code_(static_cast<const CudaCode *>(lane.code)),
      streams_(dynamic_cast<StreamCommunicator *>(&lane.communicator)), graphs_(driver_) {
  backend_->enter();
  for (cuda::Stream *stream : {&stream_, &copies_})
    if (broken_.ok())
      broken_ = driver_.status(driver_.cuStreamCreate(stream, cuda::kNonBlocking), "no stream");
  if (broken_.ok())
    broken_ = driver_.status(driver_.cuEventCreate(&event_, cuda::kNoTiming), "no event");
  value_ = backend_->allocate(Space::Host, sizeof(uint32_t));
  if (broken_.ok() && !value_)
    broken_ = {Code::ResourceExhausted, "no pinned memory on the host"};
  if (lane_.scratchBytes && code_ && code_->usesLibrary() && broken_.ok()) {
    scratch_ = backend_->allocate(Space::Device, lane_.scratchBytes);
    if (!scratch_)
      broken_ = {Code::ResourceExhausted,
                 "no memory for " + std::to_string(lane_.scratchBytes) + " bytes of scratch"};
  }
  timer_.context = this;
  timer_.fire = [](Timer *timer) { static_cast<CudaQueue *>(timer->context)->ask(); };
}

CudaQueue::~CudaQueue() {
  backend_->enter();
  for (cuda::Stream stream : {copies_, stream_})
    if (stream)
      driver_.cuStreamSynchronize(stream);
  for (auto &[number, beside] : beside_)
    for (cuda::EventHandle event : {beside.fork, beside.landed})
      if (event)
        driver_.cuEventDestroy(event);
  if (event_)
    driver_.cuEventDestroy(event_);
  for (cuda::Stream stream : {copies_, stream_})
    if (stream)
      driver_.cuStreamDestroy(stream);
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

Outcome CudaQueue::refused(uint32_t tag, cuda::ResultCode code, const char *what) {
  if (code == kSuccess)
    return Outcome::Done;
  lane_.issuer.commandFailed(tag, driver_.status(code, what));
  return Outcome::Failed;
}

Outcome CudaQueue::add(const Command &command) {
  if (given_++ == 0)
    firstTag_ = command.tag;
  segment_.commands.push_back(command);
  bool isFull = segment_.commands.size() >= kMostCommands;
  return isFull || lane_.issuer.tracing || backend_->blocks() ? flush() : Outcome::Done;
}

Outcome CudaQueue::flush() {
  if (segment_.commands.empty())
    return Outcome::Done;
  bool isWatched = lane_.issuer.tracing || backend_->blocks();
  cuda::GraphExec graph = isWatched ? nullptr : graphs_.of(segment_, stream_);
  Outcome outcome =
      graph ? refused(segment_.commands.front().tag, driver_.cuGraphLaunch(graph, stream_),
                      "a graph cannot be launched")
            : giveEach();
  segment_.clear();
  return outcome;
}

// One after the other; where they are watched, each when the one before is over.
Outcome CudaQueue::giveEach() {
  bool isWatched = lane_.issuer.tracing || backend_->blocks();
  for (const Command &command : segment_.commands) {
    int64_t begin = Pool::now();
    cuda::ResultCode code = cuda::give(driver_, segment_, command, stream_);
    if (Outcome outcome =
            refused(command.tag, code,
                    command.kind == Command::Launch || command.kind == Command::Multiply
                        ? "it cannot be launched"
                        : "the command cannot be given to the GPU");
        outcome != Outcome::Done)
      return outcome;
    if (!isWatched)
      continue;
    if (Outcome outcome =
            refused(command.tag, driver_.cuStreamSynchronize(stream_), "the GPU failed");
        outcome != Outcome::Done)
      return outcome;
    if (lane_.issuer.tracing && command.kind != Command::Write)
      lane_.issuer.executed(command.tag, begin, Pool::now());
  }
  return Outcome::Done;
}

Outcome CudaQueue::launch(Worker &, uint32_t tag, const KernelEntry &kernel, const Address *buffers,
                          bool hasScratch) {
  if (!enter())
    return Outcome::Failed;
  auto first = static_cast<uint32_t>(segment_.operands.size());
  for (uint32_t i = 0; i < kernel.operands; ++i)
    segment_.operands.push_back(buffers[i].number());
  if (const cuda::LibraryProduct *product = code_->product(kernel.number))
    return add(
        {.kind = Command::Multiply,
         .tag = tag,
         .product = product,
         .operands = kernel.operands,
         .firstOperand = first,
         .to = hasScratch ? buffers[kernel.operands].number() : scratch_->address().number()});
  return add({.kind = Command::Launch,
              .tag = tag,
              .function = code_->function(kernel.number),
              .launch = &code_->launch(kernel.number),
              .operands = kernel.operands,
              .firstOperand = first});
}

static bool isApart(Address from, Address to, uint64_t bytes) {
  return (from.number() < to.number() ? to.number() - from.number()
                                      : from.number() - to.number()) >= bytes;
}

// By way of another place where they overlap, as copies of the driver's must not.
cuda::ResultCode CudaQueue::copyIn(cuda::Stream stream, Address from, Address to, uint64_t bytes) {
  if (isApart(from, to, bytes))
    return driver_.cuMemcpyAsync(to.number(), from.number(), bytes, stream);
  cuda::Pointer between = 0;
  cuda::ResultCode code = driver_.cuMemAllocAsync(&between, bytes, stream);
  if (code != kSuccess)
    return code;
  code = driver_.cuMemcpyAsync(between, from.number(), bytes, stream);
  if (code == kSuccess)
    code = driver_.cuMemcpyAsync(to.number(), between, bytes, stream);
  cuda::ResultCode freed = driver_.cuMemFreeAsync(between, stream);
  return code == kSuccess ? freed : code;
}

Outcome CudaQueue::copy(Worker &, uint32_t tag, Address from, Address to, uint64_t bytes) {
  if (!enter())
    return Outcome::Failed;
  if (bytes == 0 || from == to)
    return Outcome::Done;
  if (isApart(from, to, bytes))
    return add({.kind = Command::Copy,
                .tag = tag,
                .from = from.number(),
                .to = to.number(),
                .bytes = bytes});
  if (Outcome outcome = flush(); outcome != Outcome::Done)
    return outcome;
  return refused(tag, copyIn(stream_, from, to, bytes), "a copy cannot be started");
}

Outcome CudaQueue::startCopy(Worker &, uint32_t tag, uint32_t number, Address from, Address to,
                             uint64_t bytes) {
  if (!enter() || flush() != Outcome::Done)
    return Outcome::Failed;
  if (bytes == 0 || from == to)
    return Outcome::Done;
  Beside &beside = beside_[number];
  cuda::ResultCode code = kSuccess;
  auto then = [&](auto &&call) {
    if (code == kSuccess)
      code = call();
  };
  for (cuda::EventHandle *event : {&beside.fork, &beside.landed})
    if (!*event)
      then([&] { return driver_.cuEventCreate(event, cuda::kNoTiming); });
  then([&] { return driver_.cuEventRecord(beside.fork, stream_); });
  then([&] { return driver_.cuStreamWaitEvent(copies_, beside.fork, 0); });
  int64_t begin = Pool::now();
  then([&] { return copyIn(copies_, from, to, bytes); });
  then([&] { return driver_.cuEventRecord(beside.landed, copies_); });
  if (lane_.issuer.tracing) {
    then([&] { return driver_.cuStreamSynchronize(copies_); });
    lane_.issuer.executed(tag, begin, Pool::now());
  }
  return refused(tag, code, "a copy cannot be started");
}

// Also of a copy of nothing, which has no event.
Outcome CudaQueue::land(Worker &, uint32_t tag, uint32_t number) {
  if (!enter() || flush() != Outcome::Done)
    return Outcome::Failed;
  auto beside = beside_.find(number);
  if (beside == beside_.end())
    return Outcome::Done;
  return refused(tag, driver_.cuStreamWaitEvent(stream_, beside->second.landed, 0),
                 "a copy cannot be waited for");
}

Outcome CudaQueue::write(Worker &, uint32_t tag, int32_t value, Address to) {
  if (!enter())
    return Outcome::Failed;
  return add({.kind = Command::Write,
              .tag = tag,
              .to = to.number(),
              .bytes = static_cast<uint32_t>(value)});
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
  if (result_ == cuda::kNotReady && streams_)
    if (Status status = streams_->health(); !status.ok())
      lane_.run.fail(std::move(status)); // which lets the stream go on
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
  if (result_ == kSuccess && !streams_)
    return Outcome::Done;
  if (result_ == kSuccess) { // but what came may be wrong
    Status status = streams_->health();
    if (status.ok())
      return Outcome::Done;
    lane_.run.fail(std::move(status));
    return Outcome::Failed;
  }
  std::string what = "the GPU failed";
  if (!backend_->blocks())
    what += " in this command, " +
            (given > 1 ? "in one of the " + std::to_string(given - 1) + " after it, " : "") +
            "or in one of another device on this GPU (CUDA_LAUNCH_BLOCKING=1 names the one)";
  lane_.issuer.commandFailed(first, driver_.status(result_, what));
  return Outcome::Failed;
}

Outcome CudaQueue::read(Worker &, uint32_t tag, Address from, uint32_t bytes, uint32_t &value) {
  Outcome outcome = Outcome::Done;
  if (arrived_) {
    outcome = arrived(tag);
  } else {
    if (!enter() || flush() != Outcome::Done)
      return Outcome::Failed;
    outcome = refused(
        tag, driver_.cuMemcpyAsync(value_->address().number(), from.number(), bytes, stream_),
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
  if (lane_.run.failed())
    segment_.clear();
  Outcome outcome = Outcome::Done;
  if (arrived_) {
    outcome = arrived(firstTag_);
  } else {
    flush(); // what is in the stream already is waited for all the same
    outcome = catchUp(firstTag_);
  }
  if (outcome != Outcome::Parked && lane_.run.failed() && copies_)
    driver_.cuStreamSynchronize(copies_); // nobody has waited for what lands there
  return outcome == Outcome::Parked ? outcome : Outcome::Done;
}

void CudaQueue::reset() {
  arrived_ = false;
  given_ = 0;
  segment_.clear();
  graphs_.tidy();
}

// Where the communicator is the host's, operands are complete on the device before it starts: it
// copies for itself.
Outcome CudaQueue::start(Worker &worker, uint32_t tag, const CollectivePlan &plan,
                         const Address *buffers) {
  if (arrived_) {
    if (Outcome outcome = arrived(tag); outcome != Outcome::Done)
      return outcome;
  } else {
    if (!enter() || flush() != Outcome::Done)
      return Outcome::Failed;
    if (!streams_) {
      if (Outcome outcome = catchUp(tag); outcome != Outcome::Done)
        return outcome;
    } else if (Status status = streams_->come(lane_.position, plan.site, stream_); !status.ok()) {
      lane_.issuer.commandFailed(tag, status);
      return Outcome::Failed;
    }
  }
  if (lane_.run.failed())
    return Outcome::Failed;
  Status status = lane_.communicator.start(worker, lane_.position, plan, buffers);
  if (status.ok())
    return Outcome::Done;
  lane_.run.fail(std::move(status));
  return Outcome::Failed;
}

Outcome CudaQueue::wait(Worker &worker, uint32_t tag, uint32_t site) {
  if (!segment_.commands.empty()) {
    if (!enter() || flush() != Outcome::Done)
      return Outcome::Failed;
  }
  Outcome outcome = lane_.communicator.wait(worker, lane_.issuer, lane_.position, site);
  if (outcome != Outcome::Done || !streams_)
    return outcome;
  if (!enter())
    return Outcome::Failed;
  int64_t begin = Pool::now();
  Status status = streams_->follow(lane_.position, site, stream_);
  if (status.ok() && lane_.issuer.tracing) {
    status = driver_.status(driver_.cuStreamSynchronize(stream_), "the GPU failed");
    lane_.issuer.executed(tag, begin, Pool::now());
  }
  if (status.ok())
    return Outcome::Done;
  lane_.issuer.commandFailed(tag, status);
  return Outcome::Failed;
}

} // namespace tessera::runtime::device
