#include "runtime/client/Deadlines.h"
#include "runtime/pool/OwnThread.h"
#include <chrono>
#include <system_error>

namespace tessera::runtime {

Deadlines::~Deadlines() {
  if (!thread_.joinable())
    return;
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

Status Deadlines::set(Run &run, int64_t deadline) {
  std::unique_lock lock(mutex_);
  if (!thread_.joinable()) {
    try {
      thread_ = std::thread([this] { watch(); });
    } catch (const std::system_error &e) {
      return {Code::ResourceExhausted,
              "the thread of time limits cannot be made: " + e.code().message()};
    }
  }
  places_[&run] = runs_.emplace(deadline, &run);
  if (deadline < wakes_) {
    lock.unlock();
    changed_.notify_one();
  }
  return {};
}

void Deadlines::clear(Run &run) {
  std::lock_guard lock(mutex_);
  auto place = places_.find(&run);
  if (place == places_.end())
    return;
  runs_.erase(place->second);
  places_.erase(place);
}

void Deadlines::watch() {
  isOwnThread();
  std::unique_lock lock(mutex_);
  while (!stop_) {
    wakes_ = runs_.empty() ? INT64_MAX : runs_.begin()->first;
    if (int64_t left = wakes_ - Pool::now(); wakes_ == INT64_MAX) {
      changed_.wait(lock);
    } else if (left > 0) {
      changed_.wait_for(lock, std::chrono::nanoseconds(left));
    } else {
      Run *run = runs_.begin()->second;
      places_.erase(run);
      runs_.erase(runs_.begin());
      if (!run->tryHold()) // over: its owner is about to clear it
        continue;
      lock.unlock();
      run->fail({Code::DeadlineExceeded, "the time limit has passed"});
      run->retire();
      lock.lock();
    }
  }
}

} // namespace tessera::runtime
