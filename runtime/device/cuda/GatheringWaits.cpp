// How members wait for what was gathered: parked until a timer hears from the driver that it is carried out.
#include "runtime/device/cuda/Gathering.h"
#include <algorithm>

namespace tessera::runtime::device::cuda {

static constexpr int64_t kFirstPause = 4'000, kLongestPause = 200'000; // nanoseconds
// That a value, or room for more, waits for devices that still give commands.
static constexpr int64_t kForValue = 100'000, kForRoom = 10'000'000;

Outcome Gathering::wait(Member &member, For what, Task &task, Run &run) {
  std::lock_guard lock(mutex_);
  backend_->enter();
  if (!origin_)
    return Outcome::Done;
  run_ = &run;
  member.what = what, member.task = &task;
  member.isGiven = member.hasArrived = false;
  waiting_.push_back(&member);
  if (waiting_.size() == members_) {
    giveToAll();
    if (arrive(&member))
      return Outcome::Done;
    arm();
  } else if (what != For::End) {
    member.patience = Pool::now() + (what == For::Room ? kForRoom : kForValue);
    arm();
  }
  return Outcome::Parked;
}

// All that was gathered, so that everybody's wait is one for the GPU. The timer gives what has to wait.
void Gathering::giveToAll() {
  if (run_->failed())
    clear();
  giveAll();
  if (isGiving_)
    return;
  ResultCode code = backend_->isGivenUp() ? kGivenUp : gatherTails();
  if (code == kSuccess)
    progress_.mark(origin_);
  else
    progress_.lose(code);
  for (Member *member : waiting_)
    member->isGiven = true;
}

// Wakes those whose wait is over, but for `caller`: whether its own is.
bool Gathering::arrive(const Member *caller) {
  ResultCode code = backend_->isGivenUp() ? kGivenUp : isGiving_ ? kNotReady : progress_.result();
  letGo();
  Task *chain = nullptr;
  bool isCallers = false;
  auto isAtEnd = [](const Member *member) { return member->what == For::End; };
  bool allAreAtEnd = waiting_.size() == members_ && std::ranges::all_of(waiting_, isAtEnd);
  std::erase_if(waiting_, [&](Member *member) {
    if (!member->isGiven || (code == kNotReady && member->what != For::Room))
      return false;
    if (isAtEnd(member) &&
        !allAreAtEnd) // who has more to give comes to the end later, and not alone
      return member->isGiven = false;
    member->result = member->what == For::Room ? kSuccess : code;
    if (member == caller)
      return isCallers = true;
    member->hasArrived = member->what != For::Room;
    member->task->next = chain;
    chain = member->task;
    return true;
  });
  run_->wake(chain);
  return isCallers;
}

void Gathering::arm() {
  pause_ = kFirstPause;
  if (isArmed_)
    return;
  isArmed_ = true;
  run_->hold();
  timer_.deadline = Pool::now() + pause_;
  backend_->pool().add(&timer_);
}

// What the streams were given may never end: then everybody hears of it, and none is touched any more.
void Gathering::checkProgress(Run &run) {
  if (health_ != nullptr)
    if (Status status = health_(); !status.ok())
      run.fail(std::move(status)); // which lets the stream go on
  if (backend_->isGivenUp())
    return;
  auto hang = progress_.hang(run);
  if (!hang)
    return;
  Status why = {Code::Internal, hang->what};
  if (auto owner = owners_.find(hang->place.lane); owner != owners_.end())
    why = owner->second.named(hang->place.tag, why);
  backend_->giveUp(why.message());
  run.fail(why);
}

// Of the timer's turn.
void Gathering::fire() {
  Run *run = nullptr; // once nothing holds it, this may be gone
  {
    std::lock_guard lock(mutex_);
    backend_->enter();
    auto isLate = [](const Member *m) { return !m->isGiven && m->what != For::End; };
    auto some = [&](auto &&holds) { return std::any_of(waiting_.begin(), waiting_.end(), holds); };
    auto isGiven = [](const Member *m) { return m->isGiven; };
    auto isLong = [&](const Member *m) { return isLate(m) && Pool::now() >= m->patience; };
    if (isGiving_ || some(isLong))
      giveToAll();
    if (some(isGiven))
      arrive(nullptr);
    if (isGiving_ || some(isGiven)) {
      checkProgress(*run_);
      if (isGiving_ && backend_->isGivenUp())
        giveToAll();
      if (backend_->isGivenUp())
        arrive(nullptr);
    }
    if (isGiving_ || some(isGiven) || some(isLate)) {
      pause_ = std::min(2 * pause_, kLongestPause);
      timer_.deadline = Pool::now() + pause_;
      return backend_->pool().add(&timer_);
    }
    isArmed_ = false;
    run = run_;
  }
  run->retire();
}

} // namespace tessera::runtime::device::cuda
