#include "runtime/device/cuda/Graphs.h"

namespace tessera::runtime::device::cuda {

static constexpr size_t kLeastCommands = 2;                         // one is as quick by itself
static constexpr size_t kMostGraphs = 512, kMostOfGraphs = 1 << 18; // commands of them

static bool areSame(const Lanes &known, const Lanes &lanes) {
  auto next = known.begin();
  for (const auto &[name, lane] : lanes) {
    if (lane.commands.empty())
      continue;
    if (next == known.end() || next->first != name || !next->second.isSame(lane))
      return false;
    ++next;
  }
  return next == known.end();
}

GraphExec Graphs::of(const Lanes &lanes, const std::function<GraphExec()> &capture) {
  size_t commands = 0;
  uint64_t hash = 0;
  for (const auto &[name, lane] : lanes)
    if (!lane.commands.empty()) {
      commands += lane.commands.size();
      hash = (hash ^ name ^ lane.hash()) * 0xff51afd7ed558ccd;
    }
  if (refused_ || commands < kLeastCommands)
    return nullptr;
  auto [begin, end] = known_.equal_range(hash);
  for (auto it = begin; it != end; ++it) {
    Known &known = it->second;
    if (known.graph && areSame(known.lanes, lanes))
      return known.graph;
    if (known.graph)
      continue;
    known.graph = capture();
    refused_ = !known.graph;
    commands_ += commands;
    for (const auto &[name, lane] : lanes)
      if (known.graph && !lane.commands.empty())
        known.lanes.emplace(name, lane);
    return known.graph;
  }
  known_.emplace(hash, Known());
  return nullptr;
}

void Graphs::tidy() {
  if (known_.size() > kMostGraphs || commands_ > kMostOfGraphs)
    clear();
}

void Graphs::clear() {
  for (auto &[hash, known] : known_)
    if (known.graph && !backend_.isGivenUp()) // it may still run
      backend_.driver().cuGraphExecDestroy(known.graph);
  known_.clear();
  commands_ = 0;
}

} // namespace tessera::runtime::device::cuda
