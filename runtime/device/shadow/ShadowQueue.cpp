#include "runtime/device/shadow/ShadowQueue.h"
#include "runtime/device/cpu/Launch.h"
#include "runtime/device/shadow/Translation.h"
#include <cstring>
#include <new>

namespace tessera::runtime::device {

static constexpr size_t kMostCommands = 256; // that wait; then the issuer does

struct ShadowQueue::Recorded final : Recording {
  std::vector<Command> commands;
};

ShadowQueue::ShadowQueue(const Lane &lane, Delays delays)
    : lane_(lane), delays_(delays), dice_(delays.seed * 1'000'003 + lane.position),
      tables_(lane.sites) {
  home = lane.position % lane.run.pool().size();
  timer_.context = this;
  timer_.fire = [](Timer *timer) {
    auto *queue = static_cast<ShadowQueue *>(timer->context);
    queue->lane_.run.pool().push(queue);
  };
}

ShadowQueue::~ShadowQueue() = default;

Outcome ShadowQueue::launch(Worker &, uint32_t tag, const KernelEntry &kernel,
                            const Address *buffers, bool hasScratch) {
  Command command{Kind::Launch, tag, &kernel};
  command.operands.assign(buffers, buffers + kernel.operands + hasScratch);
  return give(std::move(command));
}

Outcome ShadowQueue::copy(Worker &, uint32_t tag, Address from, Address to, uint64_t bytes) {
  return give({.kind = Kind::Copy, .tag = tag, .bytes = bytes, .operands = {from, to}});
}

Outcome ShadowQueue::startCopy(Worker &, uint32_t tag, uint32_t number, Address from, Address to,
                               uint64_t bytes) {
  return give({.kind = Kind::StartCopy,
               .tag = tag,
               .number = number,
               .bytes = bytes,
               .operands = {from, to}});
}

Outcome ShadowQueue::land(Worker &, uint32_t tag, uint32_t number) {
  return give({.kind = Kind::Land, .tag = tag, .number = number});
}

Outcome ShadowQueue::write(Worker &, uint32_t tag, int32_t value, Address to) {
  return give(
      {.kind = Kind::Write, .tag = tag, .number = static_cast<uint32_t>(value), .operands = {to}});
}

Outcome ShadowQueue::start(Worker &, uint32_t tag, const CollectivePlan &plan,
                           const Address *buffers) {
  Command command{.kind = Kind::Start, .tag = tag, .plan = &plan};
  command.operands.assign(buffers, buffers + 2 * plan.transfers.size());
  return give(std::move(command));
}

Outcome ShadowQueue::wait(Worker &, uint32_t tag, uint32_t site) {
  return give({.kind = Kind::Wait, .tag = tag, .number = site});
}

Outcome ShadowQueue::read(Worker &, uint32_t tag, Address from, uint32_t bytes, uint32_t &value) {
  {
    std::lock_guard lock(mutex_);
    if (value_) {
      value = *value_;
      value_.reset();
      return Outcome::Done;
    }
  }
  return give({.kind = Kind::Read, .tag = tag, .bytes = bytes, .operands = {from}});
}

// Half of the steps are recorded, so that the others are given while earlier commands run.
bool ShadowQueue::record() {
  if (dice_.roll(2))
    return false;
  recording_ = std::make_unique<Recorded>();
  return true;
}

std::unique_ptr<Recording> ShadowQueue::endRecord() { return std::move(recording_); }

Outcome ShadowQueue::replay(Worker &, const Recording &recording) {
  const auto &commands = static_cast<const Recorded &>(recording).commands;
  if (commands.empty())
    return Outcome::Done;
  return give({.kind = Kind::Replay, .tag = commands[0].tag, .recorded = &commands});
}

// Parks the issuer of a read, always; of others, when there are too many.
Outcome ShadowQueue::give(Command command) {
  bool isRead = command.kind == Kind::Read;
  if (recording_) {
    if (!isRead) {
      recording_->commands.push_back(std::move(command));
      return Outcome::Done;
    }
    lane_.issuer.commandFailed(command.tag, {Code::Internal, "a recording needs a value"});
    return Outcome::Failed;
  }
  std::lock_guard lock(mutex_);
  if (lane_.run.failed())
    return Outcome::Failed;
  if (!isRead && commands_.size() >= kMostCommands) {
    issuerIs_ = IssuerIs::WaitingForRoom;
    return Outcome::Parked;
  }
  commands_.push_back(std::move(command));
  if (!active_) {
    active_ = true;
    lane_.run.wake(this);
  }
  if (!isRead)
    return Outcome::Done;
  issuerIs_ = IssuerIs::WaitingForValue;
  return Outcome::Parked;
}

Outcome ShadowQueue::finish(Worker &) {
  std::lock_guard lock(mutex_);
  if (!active_)
    return Outcome::Done;
  issuerIs_ = IssuerIs::WaitingForAll;
  return Outcome::Parked;
}

void ShadowQueue::reset() {
  value_.reset();
  dropped_.reset();
  recording_.reset();
}

std::optional<uint32_t> ShadowQueue::tag() const {
  std::lock_guard lock(mutex_);
  return commands_.empty() ? dropped_ : front().tag;
}

void ShadowQueue::wakeIssuer() {
  issuerIs_ = IssuerIs::Running;
  lane_.run.wake(&lane_.issuer);
}

const ShadowQueue::Command &ShadowQueue::front() const {
  const Command &command = commands_.front();
  return command.kind == Kind::Replay ? (*command.recorded)[replayed_] : command;
}

// The command whose turn it is; null when there is none, and the task is active no more.
const ShadowQueue::Command *ShadowQueue::next() {
  std::lock_guard lock(mutex_);
  if (lane_.run.failed() && !commands_.empty()) {
    dropped_ = front().tag;
    commands_.clear();
    copies_.clear();
    replayed_ = 0;
    delayed_ = false;
  }
  if (!commands_.empty())
    return &front();
  active_ = false;
  if (issuerIs_ != IssuerIs::Running)
    wakeIssuer();
  return nullptr;
}

// To the next command.
void ShadowQueue::advance() {
  std::lock_guard lock(mutex_);
  delayed_ = false;
  if (commands_.front().kind == Kind::Replay && ++replayed_ < commands_.front().recorded->size())
    return;
  commands_.pop_front();
  replayed_ = 0;
  if (issuerIs_ == IssuerIs::WaitingForRoom && commands_.size() <= kMostCommands / 2)
    wakeIssuer();
}

// Whether the timer pushes the task later. Each command is late once at most.
bool ShadowQueue::late() {
  if (delayed_)
    return false;
  delayed_ = true;
  int64_t delay = delays_.draw(dice_);
  if (delay == 0)
    return false;
  timer_.deadline = Pool::now() + delay;
  lane_.run.pool().add(&timer_);
  return true;
}

void ShadowQueue::run(Worker &worker) {
  Run &run = lane_.run;
  while (const Command *command = next()) {
    try {
      if (late())
        return;
      int64_t begin = lane_.issuer.tracing ? Pool::now() : 0;
      Outcome outcome = carryOut(worker, *command);
      if (outcome == Outcome::Parked)
        return run.retire();
      if (outcome == Outcome::Failed)
        continue;
      if (lane_.issuer.tracing && command->kind != Kind::Read && command->kind != Kind::Write)
        lane_.issuer.executed(command->tag, begin, Pool::now());
      advance();
    } catch (const std::bad_alloc &) {
      run.fail({Code::ResourceExhausted, "out of memory"});
    }
  }
  run.retire();
}

bool ShadowQueue::translate(const Command &command) {
  pointers_.clear();
  for (Address operand : command.operands) {
    pointers_.push_back(Translation::ofProcess().translate(operand));
    if (!pointers_.back()) {
      lane_.issuer.commandFailed(
          command.tag, {Code::Internal, "an operand lies in memory that nobody holds any more"});
      return false;
    }
  }
  return true;
}

Outcome ShadowQueue::carryOut(Worker &worker, const Command &command) {
  if (command.kind == Kind::Start)
    return carryOutStart(worker, command);
  if (!translate(command))
    return Outcome::Failed;
  switch (command.kind) {
  case Kind::Launch: {
    const KernelEntry &kernel = *command.kernel;
    bool isGiven = command.operands.size() > kernel.operands;
    uint64_t bytes = isGiven ? kernel.scratchBytes : lane_.scratchBytes;
    void *scratch = isGiven ? pointers_[kernel.operands] : worker.scratch(bytes);
    int32_t code = scratch || !bytes ? launchKernel(worker, lane_.run, kernel, pointers_.data(),
                                                    scratch, bytes, isGiven)
                                     : kNoScratch;
    if (!code)
      return Outcome::Done;
    lane_.issuer.kernelFailed(command.tag, code);
    return Outcome::Failed;
  }
  case Kind::StartCopy: // now, or when it lands
    if (dice_.roll(2)) {
      copies_[command.number] = command;
      return Outcome::Done;
    }
    [[fallthrough]];
  case Kind::Copy:
    std::memmove(pointers_[1], pointers_[0], command.bytes);
    return Outcome::Done;
  case Kind::Land:
    if (auto copy = copies_.extract(command.number)) {
      if (!translate(copy.mapped()))
        return Outcome::Failed;
      std::memmove(pointers_[1], pointers_[0], copy.mapped().bytes);
    }
    return Outcome::Done;
  case Kind::Write:
    std::memcpy(pointers_[0], &command.number, sizeof command.number);
    return Outcome::Done;
  case Kind::Wait:
    return lane_.communicator.wait(worker, *this, lane_.position, command.number);
  case Kind::Read: {
    uint32_t value = 0;
    std::memcpy(&value, pointers_[0], command.bytes);
    std::lock_guard lock(mutex_);
    value_ = value;
    wakeIssuer();
    return Outcome::Done;
  }
  case Kind::Start:
  case Kind::Replay:
    break;
  }
  return Outcome::Done;
}

// A communicator of cores gets addresses that they can reach, until the wait.
Outcome ShadowQueue::carryOutStart(Worker &worker, const Command &command) {
  std::vector<Address> &table = tables_[command.plan->site];
  if (!lane_.communicator.inPlace()) {
    table = command.operands;
  } else {
    if (!translate(command))
      return Outcome::Failed;
    table.clear();
    for (void *pointer : pointers_)
      table.emplace_back(pointer);
  }
  Status status = lane_.communicator.start(worker, lane_.position, *command.plan, table.data());
  if (status.ok())
    return Outcome::Done;
  lane_.run.fail(std::move(status));
  return Outcome::Failed;
}

} // namespace tessera::runtime::device
