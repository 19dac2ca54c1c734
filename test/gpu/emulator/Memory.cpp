#include "test/gpu/emulator/Memory.h"

#include <cstdlib>
#include <cstring>
#include <new>

namespace tessera::emulator {

// "1000,2000": of the first device, and of all others.
Memory::Memory(unsigned devices) : shares_(devices), next_(kDeviceBase) {
  const char *text = std::getenv("TESSERA_EMULATOR_MEMORY");
  size_t total = size_t{4} << 30;
  for (Share &share : shares_) {
    if (text && *text) {
      char *end = nullptr;
      total = std::strtoull(text, &end, 10);
      text = *end == ',' ? end + 1 : end;
    }
    share.total = total;
  }
}

uint64_t Memory::allocate(size_t bytes, unsigned device) {
  Share &share = shares_[device];
  if (share.used + bytes > share.total)
    return 0;
  Block block;
  block.size = bytes;
  block.device = device;
  block.bytes.reset(new (std::nothrow) uint8_t[bytes ? bytes : 1]);
  if (!block.bytes)
    return 0;
  std::memset(block.bytes.get(), 0xff, bytes);
  // Addresses are not used again, and far apart.
  uint64_t address = next_;
  next_ += (bytes + 4096 + 255) / 256 * 256;
  share.used += bytes;
  blocks_[address] = std::move(block);
  return address;
}

bool Memory::release(uint64_t address) {
  auto it = blocks_.find(address);
  if (it == blocks_.end())
    return false;
  shares_[it->second.device].used -= it->second.size;
  blocks_.erase(it);
  return true;
}

uint64_t Memory::allocateFromPool(size_t bytes, unsigned device) {
  Share &share = shares_[device];
  std::set<uint64_t> &free = share.pool[bytes];
  if (free.empty())
    return allocate(bytes, device);
  uint64_t address = *free.begin();
  Block &block = blocks_[address];
  if (share.used + bytes > share.total)
    return 0;
  free.erase(free.begin());
  share.used += bytes;
  block.isFree = false;
  std::memset(block.bytes.get(), 0xff, bytes);
  return address;
}

bool Memory::releaseToPool(uint64_t address) {
  auto it = blocks_.find(address);
  if (it == blocks_.end() || it->second.isFree)
    return false;
  Share &share = shares_[it->second.device];
  share.used -= it->second.size;
  it->second.isFree = true;
  share.pool[it->second.size].insert(address);
  return true;
}

Memory::Block *Memory::find(uint64_t address, size_t bytes, size_t &offset) {
  auto after = blocks_.upper_bound(address);
  if (after == blocks_.begin())
    return nullptr;
  auto &[first, block] = *std::prev(after);
  offset = address - first;
  bool isInside = offset <= block.size && bytes <= block.size - offset;
  bool isReached = !kernelOf || *kernelOf == block.device;
  return isInside && isReached && !block.isFree ? &block : nullptr;
}

uint8_t *Memory::translate(uint64_t address, size_t bytes) {
  if (!isOfDevice(address))
    return reinterpret_cast<uint8_t *>(address);
  size_t offset;
  Block *block = find(address, bytes, offset);
  return block ? block->bytes.get() + offset : nullptr;
}

std::string Memory::note(uint64_t address, size_t bytes, bool isWrite, uint32_t launch) {
  size_t offset;
  Block *block = isOfDevice(address) ? find(address, bytes, offset) : nullptr;
  if (!block || !bytes || (block->traces.empty() && !launch))
    return "";
  for (size_t i = offset; i < offset + bytes; ++i) {
    Trace &trace = block->traces[i];
    bool meetsWrite = trace.written.launch && !isOver(trace.written.launch);
    if (meetsWrite || (isWrite && trace.read.launch && !isOver(trace.read.launch)))
      return std::string(isWrite ? "writes" : "reads") + " byte " + std::to_string(i) + " of " +
             std::to_string(block->size) + ", which a command of another stream " +
             (meetsWrite ? "writes" : "reads") + ", with no event between";
    Trace::Access now;
    now.launch = launch;
    now.block = now.thread = Trace::kSeveral;
    if (launch)
      (isWrite ? trace.written : trace.read) = now;
  }
  return "";
}

} // namespace tessera::emulator
