#include "runtime/device/cuda/Marks.h"

namespace tessera::runtime::device::cuda {

Marks::~Marks() {
  clear();
  for (EventHandle event : free_)
    driver_.cuEventDestroy(event);
}

ResultCode Marks::add(Stream stream, const Place &place) {
  EventHandle event = nullptr;
  if (!free_.empty()) {
    event = free_.back();
    free_.pop_back();
  } else if (ResultCode code = driver_.cuEventCreate(&event, kNoTiming); code != kSuccess) {
    return code;
  }
  marks_.push_back({event, place});
  return driver_.cuEventRecord(event, stream);
}

bool Marks::advance() {
  size_t before = marks_.size();
  for (; marks_.size() > 1 && driver_.cuEventQuery(marks_.front().event) != kNotReady;
       marks_.pop_front())
    free_.push_back(marks_.front().event);
  return marks_.size() != before;
}

ResultCode Marks::last() const {
  return marks_.empty() ? kSuccess : driver_.cuEventQuery(marks_.back().event);
}

void Marks::clear() {
  for (const Mark &mark : marks_)
    free_.push_back(mark.event);
  marks_.clear();
}

} // namespace tessera::runtime::device::cuda
