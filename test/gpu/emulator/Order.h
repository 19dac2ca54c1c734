// Which commands of streams are over before which: by the events and waits that say so, whatever the
// times at which they happened to run. A vector clock for each stream, and for the host.
//
//   stream 1   write x   record e                 clock of 1: {1: 1}
//   stream 2             wait e   read x          knows {1: 1}: the write is over
//   stream 3                      read x          does not: an error, even where it came late enough
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace tessera::emulator {

class Order {
public:
  using Clock = std::vector<uint64_t>; // by stream, the host being 0: commands that are over
  static constexpr uint32_t kHost = 0;

  uint32_t newStream() {
    clocks_.emplace_back();
    return static_cast<uint32_t>(clocks_.size() - 1);
  }
  const Clock &clockOf(uint32_t stream) const { return clocks_[stream]; }
  void join(uint32_t stream, const Clock &other) {
    Clock &own = clocks_[stream];
    if (own.size() < other.size())
      own.resize(other.size());
    for (size_t i = 0; i < other.size(); ++i)
      own[i] = own[i] < other[i] ? other[i] : own[i];
  }
  // The next command of a stream: its number among all, from 1. It is the current one.
  uint32_t begin(uint32_t stream) {
    Clock &own = clocks_[stream];
    if (own.size() <= stream)
      own.resize(stream + 1);
    past_.emplace_back(stream, ++own[stream]);
    current_ = stream;
    return static_cast<uint32_t>(past_.size() - 1);
  }
  // Whether a command is over before the current one.
  bool isOver(uint32_t command) const {
    auto [stream, number] = past_[command];
    const Clock &own = clocks_[current_];
    return stream < own.size() && own[stream] >= number;
  }

private:
  std::vector<Clock> clocks_{1};
  std::vector<std::pair<uint32_t, uint64_t>> past_{
      {0, 0}}; // by command: its stream, and number there
  uint32_t current_ = kHost;
};

} // namespace tessera::emulator
