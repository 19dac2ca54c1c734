#include "runtime/device/Event.h"
#include "runtime/pool/Futex.h"
#include "runtime/pool/Pool.h"

namespace tessera::runtime::device {

const std::shared_ptr<Event> &Event::past() {
  static const auto &event = *new std::shared_ptr<Event>([] {
    auto made = std::make_shared<Event>();
    made->signal();
    return made;
  }());
  return event;
}

const Status &Event::wait() {
  while (!ready())
    futexWait(ready_, 0);
  return status_;
}

bool Event::waitUntil(int64_t deadline) {
  while (!ready()) {
    int64_t left = deadline - Pool::now();
    if (left <= 0)
      return false;
    futexWait(ready_, 0, left);
  }
  return true;
}

void Event::then(std::function<void()> action) {
  {
    std::lock_guard lock(mutex_);
    if (!ready()) {
      actions_.push_back(std::move(action));
      return;
    }
  }
  action();
}

void Event::signal(Status status) {
  std::vector<std::function<void()>> actions;
  {
    std::lock_guard lock(mutex_);
    status_ = std::move(status);
    ready_.store(1, std::memory_order_release);
    actions.swap(actions_);
    futexWake(ready_);
  }
  for (auto &action : actions)
    action();
}

} // namespace tessera::runtime::device
