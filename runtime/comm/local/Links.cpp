#include "runtime/comm/local/Links.h"
#include <algorithm>
#include <bit>

namespace tessera::runtime {

Links::Links(const links::Network &network, const program::Mesh &mesh) : network_(network) {
  for (const auto &axis : mesh.axes())
    axes_.emplace_back(axis.name(), axis.size());
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

static std::vector<links::Crossing>
crossingsOf(const CollectivePlan &plan, const std::vector<std::pair<std::string, int64_t>> &axes) {
  std::vector<links::Crossing> crossings;
  for (const CollectivePlan::AxisPart &part : plan.axes) {
    const auto &[name, size] = axes[part.axis];
    int64_t stride = size / (part.preSize * part.size);
    for (size_t minor = part.axis + 1; minor < axes.size(); ++minor)
      stride *= axes[minor].second;
    crossings.push_back({name, part.axis, stride, part.size});
  }
  return crossings;
}

LinkUse Links::useOf(const CollectivePlan &plan) const {
  links::Route route = plan.axes.empty() ? links::routeOfTable(network_, plan.groupSize)
                                         : links::routeOf(network_, crossingsOf(plan, axes_));
  double seconds = links::seconds(patternOf(plan.kind), static_cast<double>(plan.bytes), route);
  return {route.linksFor(links::wayOfShift(plan.shift)),
          static_cast<int64_t>(std::min(seconds, 3600.0) * 1e9)};
}

int64_t LinkClock::carry(const LinkUse &use, const GroupSet &set, uint32_t group, int64_t now) {
  auto forEachLink = [&](auto visit) {
    for (uint32_t rank = 0; rank < set.size(); ++rank) {
      int64_t *links = &free_[size_t{set.member(group, rank)} * links::kMostLinks];
      for (uint64_t rest = use.links; rest; rest &= rest - 1)
        visit(links[std::countr_zero(rest)]);
    }
  };
  std::lock_guard lock(mutex_);
  int64_t begin = now;
  forEachLink([&](int64_t free) { begin = std::max(begin, free); });
  forEachLink([&](int64_t &free) { free = begin + use.nanoseconds; });
  return begin + use.nanoseconds;
}

} // namespace tessera::runtime
