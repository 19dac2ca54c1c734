// Ends runs that take too long, from a thread of its own: the workers may all be busy with them.
#pragma once

#include "runtime/pool/Run.h"
#include <condition_variable>
#include <map>
#include <thread>

namespace tessera::runtime {

// Thread-safe. The thread begins with the first limit.
class Deadlines {
public:
  Deadlines() = default;
  ~Deadlines();
  Deadlines(const Deadlines &) = delete;
  Deadlines &operator=(const Deadlines &) = delete;

  // From the owner of a run that is being executed and has none: at `deadline` (of Pool::now) it
  // fails with DeadlineExceeded. Fails when there is no room for a thread.
  Status set(Run &run, int64_t deadline);
  // Before the run may begin again or go away.
  void clear(Run &run);

private:
  void watch();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::multimap<int64_t, Run *> runs_;
  std::map<Run *, std::multimap<int64_t, Run *>::iterator> places_;
  int64_t wakes_ = INT64_MAX; // when the thread looks again by itself
  bool stop_ = false;
  std::thread thread_;
};

} // namespace tessera::runtime
