#include "runtime/comm/nccl/UnderWay.h"
#include <algorithm>

namespace tessera::runtime {

using namespace device::cuda;

static const Status kNoEvent = {Code::ResourceExhausted, "no event of a collective"};

UnderWay::~UnderWay() {
  backend_.enter();
  for (const Given &given : given_)
    release(given);
  free_.insert(free_.end(), turns_.begin(), turns_.end());
  if (begun_)
    free_.push_back(begun_);
  for (EventHandle event : free_)
    backend_.driver().cuEventDestroy(event);
}

void UnderWay::release(const Given &given) {
  free_.insert(free_.end(), {given.begun, given.ended});
  free_.insert(free_.end(), given.turns.begin(), given.turns.end());
}

// Null: the driver gives none.
EventHandle UnderWay::mark(Stream stream) {
  EventHandle event = nullptr;
  if (!free_.empty()) {
    event = free_.back();
    free_.pop_back();
  } else if (backend_.enter(); backend_.driver().cuEventCreate(&event, kNoTiming) != kSuccess) {
    return nullptr;
  }
  backend_.driver().cuEventRecord(event, stream);
  return event;
}

Status UnderWay::begin(Stream stream) {
  if (begun_) // of a collective that was not given
    free_.push_back(begun_);
  free_.insert(free_.end(), turns_.begin(), turns_.end());
  turns_.clear();
  begun_ = mark(stream);
  return begun_ ? Status() : kNoEvent;
}

Status UnderWay::turn(Stream stream) {
  EventHandle event = mark(stream);
  if (!event)
    return kNoEvent;
  turns_.push_back(event);
  return {};
}

Status UnderWay::end(Stream stream, const CollectivePlan &plan) {
  last_ = &plan;
  EventHandle ended = mark(stream);
  if (!ended)
    return kNoEvent;
  given_.push_back({&plan, std::exchange(begun_, nullptr), ended, std::exchange(turns_, {})});
  return {};
}

// Or never will be: a stream that failed is past everything.
static bool isPast(const Driver &driver, EventHandle event) {
  return driver.cuEventQuery(event) != kNotReady;
}

void UnderWay::forgetEnded() {
  for (; first() && isPast(backend_.driver(), given_.front().ended); given_.pop_front(), ++ended_)
    release(given_.front());
}

bool UnderWay::isIn() const { return first() && isPast(backend_.driver(), given_.front().begun); }

bool UnderWay::isAtMessages() const {
  if (!first())
    return false;
  auto isOver = [&](EventHandle event) { return isPast(backend_.driver(), event); };
  return std::ranges::count_if(given_.front().turns, isOver) % 2 == 1;
}

} // namespace tessera::runtime
