#include "runtime/device/cuda/Progress.h"

namespace tessera::runtime::device::cuda {

// The driver lets who gives a stream some 1,000 commands wait for the first of them, for ever where that
// never ends. A launch and its mark are two.
static constexpr size_t kMostMarks = 400;

void Progress::begin() {
  marks_.clear();
  patience_.moved();
  unmarked_ = {};
  lost_ = kSuccess;
}

void Progress::given(uint64_t lane, uint32_t tag) {
  if (unmarked_.commands++ == 0)
    unmarked_.lane = lane, unmarked_.tag = tag;
}

ResultCode Progress::mark(Stream stream) {
  if (result() != kNotReady) { // it had nothing to do
    marks_.clear();
    patience_.moved();
  }
  ResultCode code = marks_.add(stream, unmarked_);
  unmarked_.commands = 0; // what is given next comes behind this one
  if (code != kSuccess)
    lose(code);
  return code;
}

void Progress::advance() {
  if (marks_.advance())
    patience_.moved();
}

bool Progress::isFull() {
  if (marks_.size() >= kMostMarks)
    advance();
  return marks_.size() >= kMostMarks;
}

ResultCode Progress::result() {
  if (lost_ != kSuccess)
    return lost_;
  advance();
  return marks_.size() > 1 ? kNotReady : marks_.last();
}

std::optional<Progress::Hang> Progress::hang(Run &run) {
  advance();
  const Marks::Place *place = marks_.first();
  if (!place || !patience_.isOver(run))
    return std::nullopt;
  return Hang{*place, describeHang(place->commands, patience_.stood())};
}

} // namespace tessera::runtime::device::cuda
