#include "runtime/comm/mpi/PeerProcess.h"
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <poll.h>
#include <string>
#include <sys/syscall.h>
#include <unistd.h>

namespace tessera::comm {

ProcessName ProcessName::ofThisOne() {
  ProcessName name = {};
  static int64_t process;
  process = getpid();
  name.process = process;
  name.known = reinterpret_cast<uint64_t>(&process);
  gethostname(name.host, sizeof name.host - 1);
  char boot[40] = "", space[40] = "";
  if (FILE *file = std::fopen("/proc/sys/kernel/random/boot_id", "re")) {
    if (std::fscanf(file, "%39s", boot) != 1)
      boot[0] = '\0';
    std::fclose(file);
  }
  ssize_t length = readlink("/proc/self/ns/pid", space, sizeof space - 1);
  if (length > 0 && *boot)
    std::snprintf(name.machine, sizeof name.machine, "%s %s", boot, space);
  return name;
}

PeerProcess::PeerProcess(const ProcessName &name) {
  ProcessName own = ProcessName::ofThisOne();
  if (!*own.machine || std::strncmp(own.machine, name.machine, sizeof own.machine) != 0)
    return;
  process_ = static_cast<pid_t>(name.process);
#ifdef SYS_pidfd_open
  handle_ = static_cast<int>(syscall(SYS_pidfd_open, process_, 0));
#endif
  atFirst_ = entry();
  if (handle_ < 0 && !atFirst_.isAlive())
    process_ = 0;
}

PeerProcess::PeerProcess(PeerProcess &&other) noexcept
    : handle_(other.handle_), process_(other.process_), atFirst_(other.atFirst_) {
  other.handle_ = -1;
}

PeerProcess::~PeerProcess() {
  if (handle_ >= 0)
    close(handle_);
}

bool PeerProcess::Entry::isAlive() const { return state && state != 'Z' && state != 'X'; }

PeerProcess::Entry PeerProcess::entry() const {
  FILE *file = std::fopen(("/proc/" + std::to_string(process_) + "/stat").c_str(), "re");
  if (!file)
    return {};
  char text[1024];
  size_t length = std::fread(text, 1, sizeof text - 1, file);
  std::fclose(file);
  text[length] = '\0';
  const char *at = std::strrchr(text, ')'); // of the name, which may have anything in it
  char state = 0;
  long long started = 0;
  // The state is field 3, the time of the start field 22 (proc(5)).
  if (!at || std::sscanf(at + 1,
                         " %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
                         "%*s %*s %*s %*s %lld",
                         &state, &started) != 2)
    return {};
  return {state, started};
}

bool PeerProcess::hasEnded() const {
  if (!process_)
    return false;
  if (handle_ >= 0) {
    pollfd ended = {handle_, POLLIN, 0};
    return poll(&ended, 1, 0) > 0;
  }
  Entry now = entry();
  return !now.isAlive() || now.started != atFirst_.started;
}

bool PeerProcess::isStopped() const {
  if (!process_)
    return false;
  Entry now = entry();
  return now.started == atFirst_.started && (now.state == 'T' || now.state == 't');
}

} // namespace tessera::comm
