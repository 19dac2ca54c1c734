// A thread of the runtime carries out what others have given it, and that may let go of the last
// owner of the very object which ends the thread by joining it: a copy that holds its device's
// memory, or a host's own function that frees the client when a step is over.
#pragma once

#include <system_error>
#include <thread>

namespace tessera::runtime {

// Said first by each thread that an object of the runtime joins.
void isOwnThread();
bool onOwnThread();

// Deletes what joins threads of the runtime, on a thread that is none of them.
struct JoinsOwnThreads {
  template <class T> void operator()(T *object) const {
    if (!onOwnThread()) {
      delete object;
      return;
    }
    try {
      std::thread([object] { delete object; }).detach();
    } catch (const std::system_error &) {
      // No room for a thread: it stays, and its threads sleep.
    }
  }
};

} // namespace tessera::runtime
