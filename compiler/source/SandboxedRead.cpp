#include "compiler/source/SandboxedRead.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <dirent.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#define TESSERA_ADDRESS_SANITIZER 1
#endif

namespace tessera {

uint64_t addressSpaceInUse() {
  unsigned long pages = 0;
  if (FILE *statm = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(statm, "%lu", &pages) != 1)
      pages = 0;
    std::fclose(statm);
  }
  return uint64_t(pages) * sysconf(_SC_PAGESIZE);
}

namespace {

[[maybe_unused]] void limit(int resource, rlim_t value) {
  rlimit limits;
  if (getrlimit(resource, &limits) == 0) {
    limits.rlim_cur = std::min(value, limits.rlim_max);
    setrlimit(resource, &limits);
  }
}

[[noreturn]] void child(llvm::function_ref<std::string()> read, size_t bytes, int to) {
  // A crash ends it at once, without a trace on the terminal or a core file.
  for (int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGXCPU, SIGALRM})
    std::signal(signal, SIG_DFL);
  if (int null = open("/dev/null", O_WRONLY); null >= 0) {
    dup2(null, 1);
    dup2(null, 2);
  }
  // It does not outlive who waits for it, nor keep what that one holds.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  limit(RLIMIT_CORE, 0);
  auto seconds = static_cast<unsigned>(2 + (bytes >> 20));
  limit(RLIMIT_CPU, seconds);
  alarm(30 + 4 * seconds);        // of a machine that has much else to do
#ifndef TESSERA_ADDRESS_SANITIZER // whose shadow is larger than any limit
  limit(RLIMIT_AS, addressSpaceInUse() + std::max<rlim_t>(rlim_t(2) << 30, 8 * rlim_t(bytes)));
#endif
  std::string output = read();
  for (size_t at = 0; at < output.size();) {
    ssize_t written = write(to, output.data() + at, output.size() - at);
    if (written <= 0)
      _exit(1);
    at += written;
  }
  _exit(0);
}

bool hasOtherThreads() {
  int threads = 0;
  if (DIR *tasks = opendir("/proc/self/task")) {
    while (dirent *task = readdir(tasks))
      threads += task->d_name[0] != '.';
    closedir(tasks);
  }
  return threads != 1;
}

} // namespace

SandboxedRead readSandboxed(llvm::function_ref<std::string()> read, size_t bytes) {
  int ends[2];
  if (hasOtherThreads() || pipe2(ends, O_CLOEXEC) != 0)
    return {ReadEnd::NotTried, ""};
  pid_t pid = fork();
  if (pid == 0)
    child(read, bytes, ends[1]);
  close(ends[1]);
  SandboxedRead result{ReadEnd::NotTried, ""};
  char part[1 << 16];
  while (pid > 0) {
    ssize_t n = ::read(ends[0], part, sizeof part);
    if (n > 0)
      result.output.append(part, n);
    else if (n == 0 || errno != EINTR)
      break;
  }
  close(ends[0]);
  int status = 0;
  while (pid > 0 && waitpid(pid, &status, 0) < 0)
    if (errno != EINTR)
      return result;
  if (pid < 0)
    return result;
  bool late = WIFSIGNALED(status) && (WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGALRM ||
                                      WTERMSIG(status) == SIGKILL);
  result.end = WIFEXITED(status) && WEXITSTATUS(status) == 0 ? ReadEnd::Fine
               : late                                        ? ReadEnd::TooLong
                                                             : ReadEnd::Crashed;
  return result;
}

} // namespace tessera
