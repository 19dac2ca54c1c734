#include "runtime/device/cuda/CudaQueue.h"
#include <chrono>
#include <cstring>
#include <thread>

namespace tessera::runtime::device {

using cuda::Command;
using cuda::kSuccess;
using For = cuda::Gathering::For;

static uint32_t deviceOf(const StreamCommunicator *streams, uint32_t position) {
  return streams ? streams->deviceOf(position) : position;
}

CudaQueue::CudaQueue(std::shared_ptr<CudaBackend> backend, const Lane &lane)
    : backend_(std::move(backend)), driver_(backend_->driver()), lane_(lane),
      code_(static_cast<const CudaCode *>(lane.code)),
      streams_(dynamic_cast<StreamCommunicator *>(&lane.communicator)),
      gathering_(streams_ ? streams_->gathering() : nullptr),
      compute_(cuda::laneOfDevice(deviceOf(streams_, lane.position))),
      beside_(cuda::laneOfCopies(deviceOf(streams_, lane.position))), watched_(driver_) {
  if (streams_)
    waits_ = [this] { return streams_->waits(lane_.position); };
  if (!gathering_) {
    own_ = std::make_unique<cuda::Gathering>(
        backend_, streams_ ? [this] { return streams_->health(); } : cuda::Gathering::Health(),
        waits_);
    gathering_ = own_.get();
  }
  gathering_->join();
  backend_->enter();
  broken_ = open();
}

Status CudaQueue::open() {
  for (cuda::Stream *stream : {&stream_, &copies_})
    if (Status s = driver_.status(driver_.cuStreamCreate(stream, cuda::kNonBlocking), "no stream");
        !s.ok())
      return s;
  for (auto [name, stream] : {std::pair(compute_, stream_), std::pair(beside_, copies_)}) {
    auto named = [this](uint32_t tag, const Status &why) {
      return lane_.issuer.ofCommand(tag, why);
    };
    if (Status s = driver_.status(gathering_->open(name, stream, lane_.run, named), "no event");
        !s.ok())
      return s;
  }
  value_ = backend_->allocate(Space::Host, sizeof(uint32_t));
  if (!value_)
    return {Code::ResourceExhausted, "no pinned memory on the host"};
  if (lane_.scratchBytes && code_ && code_->usesLibrary()) {
    scratch_ = backend_->allocate(Space::Device, lane_.scratchBytes);
    if (!scratch_)
      return {Code::ResourceExhausted,
              "no memory for " + std::to_string(lane_.scratchBytes) + " bytes of scratch"};
  }
  return {};
}

CudaQueue::~CudaQueue() {
  backend_->enter();
  for (uint64_t lane : {beside_, compute_})
    gathering_->close(lane);
  for (cuda::Stream stream : {copies_, stream_})
    backend_->close(stream);
  for (auto &[number, beside] : started_)
    for (const cuda::StreamEvent &event : {beside.fork, beside.landed})
      if (event.handle)
        driver_.cuEventDestroy(event.handle);
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

// Until what the stream was given is carried out, as far as the command. Other devices of this worker stand
// still meanwhile.
cuda::ResultCode CudaQueue::watch(uint32_t tag, cuda::Stream stream) {
  constexpr int kTurns = 1000; // without a pause
  Patience patience(backend_->longestStand(), waits_);
  if (cuda::ResultCode code = watched_.add(stream, {}); code != kSuccess)
    return code;
  for (int turn = 0; !backend_->isGivenUp(); turn += turn < kTurns) {
    if (cuda::ResultCode code = watched_.last(); code != cuda::kNotReady) {
      watched_.clear();
      return code;
    }
    if (turn < kTurns)
      continue;
    std::this_thread::sleep_for(std::chrono::microseconds(50));
    if (streams_)
      if (Status status = streams_->health(); !status.ok())
        lane_.run.fail(std::move(status)); // which lets the stream go on
    if (!patience.isOver(lane_.run))
      continue;
    Status why = lane_.issuer.ofCommand(
        tag, {Code::Internal, describeHang(/*commands=*/1, patience.stood())});
    backend_->giveUp(why.message());
    lane_.run.fail(std::move(why));
  }
  lane_.run.fail(backend_->health());
  return cuda::kGivenUp;
}

// Where commands are watched, each is carried out before the next is given.
Outcome CudaQueue::add(const Command &command, const cuda::Pointer *operands) {
  if (given_++ == 0)
    firstTag_ = command.tag;
  int64_t begin = Pool::now();
  gathering_->add(compute_, command, operands);
  if (!isWatched())
    return Outcome::Done;
  if (lane_.run.failed()) // it was refused
    return Outcome::Failed;
  Outcome outcome = refused(command.tag, watch(command.tag, stream_), "the GPU failed");
  if (outcome == Outcome::Done && lane_.issuer.tracing && command.kind != Command::Write)
    lane_.issuer.executed(command.tag, begin, Pool::now());
  return outcome;
}

// For what follows: the lane is not longer than it may get.
Outcome CudaQueue::makeRoom() {
  return gathering_->isFull(compute_)
             ? gathering_->wait(waiting_, For::Room, lane_.issuer, lane_.run)
             : Outcome::Done;
}

Outcome CudaQueue::launch(Worker &worker, uint32_t tag, const KernelEntry &kernel,
                          const Address *buffers, bool hasScratch) {
  if (kernel.library)
    return launchOnHost(worker, tag, kernel, buffers);
  if (!enter())
    return Outcome::Failed;
  if (makeRoom() == Outcome::Parked)
    return Outcome::Parked;
  static_assert(sizeof(Address) == sizeof(cuda::Pointer)); // a table of addresses is one of numbers
  const auto *operands = reinterpret_cast<const cuda::Pointer *>(buffers);
  if (const cuda::LibraryProduct *product = code_->product(kernel.number))
    return add(
        {.kind = Command::Multiply,
         .tag = tag,
         .product = product,
         .operands = kernel.operands,
         .to = hasScratch ? buffers[kernel.operands].number() : scratch_->address().number()},
        operands);
  return add({.kind = Command::Launch,
              .tag = tag,
              .function = code_->function(kernel.number),
              .launch = &code_->launch(kernel.number),
              .operands = kernel.operands},
             operands);
}

static bool isApart(Address from, Address to, uint64_t bytes) {
  return (from.number() < to.number() ? to.number() - from.number()
                                      : from.number() - to.number()) >= bytes;
}

// By way of another place: source and target overlap, as those of the driver's copies must not.
Outcome CudaQueue::copyByWay(uint64_t lane, uint32_t tag, Address from, Address to,
                             uint64_t bytes) {
  cuda::Stream stream = gathering_->reach(lane);
  cuda::Pointer between = 0;
  cuda::ResultCode code = driver_.cuMemAllocAsync(&between, bytes, stream);
  if (code != kSuccess)
    return refused(tag, code, "a copy cannot be started");
  code = driver_.cuMemcpyAsync(between, from.number(), bytes, stream);
  if (code == kSuccess)
    code = driver_.cuMemcpyAsync(to.number(), between, bytes, stream);
  cuda::ResultCode freed = driver_.cuMemFreeAsync(between, stream);
  return refused(tag, code == kSuccess ? freed : code, "a copy cannot be started");
}

Outcome CudaQueue::copy(Worker &, uint32_t tag, Address from, Address to, uint64_t bytes) {
  if (!enter())
    return Outcome::Failed;
  if (bytes == 0 || from == to)
    return Outcome::Done;
  if (!isApart(from, to, bytes))
    return copyByWay(compute_, tag, from, to, bytes);
  return add({.kind = Command::Copy,
              .tag = tag,
              .from = from.number(),
              .to = to.number(),
              .bytes = bytes});
}

Outcome CudaQueue::startCopy(Worker &, uint32_t tag, uint32_t number, Address from, Address to,
                             uint64_t bytes) {
  if (!enter())
    return Outcome::Failed;
  if (bytes == 0 || from == to)
    return Outcome::Done;
  Beside &beside = started_[number];
  for (cuda::StreamEvent *event : {&beside.fork, &beside.landed})
    if (!event->handle)
      if (Outcome outcome = refused(tag, driver_.cuEventCreate(&event->handle, cuda::kNoTiming),
                                    "a copy cannot be started");
          outcome != Outcome::Done)
        return outcome;
  gathering_->record(compute_, beside.fork);
  gathering_->await(beside_, beside.fork);
  int64_t begin = Pool::now();
  Outcome outcome = Outcome::Done;
  if (isApart(from, to, bytes))
    gathering_->add(beside_, {.kind = Command::Copy,
                              .tag = tag,
                              .from = from.number(),
                              .to = to.number(),
                              .bytes = bytes});
  else
    outcome = copyByWay(beside_, tag, from, to, bytes);
  gathering_->record(beside_, beside.landed);
  if (outcome == Outcome::Done && lane_.issuer.tracing) {
    outcome = refused(tag, watch(tag, copies_), "a copy cannot be started");
    lane_.issuer.executed(tag, begin, Pool::now());
  }
  return lane_.run.failed() ? Outcome::Failed : outcome;
}

// Also of a copy of nothing, which has no event.
Outcome CudaQueue::land(Worker &, uint32_t, uint32_t number) {
  if (!enter())
    return Outcome::Failed;
  if (auto started = started_.find(number); started != started_.end())
    gathering_->await(compute_, started->second.landed);
  return Outcome::Done;
}

Outcome CudaQueue::write(Worker &, uint32_t tag, int32_t value, Address to) {
  if (!enter())
    return Outcome::Failed;
  return add({.kind = Command::Write,
              .tag = tag,
              .to = to.number(),
              .bytes = static_cast<uint32_t>(value)});
}

Outcome CudaQueue::catchUp(uint32_t tag, For what) {
  Outcome outcome = gathering_->wait(waiting_, what, lane_.issuer, lane_.run);
  return outcome == Outcome::Done ? arrived(tag) : outcome;
}

Outcome CudaQueue::arrived(uint32_t tag) {
  waiting_.hasArrived = false;
  uint32_t first = given_ ? firstTag_ : tag, given = given_;
  given_ = 0;
  if (waiting_.result == kSuccess && !streams_)
    return Outcome::Done;
  if (waiting_.result == cuda::kGivenUp) {
    lane_.run.fail(backend_->health());
    return Outcome::Failed;
  }
  if (waiting_.result == kSuccess) { // but what came may be wrong
    Status status = streams_->health();
    if (status.ok())
      return Outcome::Done;
    lane_.run.fail(std::move(status));
    return Outcome::Failed;
  }
  std::string what = "the GPU failed";
  std::string after = given > 1 ? "in one of the " + std::to_string(given - 1) + " after it" : "";
  if (!backend_->blocks() && own_) // the GPU is this device's alone
    what += " in this command" +
            (given > 1 ? ", or " + after + " (CUDA_LAUNCH_BLOCKING=1 names the one)" : "");
  else if (!backend_->blocks())
    what += " in this command, " + (given > 1 ? after + ", " : "") +
            "or in one of another device on this GPU (CUDA_LAUNCH_BLOCKING=1 names the one)";
  lane_.issuer.commandFailed(first, driver_.status(waiting_.result, what));
  return Outcome::Failed;
}

Outcome CudaQueue::read(Worker &, uint32_t tag, Address from, uint32_t bytes, uint32_t &value) {
  Outcome outcome = Outcome::Done;
  if (waiting_.hasArrived) {
    outcome = arrived(tag);
  } else {
    if (!enter())
      return Outcome::Failed;
    gathering_->add(compute_, {.kind = Command::Copy,
                               .tag = tag,
                               .from = from.number(),
                               .to = value_->address().number(),
                               .bytes = bytes});
    outcome = catchUp(tag, For::Value);
  }
  if (outcome == Outcome::Done) {
    value = 0;
    std::memcpy(&value, value_->address().bits(), bytes);
  }
  return outcome;
}

// Never fails: what went wrong is the run's.
Outcome CudaQueue::finish(Worker &) {
  if (!broken_.ok())
    lane_.run.fail(broken_);
  backend_->enter();
  Outcome outcome = waiting_.hasArrived ? arrived(firstTag_) : catchUp(firstTag_, For::End);
  return outcome == Outcome::Parked ? outcome : Outcome::Done;
}

void CudaQueue::reset() {
  waiting_ = {};
  given_ = 0;
  gathering_->begin(isWatched());
  if (streams_)
    streams_->begin();
}

// Where the communicator is the host's, operands are complete on the device before it starts: it
// copies for itself.
Outcome CudaQueue::start(Worker &worker, uint32_t tag, const CollectivePlan &plan,
                         const Address *buffers) {
  if (waiting_.hasArrived) {
    if (Outcome outcome = arrived(tag); outcome != Outcome::Done)
      return outcome;
  } else {
    if (!enter())
      return Outcome::Failed;
    if (!streams_) {
      if (Outcome outcome = catchUp(tag, For::Value); outcome != Outcome::Done)
        return outcome;
    } else if (makeRoom() == Outcome::Parked) {
      return Outcome::Parked;
    } else if (Status status = streams_->come(lane_.position, plan.site, *gathering_, compute_);
               !status.ok()) {
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
  Outcome outcome = lane_.communicator.wait(worker, lane_.issuer, lane_.position, site);
  if (outcome != Outcome::Done || !streams_)
    return outcome;
  if (!enter())
    return Outcome::Failed;
  int64_t begin = Pool::now();
  Status status = streams_->follow(lane_.position, site, *gathering_, compute_);
  if (status.ok() && lane_.issuer.tracing) {
    status = driver_.status(watch(tag, stream_), "the GPU failed");
    lane_.issuer.executed(tag, begin, Pool::now());
  }
  if (status.ok())
    return Outcome::Done;
  lane_.issuer.commandFailed(tag, status);
  return Outcome::Failed;
}

} // namespace tessera::runtime::device
