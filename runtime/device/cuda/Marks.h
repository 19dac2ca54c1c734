// How far streams have come with what they were given: events behind commands, in the order in which
// these were given.
//
//   launch a | a   launch b | b   graph of c, d, .. | c and those after it
//
// Of the first that is not over the command waits for nobody: all that was given before it is over. So it
// is the one that the GPU stands at.
#pragma once

#include "runtime/device/cuda/Driver.h"
#include <deque>
#include <vector>

namespace tessera::runtime::device::cuda {

// Not thread-safe. The GPU is the one that the thread has entered.
class Marks {
public:
  // So many commands, of which this is the first; none: what comes behind this one.
  struct Place {
    static constexpr uint64_t kNowhere = UINT64_MAX; // before any command
    uint64_t lane = kNowhere;
    uint32_t tag = 0;
    uint32_t commands = 0;
  };

  explicit Marks(const Driver &driver) : driver_(driver) {}
  ~Marks();
  Marks(const Marks &) = delete;
  Marks &operator=(const Marks &) = delete;

  // Behind what the stream was given so far.
  ResultCode add(Stream stream, const Place &place);
  // Forgets what is over, but for the last: whether there was something.
  bool advance();
  // What has become of the last one: kNotReady where it is not over. Of none: success.
  ResultCode last() const;
  size_t size() const { return marks_.size(); }
  // Where the GPU stands while the last is not over; null where there is none.
  const Place *first() const { return marks_.empty() ? nullptr : &marks_.front().place; }
  // Nothing is under way any more.
  void clear();

private:
  struct Mark {
    EventHandle event;
    Place place;
  };

  const Driver &driver_;
  std::deque<Mark> marks_;
  std::vector<EventHandle> free_;
};

} // namespace tessera::runtime::device::cuda
