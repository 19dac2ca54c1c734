#include "lib/files/Write.h"

#include <cerrno>
#include <ctime>
#include <poll.h>
#include <unistd.h>

namespace tessera::files {

static sigset_t sizeSignal() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGXFSZ);
  return set;
}

SizeLimitIsAnError::SizeLimitIsAnError() {
  sigset_t pending, set = sizeSignal();
  wasPending_ = sigpending(&pending) == 0 && sigismember(&pending, SIGXFSZ) == 1;
  pthread_sigmask(SIG_BLOCK, &set, &before_);
}

SizeLimitIsAnError::~SizeLimitIsAnError() {
  sigset_t set = sizeSignal();
  timespec now = {};
  while (!wasPending_ && sigtimedwait(&set, nullptr, &now) < 0 && errno == EINTR)
    ;
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

int writeAll(int descriptor, std::string_view bytes) {
  SizeLimitIsAnError here;
  while (!bytes.empty()) {
    ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written > 0)
      bytes.remove_prefix(written);
    else if (written == 0)
      return EIO;
    else if (errno == EAGAIN) { // standard output, where somebody made it so
      pollfd ready = {descriptor, POLLOUT, 0};
      poll(&ready, 1, -1);
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

} // namespace tessera::files
