#include "runtime/pool/Run.h"

namespace tessera::runtime {

void Run::begin(int32_t devices) {
  devices_ = devices;
  ended_ = 0;
  active_ = 0;
  failed_ = false;
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
  if (active_.fetch_sub(1, std::memory_order_acq_rel) != 1)
    return;
  if (!failed() && ended_.load(std::memory_order_relaxed) != devices_) {
    hold();
    fail(describeStall()); // wakes the stalled devices, which end
    return retire();
  }
  over();
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

bool Run::tryHold() {
  int32_t active = active_.load(std::memory_order_relaxed);
  do {
    if (active == 0)
      return false;
  } while (!active_.compare_exchange_weak(active, active + 1, std::memory_order_acq_rel));
  return true;
}

bool Run::failFromOutside(Status status) {
  if (!tryHold())
    return false;
  bool first = fail(std::move(status));
  retire();
  return first;
}

Status Run::status() {
  std::lock_guard lock(mutex_);
  return status_;
}

} // namespace tessera::runtime
