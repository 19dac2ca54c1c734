#include "lib/files/UnfinishedFile.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <mutex>
#include <pthread.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

namespace tessera::files {

namespace {

constexpr char kPrefix[] = ".tessera-", kSuffix[] = ".partial";
constexpr size_t kDigits = 16, kNameLength = sizeof kPrefix - 1 + kDigits + sizeof kSuffix - 1;

} // namespace

// A name that the process must not leave behind.
struct PendingName {
  std::atomic<pid_t> owner = 0; // 0: unused. A child that was forked leaves its parent's alone
  int directory;
  char name[kNameLength + 1];
};

namespace {

// In static memory, for signal handlers.
PendingName pendingNames[64];
std::atomic_flag namesLocked = ATOMIC_FLAG_INIT;
bool ending = false; // with the names locked

void lockNames() {
  while (namesLocked.test_and_set(std::memory_order_acquire))
    sched_yield();
}

void unlockNames() { namesLocked.clear(std::memory_order_release); }

// Holds the names against other threads, and against handlers in this one.
class NamesGuard {
public:
  NamesGuard() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before_);
    lockNames();
  }
  ~NamesGuard() {
    unlockNames();
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

private:
  sigset_t before_;
};

bool ownsNames() {
  for (const PendingName &pending : pendingNames)
    if (pending.owner == getpid())
      return true;
  return false;
}

// The process is ending: no other thread makes a file afterwards.
void removeAll() {
  if (!ownsNames())
    return;
  lockNames();
  ending = true;
  for (PendingName &pending : pendingNames)
    if (pending.owner == getpid())
      unlinkat(pending.directory, pending.name, 0);
  unlockNames();
}

// Those that end a process unless it says otherwise.
constexpr int kEndingSignals[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGTERM, SIGPIPE,
                                  SIGALRM, SIGXCPU, SIGILL,  SIGABRT, SIGBUS,
                                  SIGFPE,  SIGSEGV, SIGUSR1, SIGUSR2, SIGXFSZ};
struct sigaction before[NSIG];

// Removes the files and hands the signal to what handled it before: by default, the end. A fault
// comes again when the instruction is executed again, with what it was about.
void endBySignal(int signal, siginfo_t *info, void *) {
  removeAll();
  sigaction(signal, &before[signal], nullptr);
  bool fault = info->si_code > 0 &&
               (signal == SIGILL || signal == SIGBUS || signal == SIGFPE || signal == SIGSEGV);
  if (!fault)
    raise(signal);
}

void handleSignals() {
  struct sigaction action = {};
  action.sa_sigaction = endBySignal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigfillset(&action.sa_mask);
  for (int signal : kEndingSignals) {
    sigaction(signal, nullptr, &before[signal]);
    bool ignored = before[signal].sa_handler == SIG_IGN; // nohup
    bool handled = before[signal].sa_handler != SIG_DFL;
    bool isOthers = signal == SIGPIPE || signal == SIGALRM || signal == SIGUSR1 ||
                    signal == SIGUSR2; // a handler of these needs not end the process
    if (!ignored && !(handled && isOthers))
      sigaction(signal, &action, nullptr);
  }
  std::atexit(removeAll);
}

void writeRandomName(char *name) {
  uint64_t bits;
  if (getrandom(&bits, sizeof bits, GRND_NONBLOCK) != sizeof bits) {
    timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    bits = static_cast<uint64_t>(now.tv_sec) * 1000000007 + static_cast<uint64_t>(now.tv_nsec) +
           (static_cast<uint64_t>(getpid()) << 40);
  }
  std::snprintf(name, kNameLength + 1, "%s%016llx%s", kPrefix,
                static_cast<unsigned long long>(bits), kSuffix);
}

bool isUnfinishedName(const char *name) {
  return std::strlen(name) == kNameLength && std::strncmp(name, kPrefix, sizeof kPrefix - 1) == 0 &&
         std::strspn(name + sizeof kPrefix - 1, "0123456789abcdef") == kDigits &&
         std::strcmp(name + sizeof kPrefix - 1 + kDigits, kSuffix) == 0;
}

void removeIfLeftOver(int directory, const char *name) {
  int file = openat(directory, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (file < 0)
    return;
  struct stat opened, named;
  if (fstat(file, &opened) == 0 && S_ISREG(opened.st_mode) && opened.st_uid == geteuid() &&
      flock(file, LOCK_EX | LOCK_NB) == 0 &&
      // Meanwhile it may have been moved to where it belongs.
      fstatat(directory, name, &named, AT_SYMLINK_NOFOLLOW) == 0 && named.st_dev == opened.st_dev &&
      named.st_ino == opened.st_ino)
    unlinkat(directory, name, 0);
  ::close(file);
}

} // namespace

void watchSignals() {
  static std::once_flag once;
  std::call_once(once, handleSignals);
}

int UnfinishedFile::create(int directory, mode_t mode) {
  watchSignals();
  for (int attempt = 0; attempt < 100; ++attempt) {
    {
      NamesGuard guard;
      if (ending)
        return EINTR;
      PendingName *free = nullptr;
      for (PendingName &pending : pendingNames)
        if (pending.owner == 0)
          free = &pending;
      if (!free)
        return EMFILE;
      writeRandomName(free->name);
      free->directory = directory;
      descriptor_ =
          openat(directory, free->name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
      if (descriptor_ < 0 && errno != EEXIST)
        return errno;
      if (descriptor_ < 0)
        continue;
      free->owner = getpid();
      pending_ = free;
    }
    // Before it is locked it looks left over to others: one of them may be removing it.
    struct stat info;
    bool taken = flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (!taken && fstat(descriptor_, &info) == 0 && info.st_nlink == 1)
      return 0;
    remove();
  }
  return EEXIST;
}

int UnfinishedFile::moveTo(const std::string &name) {
  {
    NamesGuard guard;
    if (renameat(pending_->directory, pending_->name, pending_->directory, name.c_str()) != 0)
      return errno;
    pending_->owner = 0;
    pending_ = nullptr;
  }
  close();
  return 0;
}

void UnfinishedFile::remove() {
  if (pending_) {
    NamesGuard guard;
    unlinkat(pending_->directory, pending_->name, 0);
    pending_->owner = 0;
    pending_ = nullptr;
  }
  close();
}

void UnfinishedFile::close() {
  if (descriptor_ >= 0)
    ::close(descriptor_);
  descriptor_ = -1;
}

void removeLeftOvers(int directory) {
  int own = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *entries = own < 0 ? nullptr : fdopendir(own);
  if (!entries) {
    if (own >= 0)
      ::close(own);
    return;
  }
  while (const dirent *entry = readdir(entries))
    if (isUnfinishedName(entry->d_name))
      removeIfLeftOver(directory, entry->d_name);
  closedir(entries);
}

} // namespace tessera::files
