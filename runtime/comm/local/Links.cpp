#include "runtime/comm/local/Links.h"
#include <algorithm>

namespace tessera::runtime {

Links::Links(const links::Network &network, const program::Mesh &mesh) : link_(network.link) {
  int64_t stride = 1;
  for (const auto &axis : mesh.axes())
    stride *= axis.size();
  for (const auto &axis : mesh.axes()) {
    stride /= axis.size();
    axes_.push_back(links::linkAlong(network, {axis.name(), stride, axis.size()}));
  }
}

static links::Pattern patternOf(program::Collective::Kind kind) {
  using program::Collective;
  switch (kind) {
  case Collective::ALL_REDUCE:
    return links::Pattern::AllReduce;
  case Collective::ALL_GATHER:
    return links::Pattern::AllGather;
  case Collective::REDUCE_SCATTER:
    return links::Pattern::ReduceScatter;
  case Collective::ALL_TO_ALL:
    return links::Pattern::AllToAll;
  case Collective::PERMUTE:
    return links::Pattern::Permute;
  default:
    return links::Pattern::Broadcast;
  }
}

int64_t Links::nanoseconds(const CollectivePlan &plan) const {
  Link slowest = plan.axes.empty() ? link_ : axes_[plan.axes[0]];
  for (uint32_t axis : plan.axes)
    slowest = links::slower(slowest, axes_[axis]);
  double seconds = links::seconds(patternOf(plan.kind), static_cast<double>(plan.bytes),
                                  plan.groupSize, slowest);
  return static_cast<int64_t>(std::min(seconds, 3600.0) * 1e9);
}

int64_t LinkClock::carry(const CollectivePlan &plan, const GroupSet &set, uint32_t group,
                         int64_t now, int64_t nanoseconds) {
  auto forEachLink = [&](auto visit) {
    for (uint32_t rank = 0; rank < set.size(); ++rank) {
      int64_t *links = &free_[set.member(group, rank) * perDevice_];
      for (uint32_t axis : plan.axes)
        visit(links[axis]);
      if (plan.axes.empty())
        visit(links[perDevice_ - 1]);
    }
  };
  std::lock_guard lock(mutex_);
  int64_t begin = now;
  forEachLink([&](int64_t free) { begin = std::max(begin, free); });
  forEachLink([&](int64_t &free) { free = begin + nanoseconds; });
  return begin + nanoseconds;
}

} // namespace tessera::runtime
