#include "runtime/pool/Guest.h"
#include "runtime/pool/NumericMode.h"
#include "runtime/pool/OwnThread.h"

namespace tessera::runtime {

namespace {

thread_local bool isGuest = false;

} // namespace

bool Guest::isPossible() { return !isGuest && !onOwnThread(); }

Guest::Guest(Worker &worker) : worker_(worker) {
  isGuest = true;
  Worker::guest = &worker;
}

Guest::~Guest() {
  Worker::guest = nullptr;
  isGuest = false;
}

void Guest::carryOut() {
  NumericMode mode;
  while (Task *task = worker_.pop())
    task->run(worker_);
  Worker::guest = nullptr;
}

} // namespace tessera::runtime
