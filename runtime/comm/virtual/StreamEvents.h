// Events of streams by two numbers, made when they are first wanted.
#pragma once

#include "runtime/device/cuda/Gathering.h"
#include <map>
#include <mutex>

namespace tessera::runtime {

class StreamEvents {
public:
  explicit StreamEvents(const device::CudaBackend &backend) : backend_(backend) {}
  ~StreamEvents();
  StreamEvents(const StreamEvents &) = delete;
  StreamEvents &operator=(const StreamEvents &) = delete;

  // From here on, who waits for the event waits for what the stream has been given so far.
  device::cuda::ResultCode record(uint32_t major, uint32_t minor, device::cuda::Stream stream);
  device::cuda::ResultCode await(uint32_t major, uint32_t minor, device::cuda::Stream stream);
  // The same in a lane of a gathering.
  Status record(uint32_t major, uint32_t minor, device::cuda::Gathering &gathering, uint64_t lane);
  Status await(uint32_t major, uint32_t minor, device::cuda::Gathering &gathering, uint64_t lane);
  // Whether the stream has come so far, or never will: it failed.
  bool isPast(uint32_t major, uint32_t minor);

private:
  device::cuda::StreamEvent *of(uint32_t major, uint32_t minor); // null: the driver gives none

  const device::CudaBackend &backend_;
  std::mutex mutex_; // of the table
  std::map<std::pair<uint32_t, uint32_t>, device::cuda::StreamEvent> events_;
};

} // namespace tessera::runtime
