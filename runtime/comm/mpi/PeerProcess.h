// The process of a peer on the same machine: that it has ended is known at once, long before its
// heartbeats are missed; that it is stopped, before there are any.
#pragma once

#include <cstdint>
#include <sys/types.h>

namespace tessera::comm {

// Which process on which machine; sent between ranks as bytes.
struct ProcessName {
  char machine[96]; // the kernel's boot and the namespace of process numbers
  char host[64];    // for people
  int64_t process;
  uint64_t known; // an address there, at which `process` stands

  static ProcessName ofThisOne();
};

class PeerProcess {
public:
  PeerProcess() = default; // one that cannot be watched
  explicit PeerProcess(const ProcessName &name);
  ~PeerProcess();
  PeerProcess(PeerProcess &&other) noexcept;
  PeerProcess(const PeerProcess &) = delete;

  // False also where it cannot be told.
  bool hasEnded() const;
  // By SIGSTOP, a terminal or a debugger.
  bool isStopped() const;

private:
  // Of /proc/PID/stat.
  struct Entry {
    char state = 0;      // 0: there is no such process
    int64_t started = 0; // so that another process of the same number is not taken for it

    bool isAlive() const; // more than what is left for its parent
  };
  Entry entry() const;

  int handle_ = -1; // pidfd_open's, where the kernel has that
  pid_t process_ = 0;
  Entry atFirst_;
};

} // namespace tessera::comm
