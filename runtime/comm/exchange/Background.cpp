#include "runtime/comm/exchange/Background.h"
#include "runtime/pool/NumericMode.h"
#include "runtime/pool/OwnThread.h"
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <system_error>
#include <unistd.h>

namespace tessera::runtime {

namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

// Between two looks: a look takes some ten microseconds of a core that may be busy.
constexpr Clock::duration kSoonest = 30us, kLatest = 400us;
constexpr int kIdleLooks = 2; // with nothing under way, until the thread sleeps

// A thread that runs for microseconds, and should do so soon after its time has come, also beside
// one that computes on the same core. Kernels that don't know of the wish ignore it.
void askForShortSlices() {
  prctl(PR_SET_TIMERSLACK, 1000UL); // nanoseconds
  struct {                          // sched_attr of sched_setattr(2), its first version
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime, deadline, period;
  } attributes = {};
  if (syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0U) != 0 || attributes.policy)
    return;                     // the host has chosen another policy
  attributes.runtime = 100'000; // nanoseconds
  syscall(SYS_sched_setattr, 0, &attributes, 0U);
}

} // namespace

void Background::join(Party &party) {
  std::lock_guard lock(mutex_);
  parties_.push_back(&party);
}

void Background::leave(Party &party) {
  std::lock_guard lock(mutex_);
  std::erase(parties_, &party);
}

void Background::rouse() {
  std::lock_guard lock(mutex_);
  asleep_ = false;
  if (stopped_)
    return;
  if (thread_.joinable())
    return changed_.notify_all();
  sigset_t all, before; // signals are for the host's threads
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    thread_ = std::thread([this] { live(); });
  } catch (const std::system_error &) {
    // Asked again at the next large message: until then whoever waits goes on with it.
    asleep_ = true;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void Background::stop() {
  {
    std::lock_guard lock(mutex_);
    stopped_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable())
    thread_.join();
}

Background::Party::State Background::advanceAll() {
  auto most = Party::State::Idle;
  for (Party *party : parties_)
    most = std::max(most, party->advance());
  return most;
}

void Background::live() {
  isOwnThread();
  NumericMode mode;
  askForShortSlices();
  std::unique_lock lock(mutex_);
  Clock::duration pause = kSoonest;
  int idleLooks = 0;
  while (!stopped_) {
    changed_.wait_for(lock, pause);
    Party::State state = advanceAll();
    pause = state == Party::State::Moved ? kSoonest : std::min(kLatest, 2 * pause);
    idleLooks = state == Party::State::Idle ? idleLooks + 1 : 0;
    if (idleLooks < kIdleLooks)
      continue;
    // Whoever starts something from here on wakes the thread; what came before is seen now.
    asleep_.store(true, std::memory_order_seq_cst);
    if (advanceAll() == Party::State::Idle)
      changed_.wait(lock, [this] { return stopped_ || !asleep_; });
    asleep_ = false;
    pause = kSoonest;
    idleLooks = 0;
  }
}

} // namespace tessera::runtime
