// The memory of the devices that are emulated: blocks with nothing between them, at addresses that the
// host faults at, and of which each is one device's. Each byte knows who read and wrote it last, so that
// races are found.
#pragma once

#include "test/gpu/emulator/Order.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace tessera::emulator {

// Who last read and wrote a byte, in which launch; within a block barriers divide time into epochs.
struct Trace {
  static constexpr uint32_t kSeveral = UINT32_MAX; // threads of the block, or blocks
  struct Access {
    uint32_t launch = 0, block = 0, thread = 0, epoch = 0;
  } read, written;
};

// The traces of a block's bytes: of those that something came to.
class Traces {
public:
  bool empty() const { return pages_.empty(); }
  Trace &operator[](size_t byte) {
    if (byte / kPage >= pages_.size())
      pages_.resize(byte / kPage + 1);
    std::unique_ptr<Page> &page = pages_[byte / kPage];
    if (!page)
      page = std::make_unique<Page>();
    return (*page)[byte % kPage];
  }

private:
  static constexpr size_t kPage = 1024;
  using Page = std::array<Trace, kPage>;
  std::vector<std::unique_ptr<Page>> pages_;
};

class Memory {
public:
  struct Block {
    std::unique_ptr<uint8_t[]> bytes;
    size_t size = 0;
    unsigned device = 0;
    Traces traces;
    bool isFree = false; // but kept by a pool
  };

  explicit Memory(unsigned devices = 1);
  // 256-byte aligned, filled with ones, which no program should read. 0: there is no room.
  uint64_t allocate(size_t bytes, unsigned device = 0);
  bool release(uint64_t address);
  // Of a pool, which gives the first of what it got back to the next who wants as much.
  uint64_t allocateFromPool(size_t bytes, unsigned device = 0);
  bool releaseToPool(uint64_t address);
  // The block that holds all of [address, address + bytes), with the offset there; null: none does, or,
  // of a kernel, that of another device.
  Block *find(uint64_t address, size_t bytes, size_t &offset);
  // Of an address of the device or of the host.
  uint8_t *translate(uint64_t address, size_t bytes);
  // Of a copy or the like, which is command `launch`; 0: the host's, which leaves no trace. What it
  // meets that is not over; "" for nothing.
  std::string note(uint64_t address, size_t bytes, bool isWrite, uint32_t launch);
  // Whether an earlier launch is over before the one that runs now.
  bool isOver(uint32_t launch) const { return !order || order->isOver(launch); }
  const Order *order = nullptr; // of streams; null: everything comes in its turn
  size_t used(unsigned device) const { return shares_[device].used; }
  size_t total(unsigned device) const { return shares_[device].total; }
  // Whose kernel runs, which reaches no other's memory; copies reach all.
  std::optional<unsigned> kernelOf;

private:
  struct Share { // of a device
    size_t used = 0, total = 0;
    std::map<size_t, std::set<uint64_t>> pool; // what is free, by bytes
  };
  std::map<uint64_t, Block> blocks_;
  std::vector<Share> shares_;
  uint64_t next_;
};

// No process has memory there.
constexpr uint64_t kDeviceBase = uint64_t{1} << 62;
inline bool isOfDevice(uint64_t address) { return address >= kDeviceBase; }

} // namespace tessera::emulator
