#include "lib/compiler/ReadTrial.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#define TESSERA_ADDRESS_SANITIZER 1
#endif

namespace tessera {
namespace {

// The address space in use, in bytes.
rlim_t addressSpace() {
  unsigned long pages = 0;
  if (FILE *statm = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(statm, "%lu", &pages) != 1)
      pages = 0;
    std::fclose(statm);
  }
  return rlim_t(pages) * sysconf(_SC_PAGESIZE);
}

[[maybe_unused]] void limit(int resource, rlim_t value) {
  rlimit limits;
  if (getrlimit(resource, &limits) == 0) {
    limits.rlim_cur = std::min(value, limits.rlim_max);
    setrlimit(resource, &limits);
  }
}

[[noreturn]] void child(llvm::function_ref<void()> read, size_t bytes) {
  // A crash ends it at once, without a trace on the terminal or a core file.
  for (int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGXCPU, SIGALRM})
    std::signal(signal, SIG_DFL);
  if (int null = open("/dev/null", O_WRONLY); null >= 0) {
    dup2(null, 1);
    dup2(null, 2);
  }
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_CPU, 8);
  alarm(9);
#ifndef TESSERA_ADDRESS_SANITIZER // whose shadow is larger than any limit
  limit(RLIMIT_AS, addressSpace() + std::max<rlim_t>(rlim_t(2) << 30, 4 * rlim_t(bytes)));
#endif
  read();
  _exit(0);
}

} // namespace

Trial tryInChild(llvm::function_ref<void()> read, size_t bytes) {
  pid_t pid = fork();
  if (pid < 0)
    return Trial::Fine;
  if (pid == 0)
    child(read, bytes);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0)
    if (errno != EINTR)
      return Trial::Fine;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
    return Trial::Fine;
  bool late = WIFSIGNALED(status) && (WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGALRM ||
                                      WTERMSIG(status) == SIGKILL);
  return late ? Trial::TooLong : Trial::Crashed;
}

} // namespace tessera
