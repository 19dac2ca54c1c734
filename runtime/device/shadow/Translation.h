// The addresses of shadow's memory: those of the host's memory that it really is, with bit 62 set.
// No process has memory there, so that whoever dereferences one faults.
#pragma once

#include "runtime/device/Memory.h"
#include <map>
#include <shared_mutex>

namespace tessera::runtime::device {

// What is allocated, in the whole process: arrays of one session are another's inputs. Thread-safe.
class Translation {
public:
  static Translation &ofProcess();

  Address add(void *data, size_t bytes);
  // What add got.
  void *remove(Address address);
  // Null for what is no address of memory that is held (its end is one).
  void *translate(Address address) const;

private:
  mutable std::shared_mutex mutex_;
  std::map<uint64_t, size_t> blocks_; // bytes by address
};

} // namespace tessera::runtime::device
