// The process of a peer on the same machine: that it has ended is known at once, long before its
// heartbeats are missed.
#pragma once

#include <cstdint>
#include <sys/types.h>

namespace tessera::comm {

// Which process on which machine; sent between ranks as bytes.
struct ProcessName {
  char machine[96]; // the kernel's boot and the namespace of process numbers
  int64_t process;

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

private:
  // Of /proc/PID/stat: false where there is no such process, or only what is left for its parent.
  bool isInTable(int64_t &started) const;

  int handle_ = -1; // pidfd_open's, where the kernel has that
  pid_t process_ = 0;
  int64_t started_ = 0; // so that another process of the same number is not taken for it
};

} // namespace tessera::comm
