#include "runtime/comm/local/Links.h"
#include <algorithm>
#include <bit>

namespace tessera::runtime {

Links::Links(Link link, const std::map<std::string, Link> &axes, const program::Mesh &mesh)
    : link_(link) {
  for (const auto &axis : mesh.axes()) {
    auto named = axes.find(axis.name());
    axes_.push_back(named == axes.end() ? link : named->second);
  }
}

int64_t Links::nanoseconds(const CollectivePlan &plan) const {
  Link slowest = plan.axes.empty() ? link_ : axes_[plan.axes[0]];
  for (uint32_t axis : plan.axes)
    slowest = {std::max(slowest.alpha, axes_[axis].alpha),
               std::min(slowest.beta, axes_[axis].beta)};
  int depth = std::bit_width(plan.groupSize - 1); // of a tree over the group
  int steps = plan.kind == program::Collective::PERMUTE      ? 1
              : plan.kind == program::Collective::ALL_REDUCE ? 2 * depth
                                                             : depth;
  double seconds = steps * slowest.alpha + static_cast<double>(plan.wireBytes) / slowest.beta;
  return static_cast<int64_t>(std::min(seconds, 3600.0) * 1e9);
}

} // namespace tessera::runtime
