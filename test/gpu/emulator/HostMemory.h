// The pinned memory of the host that a program takes and gives back. As commands are late, what is given back while
// one of them has still to read or write it shows: for a while no block is used again, and a copy from or to one fails.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>

namespace tessera::emulator {

// Not thread-safe.
class HostMemory {
public:
  void *allocate(size_t bytes); // of bytes that are nobody's numbers; null: there is none
  bool release(void *memory);
  // Whether something of [address, address + bytes) has been given back.
  bool isGivenBack(uint64_t address, size_t bytes) const;

private:
  std::map<uint64_t, size_t> taken_, givenBack_; // bytes of blocks by address
  std::deque<uint64_t> oldest_;
  size_t kept_ = 0; // bytes of what was given back
};

} // namespace tessera::emulator
