#include "lib/sharding/CommonSharding.h"
#include "lib/sharding/FactorPropagation.h"

namespace tessera::sharding {
namespace {

std::optional<DimSharding> commonDim(const DimSharding &a, const DimSharding &b) {
  const DimSharding &longer = isPrefix(a.axes, b.axes) ? b : a;
  const DimSharding &shorter = &longer == &a ? b : a;
  if (longer.axes == shorter.axes) {
    DimSharding common{a.axes, a.closed || b.closed, std::nullopt};
    if (a.priority && b.priority)
      common.priority = std::min(*a.priority, *b.priority);
    return common;
  }
  if (shorter.closed || !isPrefix(shorter.axes, longer.axes))
    return {};
  return longer;
}

} // namespace

std::optional<TensorSharding> commonSharding(const TensorSharding &a, const TensorSharding &b) {
  if (a.unreduced != b.unreduced)
    return {};
  TensorSharding common{{}, a.replicated, a.unreduced};
  for (const AxisRef &axis : b.replicated)
    if (!llvm::is_contained(a.replicated, axis)) {
      if (overlap(axis, a.replicated)) // parts that say the same in two ways
        return {};
      common.replicated.push_back(axis);
    }
  AxisRefs taken = common.replicated;
  taken.append(common.unreduced);
  for (auto [ofA, ofB] : llvm::zip_equal(a.dims, b.dims)) {
    std::optional<DimSharding> dim = commonDim(ofA, ofB);
    if (!dim || overlap(dim->axes, taken))
      return {};
    taken.append(dim->axes);
    common.dims.push_back(*std::move(dim));
  }
  return common;
}

GroupSharding groupSharding(llvm::ArrayRef<GroupMember> members) {
  GroupSharding all;
  for (auto [m, member] : llvm::enumerate(members)) {
    if (member.mesh < 0)
      continue;
    if (all.mesh < 0) {
      all.mesh = member.mesh;
      all.sharding = *member.sharding;
      continue;
    }
    std::optional<TensorSharding> common;
    if (member.mesh == all.mesh)
      common = commonSharding(all.sharding, *member.sharding);
    if (common)
      all.sharding = *std::move(common);
    else
      all.contradict.push_back(unsigned(m));
  }
  return all;
}

} // namespace tessera::sharding
