#include "lib/plan/DirectSteps.h"

#include "llvm/ADT/STLExtras.h"

namespace tessera::plan {

using sharding::AxisRef;
using sharding::AxisRefs;
using sharding::ReshardKind;
using sharding::TensorSharding;

namespace {

constexpr int kNowhere = -1;

int dimOf(const TensorSharding &sharding, const AxisRef &axis) {
  for (auto [d, dim] : llvm::enumerate(sharding.dims))
    if (llvm::is_contained(dim.axes, axis))
      return int(d);
  return kNowhere;
}

class Steps {
public:
  Steps(const TensorSharding &from, const TensorSharding &to) : from(from), to(to) {
    for (const sharding::DimSharding &dim : from.dims)
      share /= double(shardCount(dim.axes));
  }

  std::vector<RelativeStep> run() {
    reduce();
    slice();
    exchange();
    gather();
    return std::move(steps);
  }

private:
  void add(ReshardKind kind, const AxisRefs &axes, double times) {
    if (axes.empty())
      return;
    if (kind != ReshardKind::Slice)
      steps.push_back({kind, share, share * times, axes});
    share *= times;
  }

  void reduce() {
    AxisRefs scattered, summed;
    for (const AxisRef &axis : from.unreduced)
      if (!llvm::is_contained(to.unreduced, axis))
        (dimOf(to, axis) == kNowhere ? summed : scattered).push_back(axis);
    add(ReshardKind::ReduceScatter, scattered, 1 / double(shardCount(scattered)));
    add(ReshardKind::AllReduce, summed, 1);
  }

  void slice() {
    AxisRefs sliced;
    for (const sharding::DimSharding &dim : to.dims)
      for (const AxisRef &axis : dim.axes)
        if (dimOf(from, axis) == kNowhere && !overlap(from.unreduced, axis) && isUnused(axis))
          sliced.push_back(axis);
    add(ReshardKind::Slice, sliced, 1 / double(shardCount(sliced)));
  }

  void exchange() {
    for (size_t d = 0; d < from.dims.size(); ++d) {
      for (size_t other = 0; other < to.dims.size(); ++other) {
        AxisRefs moved;
        for (const AxisRef &axis : from.dims[d].axes)
          if (other != d && llvm::is_contained(to.dims[other].axes, axis))
            moved.push_back(axis);
        add(ReshardKind::AllToAll, moved, 1);
      }
      AxisRefs stays, ends;
      for (const AxisRef &axis : from.dims[d].axes)
        if (llvm::is_contained(to.dims[d].axes, axis))
          stays.push_back(axis);
      for (const AxisRef &axis : to.dims[d].axes)
        if (llvm::is_contained(stays, axis))
          ends.push_back(axis);
      // What stays must be major before and after, in the same order.
      bool inPlace =
          stays == ends && isPrefix(stays, from.dims[d].axes) && isPrefix(ends, to.dims[d].axes);
      if (!inPlace)
        add(ReshardKind::Permute, stays, 1);
    }
  }

  void gather() {
    AxisRefs gathered, parts;
    for (const sharding::DimSharding &dim : from.dims)
      for (const AxisRef &axis : dim.axes)
        if (dimOf(to, axis) == kNowhere)
          gathered.push_back(axis);
    add(ReshardKind::AllGather, gathered, double(shardCount(gathered)));
    // Parts of axes that came with what was gathered.
    for (const sharding::DimSharding &dim : to.dims)
      for (const AxisRef &axis : dim.axes)
        if (dimOf(from, axis) == kNowhere && !isUnused(axis) && !overlap(from.unreduced, axis))
          parts.push_back(axis);
    add(ReshardKind::Slice, parts, 1 / double(shardCount(parts)));
  }

  bool isUnused(const AxisRef &axis) const {
    return llvm::none_of(from.dims,
                         [&](const sharding::DimSharding &dim) { return overlap(dim.axes, axis); });
  }

  static bool isPrefix(const AxisRefs &part, const AxisRefs &of) {
    return part.size() <= of.size() && std::equal(part.begin(), part.end(), of.begin());
  }

  const TensorSharding &from, &to;
  double share = 1;
  std::vector<RelativeStep> steps;
};

} // namespace

std::vector<RelativeStep> directSteps(const TensorSharding &from, const TensorSharding &to) {
  return Steps(from, to).run();
}

} // namespace tessera::plan
