// A thread of the host that carries out tasks itself. To hand a step of some microseconds to workers
// that sleep, and to sleep until they are done, takes several times as long as the step.
#pragma once

#include "runtime/pool/Pool.h"

namespace tessera::runtime {

// As long as it lives, what this thread makes ready goes to the queue of `worker`, a worker of the
// pool that has no thread and is the guest's alone.
class Guest {
public:
  // Threads of the runtime are no guests, and nobody is one twice at a time.
  static bool isPossible();
  explicit Guest(Worker &worker);
  ~Guest();
  Guest(const Guest &) = delete;
  Guest &operator=(const Guest &) = delete;

  // Carries out what is in the queue, until nothing is. From then on workers get what is made ready.
  void carryOut();

private:
  Worker &worker_;
};

} // namespace tessera::runtime
