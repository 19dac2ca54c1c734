// Blocks of the host's memory; those that are freed are kept for the next step, so that a training
// loop meets no page faults after its first one. Those smaller than a huge page lie side by side on
// huge pages: a model has hundreds of them, and small pages for all are more than a core's TLB has.
#pragma once

#include "runtime/SharedMemory.h"
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace tessera::runtime::device {

// Thread-safe.
class BlockPool {
public:
  // `shared`: where large blocks lie that other processes reach, or null.
  explicit BlockPool(std::shared_ptr<SharedMemory> shared = nullptr) : shared_(std::move(shared)) {}
  ~BlockPool();
  BlockPool(const BlockPool &) = delete;
  BlockPool &operator=(const BlockPool &) = delete;

  // Contents are unspecified. Null when there is no memory.
  void *take(size_t bytes);
  void giveBack(void *data, size_t bytes);
  const std::shared_ptr<SharedMemory> &shared() const { return shared_; }

private:
  void *takeKept(size_t bytes);
  void *takeBeside(size_t bytes);
  void free(void *data) const;

  const std::shared_ptr<SharedMemory> shared_;
  std::mutex mutex_; // of what follows
  // Memory that blocks are cut from, one after the other, and what is left of the last.
  std::vector<std::byte *> slabs_;
  size_t left_ = 0;
  std::map<size_t, std::vector<void *>> free_; // by bytes
};

// A mapped file without a name in the directory for temporary files; null when there is no room.
void *mapFile(size_t bytes);
void unmapFile(void *data, size_t bytes);

} // namespace tessera::runtime::device
