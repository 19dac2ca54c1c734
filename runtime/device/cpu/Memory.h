// Host memory for device buffers: 64-byte aligned, large blocks on huge pages, freed blocks kept
// for the next step so that a training loop meets no page faults after its first one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace tessera::runtime {

class BufferPool;

// Owned memory; goes back to its pool.
class Buffer {
public:
  Buffer(std::shared_ptr<BufferPool> pool, void *data, size_t bytes)
      : pool_(std::move(pool)), data_(data), bytes_(bytes) {}
  ~Buffer();
  Buffer(const Buffer &) = delete;
  Buffer &operator=(const Buffer &) = delete;
  void *data() const { return data_; }
  size_t bytes() const { return bytes_; }

private:
  std::shared_ptr<BufferPool> pool_;
  void *data_;
  size_t bytes_;
};

// Thread-safe.
class BufferPool : public std::enable_shared_from_this<BufferPool> {
public:
  ~BufferPool();
  // Contents are unspecified. Null when there is no memory.
  std::shared_ptr<Buffer> allocate(size_t bytes);

private:
  friend class Buffer;
  void release(void *data, size_t bytes);

  std::mutex mutex_;
  std::map<size_t, std::vector<void *>> free_;
};

// Null when there is no memory.
void *allocateAligned(size_t bytes);
void freeAligned(void *data);

// What the machine has, or this process may take, in bytes.
uint64_t mostMemory();

} // namespace tessera::runtime
