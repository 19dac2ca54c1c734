#include "runtime/comm/virtual/StreamEvents.h"

namespace tessera::runtime {

using namespace device::cuda;

StreamEvents::~StreamEvents() {
  backend_.enter();
  for (auto &[key, event] : events_)
    if (event)
      backend_.driver().cuEventDestroy(event);
}

// Null: the driver gives none.
EventHandle StreamEvents::of(uint32_t major, uint32_t minor) {
  std::lock_guard lock(mutex_);
  EventHandle &event = events_[{major, minor}];
  if (!event && backend_.driver().cuEventCreate(&event, kNoTiming) != kSuccess)
    event = nullptr;
  return event;
}

ResultCode StreamEvents::record(uint32_t major, uint32_t minor, Stream stream) {
  EventHandle event = of(major, minor);
  return event ? backend_.driver().cuEventRecord(event, stream) : kOutOfMemory;
}

ResultCode StreamEvents::await(uint32_t major, uint32_t minor, Stream stream) {
  EventHandle event = of(major, minor);
  return event ? backend_.driver().cuStreamWaitEvent(stream, event, 0) : kOutOfMemory;
}

bool StreamEvents::isPast(uint32_t major, uint32_t minor) {
  EventHandle event = of(major, minor);
  return !event || backend_.driver().cuEventQuery(event) != kNotReady;
}

} // namespace tessera::runtime
