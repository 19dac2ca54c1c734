#include "runtime/execute/Run.h"
#include "runtime/execute/Futex.h"

namespace tessera::runtime {

void Run::begin(int32_t devices) {
  devices_ = devices;
  ended_ = 0;
  active_ = 0;
  failed_ = false;
  over_ = 0;
  status_ = Status();
}

void Run::wake(Task *chain) {
  if (!chain)
    return;
  int32_t count = 0;
  for (Task *task = chain; task; task = task->next)
    ++count;
  active_.fetch_add(count, std::memory_order_relaxed);
  pool_.push(chain);
}

void Run::retire() {
  if (active_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    over_.store(1, std::memory_order_release);
    futexWake(over_);
  }
}

void Run::fail(Status status) {
  {
    std::lock_guard lock(mutex_);
    if (failed_)
      return;
    status_ = std::move(status);
    failed_ = true;
  }
  if (wakeAll)
    wakeAll();
}

void Run::failFromOutside(Status status) {
  hold();
  fail(std::move(status));
  retire();
}

Status Run::status() {
  std::lock_guard lock(mutex_);
  return status_;
}

bool Run::wait() {
  while (over_.load(std::memory_order_acquire) == 0)
    futexWait(over_, 0);
  over_.store(0, std::memory_order_relaxed);
  return failed() || ended_.load(std::memory_order_relaxed) == devices_;
}

} // namespace tessera::runtime
