#include "runtime/pool/Run.h"
#include "runtime/pool/Futex.h"

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

bool Run::fail(Status status) {
  {
    std::lock_guard lock(mutex_);
    if (failed_)
      return false;
    status_ = std::move(status);
    failed_ = true;
  }
  if (wakeAll)
    wakeAll();
  return true;
}

bool Run::failFromOutside(Status status) {
  hold();
  bool first = fail(std::move(status));
  retire();
  return first;
}

Status Run::status() {
  std::lock_guard lock(mutex_);
  return status_;
}

Run::End Run::wait(int64_t deadline) {
  while (over_.load(std::memory_order_acquire) == 0) {
    int64_t left = deadline == INT64_MAX ? -1 : deadline - Pool::now();
    if (deadline != INT64_MAX && left <= 0)
      return End::TooLate;
    futexWait(over_, 0, left);
  }
  over_.store(0, std::memory_order_relaxed);
  return failed() || ended_.load(std::memory_order_relaxed) == devices_ ? End::Done : End::Stalled;
}

} // namespace tessera::runtime
