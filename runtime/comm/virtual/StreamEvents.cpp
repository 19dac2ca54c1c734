#include "runtime/comm/virtual/StreamEvents.h"

namespace tessera::runtime {

using namespace device::cuda;

StreamEvents::~StreamEvents() {
  backend_.enter();
  for (auto &[key, event] : events_)
    if (event.handle)
      backend_.driver().cuEventDestroy(event.handle);
}

StreamEvent *StreamEvents::of(uint32_t major, uint32_t minor) {
  std::lock_guard lock(mutex_);
  StreamEvent &event = events_[{major, minor}];
  if (event.handle)
    return &event;
  backend_.enter();
  if (backend_.driver().cuEventCreate(&event.handle, kNoTiming) != kSuccess)
    event.handle = nullptr;
  return event.handle ? &event : nullptr;
}

ResultCode StreamEvents::record(uint32_t major, uint32_t minor, Stream stream) {
  StreamEvent *event = of(major, minor);
  return event ? backend_.driver().cuEventRecord(event->handle, stream) : kOutOfMemory;
}

ResultCode StreamEvents::await(uint32_t major, uint32_t minor, Stream stream) {
  StreamEvent *event = of(major, minor);
  return event ? backend_.driver().cuStreamWaitEvent(stream, event->handle, 0) : kOutOfMemory;
}

Status StreamEvents::record(uint32_t major, uint32_t minor, Gathering &gathering, uint64_t lane) {
  StreamEvent *event = of(major, minor);
  if (event)
    gathering.record(lane, *event);
  return event ? Status() : Status(Code::ResourceExhausted, "no event");
}

Status StreamEvents::await(uint32_t major, uint32_t minor, Gathering &gathering, uint64_t lane) {
  StreamEvent *event = of(major, minor);
  if (event)
    gathering.await(lane, *event);
  return event ? Status() : Status(Code::ResourceExhausted, "no event");
}

bool StreamEvents::isPast(uint32_t major, uint32_t minor) {
  StreamEvent *event = of(major, minor);
  return !event || backend_.driver().cuEventQuery(event->handle) != kNotReady;
}

} // namespace tessera::runtime
