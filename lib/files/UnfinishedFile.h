// A file that is being written, under a name of its own in the directory of the file that it will
// be:
//
//   OUT.tsr                              what readers see: the old file or the new one, whole
//   .tessera-91c0f3a6d2b47e58.partial    what is written, until it is moved over OUT.tsr
//
// The name is made with O_EXCL, so it is nobody else's, and its file is locked (flock) as long as
// the process lives that writes it. A process that ends early removes its unfinished files: on
// failure, at exit, and on the signals that end a process, which it then still dies of. After
// SIGKILL a file is left, but its lock is free: whoever next writes into the directory removes it.
#pragma once

#include <string>
#include <sys/types.h>

namespace tessera::files {

class UnfinishedFile {
public:
  UnfinishedFile() = default;
  ~UnfinishedFile() { remove(); }
  UnfinishedFile(const UnfinishedFile &) = delete;
  UnfinishedFile &operator=(const UnfinishedFile &) = delete;

  // Makes and opens one in a directory, whose descriptor stays the caller's and must stay open.
  // 0 or errno.
  int create(int directory, mode_t mode);
  // -1 without a file.
  int descriptor() const { return descriptor_; }
  bool isPending() const { return pending_ != nullptr; }
  // Moves it over `name` in its directory and closes it. 0 or errno.
  int moveTo(const std::string &name);
  // Without effect where there is no file, or no longer.
  void remove();

private:
  void close();

  int descriptor_ = -1;
  struct PendingName *pending_ = nullptr;
};

// Has unfinished files removed on signals, from the first file on at the latest. Who installs
// handlers of other libraries, which may not leave ignored signals ignored (nohup), calls this
// before.
void watchSignals();

// Removes what processes that were killed left in the directory, never what a live one writes.
void removeLeftOvers(int directory);

} // namespace tessera::files
