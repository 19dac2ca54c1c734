// Memory that other processes of the machine read and write as their own, without asking the system
// each time: a file without a name, which each of them maps as a whole when it first needs it.
//
//   this process   [ segment ........ block ..... ]   base 0x7f10..
//   a peer         [ view    ........ block ..... ]   elsewhere; the same bytes
//
// Who may look into this process finds the file among those that it has open (process_vm_readv asks the
// same of the system). There is no name to be removed: the file is gone with its last process. A process
// that forks shares it with its child.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

namespace tessera::runtime {

// What a peer needs to find it: plain, sent as bytes. `bytes` 0: there is none.
struct SharedSegment {
  uint64_t file = 0, number = 0; // its descriptor there, and the file system's own number
  uint64_t base = 0, bytes = 0;

  bool operator==(const SharedSegment &) const = default;
};

// Thread-safe.
class SharedMemory {
public:
  // Room for so much; memory is taken when it is first touched. Null where the system has no such
  // files, or where address space is short (`ulimit -v`).
  static std::shared_ptr<SharedMemory> make(size_t bytes);
  ~SharedMemory();
  SharedMemory(const SharedMemory &) = delete;
  SharedMemory &operator=(const SharedMemory &) = delete;

  // 64-byte aligned, large blocks on huge pages where the system gives those to files; null when no room is left. It stays taken: whoever
  // is done with a block uses it again.
  void *take(size_t bytes);
  bool has(const void *data) const;
  const SharedSegment &segment() const { return segment_; }

private:
  SharedMemory() = default;

  SharedSegment segment_;
  std::mutex mutex_; // of what follows
  size_t taken_ = 0;
};

// A peer's segment as this process sees it.
class SharedView {
public:
  // Null where it cannot be mapped: its process has ended, or does not let this one.
  static std::unique_ptr<SharedView> map(int64_t process, const SharedSegment &segment);
  ~SharedView();
  SharedView(const SharedView &) = delete;
  SharedView &operator=(const SharedView &) = delete;

  const SharedSegment &segment() const { return segment_; }
  // What the peer has at `address`; null where that is not in the segment.
  char *at(uint64_t address, uint64_t bytes) const;

private:
  SharedView(const SharedSegment &segment, char *data) : segment_(segment), data_(data) {}

  SharedSegment segment_;
  char *data_;
};

} // namespace tessera::runtime
