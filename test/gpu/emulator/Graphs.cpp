// Graphs: what streams are given while it is captured, with what they wait for of each other.
#include "test/gpu/emulator/Streams.h"

#include <algorithm>
#include <atomic>

namespace tessera::emulator {

std::vector<Graph::Step> &Capture::laneOf(Stream *stream) {
  auto found = std::find(streams_.begin(), streams_.end(), stream);
  auto lane = static_cast<size_t>(found - streams_.begin());
  if (found == streams_.end()) {
    streams_.push_back(stream);
    graph_.lanes.emplace_back();
  }
  return graph_.lanes[lane];
}

void Capture::add(Stream *stream, Action action) {
  auto &lane = laneOf(stream);
  if (lane.empty() || lane.back().records || lane.back().awaits)
    lane.emplace_back();
  lane.back().actions.push_back(std::move(action));
}

void Capture::record(Stream *stream, Event *event) {
  auto &lane = laneOf(stream);
  lane.push_back({{}, graph_.records, {}});
  auto number = static_cast<size_t>(&lane - graph_.lanes.data());
  places_.emplace_back(number, lane.size());
  event->last = nullptr;
  event->capture = shared_from_this();
  event->record = graph_.records++;
}

void Capture::await(Stream *stream, const Event *event) {
  stream->capture = shared_from_this();
  laneOf(stream).push_back({{}, {}, event->record});
}

// Whether the end of the first lane comes after the ends of all.
bool Capture::isJoined() const {
  std::vector<size_t> covered(graph_.lanes.size(), 0);
  std::vector<std::pair<size_t, size_t>> reached = {{0, graph_.lanes[0].size()}};
  while (!reached.empty()) {
    auto [lane, end] = reached.back();
    reached.pop_back();
    for (size_t step = covered[lane]; step < end; ++step)
      if (auto awaits = graph_.lanes[lane][step].awaits)
        reached.push_back(places_[*awaits]);
    covered[lane] = std::max(covered[lane], end);
  }
  for (size_t lane = 0; lane < covered.size(); ++lane)
    if (covered[lane] < graph_.lanes[lane].size())
      return false;
  return true;
}

std::unique_ptr<Graph> Capture::end() {
  isOver_ = true;
  for (Stream *stream : streams_)
    stream->capture = nullptr;
  return isJoined() ? std::make_unique<Graph>(std::move(graph_)) : nullptr;
}

void GraphExec::launch(Stream &stream) {
  Gpu &gpu = Gpu::ofProcess();
  static std::atomic<uint64_t> number{0};
  while (others_.size() + 1 < graph_.lanes.size())
    others_.push_back(std::make_unique<Stream>(gpu.seed * 1'000'033 + number++, stream.device));
  std::shared_ptr<Record> begin = stream.record();
  std::vector<std::shared_ptr<Record>> records(graph_.records);
  for (auto &record : records)
    record = std::make_shared<Record>();
  for (size_t lane = 0; lane < graph_.lanes.size(); ++lane) {
    Stream &to = lane ? *others_[lane - 1] : stream;
    if (lane)
      to.await(begin);
    for (const Graph::Step &step : graph_.lanes[lane]) {
      if (step.awaits)
        to.await(records[*step.awaits]);
      if (!step.actions.empty())
        to.pushAll(step.actions);
      if (step.records)
        to.record(records[*step.records]);
    }
  }
}

} // namespace tessera::emulator
