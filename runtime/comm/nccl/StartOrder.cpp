#include "runtime/comm/nccl/StartOrder.h"
#include <algorithm>

namespace tessera::runtime {

void StartOrder::add(size_t rank, Start start) {
  starts_[rank].push_back(std::move(start));
  if (starts_[rank].size() == 1)
    changed_.push_back(rank);
}

std::optional<StartOrder::Ready> StartOrder::next() {
  while (!changed_.empty()) {
    size_t rank = changed_.back();
    changed_.pop_back();
    if (starts_[rank].empty())
      continue;
    const Start first = starts_[rank].front();
    Ready ready{members_(first), {}};
    auto hasCome = [&](size_t member) {
      return !starts_[member].empty() && starts_[member].front().isOfThe(first);
    };
    if (!std::all_of(ready.ranks.begin(), ready.ranks.end(), hasCome))
      continue;
    for (size_t member : ready.ranks) {
      ready.starts.push_back(std::move(starts_[member].front()));
      starts_[member].pop_front();
      changed_.push_back(member);
    }
    return ready;
  }
  return std::nullopt;
}

bool StartOrder::isPending(size_t rank, uint32_t site) const {
  return std::any_of(starts_[rank].begin(), starts_[rank].end(),
                     [&](const Start &start) { return start.site == site; });
}

void StartOrder::clear() {
  for (auto &starts : starts_)
    starts.clear();
  changed_.clear();
}

} // namespace tessera::runtime
