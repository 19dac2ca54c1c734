#include "lib/plan/DirectSteps.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/STLFunctionalExtras.h"

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
    gatherEarly();
    exchange();
    replace();
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

  // Where nothing leaves a dimension it is split first.
  void slice() {
    AxisRefs sliced;
    for (size_t d = 0; d < to.dims.size(); ++d)
      if (departing(d).empty())
        sliced.append(entering(d));
    add(ReshardKind::Slice, sliced, 1 / double(shardCount(sliced)));
  }

  // What is more major than axes that come from elsewhere has to go before they come.
  void gatherEarly() {
    for (size_t d = 0; d < to.dims.size(); ++d)
      if (AxisRefs gone = leaving(d); !gone.empty() && !arriving(d).empty()) {
        add(ReshardKind::AllGather, gone, double(shardCount(gone)));
        done.append(gone);
      }
  }

  // One axis in place of another: whole arrays move.
  void replace() {
    for (size_t d = 0; d < to.dims.size(); ++d) {
      AxisRefs come = entering(d), gone = leaving(d);
      if (come.empty() || departing(d).empty())
        continue;
      if (gone.empty() || llvm::is_contained(done, gone[0])) {
        add(ReshardKind::Slice, come, 1 / double(shardCount(come)));
        continue;
      }
      AxisRefs both = come;
      both.append(gone);
      add(ReshardKind::Permute, both, 1);
      double more = double(shardCount(gone)) / double(shardCount(come));
      add(more > 1 ? ReshardKind::AllGather : ReshardKind::Slice, gone, more);
      done.append(gone);
    }
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
    AxisRefs gathered;
    for (size_t d = 0; d < from.dims.size(); ++d)
      for (const AxisRef &axis : leaving(d))
        if (!llvm::is_contained(done, axis))
          gathered.push_back(axis);
    add(ReshardKind::AllGather, gathered, double(shardCount(gathered)));
  }

  AxisRefs select(const AxisRefs &axes, llvm::function_ref<bool(const AxisRef &)> is) const {
    AxisRefs found;
    llvm::copy_if(axes, std::back_inserter(found), is);
    return found;
  }
  // Of a dimension: what is gathered, what goes elsewhere or is gathered, what comes from elsewhere, and
  // what nothing was sharded by.
  AxisRefs leaving(size_t d) const {
    return select(from.dims[d].axes,
                  [&](const AxisRef &axis) { return dimOf(to, axis) == kNowhere; });
  }
  AxisRefs departing(size_t d) const {
    return select(from.dims[d].axes,
                  [&](const AxisRef &axis) { return dimOf(to, axis) != int(d); });
  }
  AxisRefs arriving(size_t d) const {
    return select(to.dims[d].axes, [&](const AxisRef &axis) {
      int source = dimOf(from, axis);
      return source != kNowhere && source != int(d);
    });
  }
  AxisRefs entering(size_t d) const {
    return select(to.dims[d].axes, [&](const AxisRef &axis) {
      return dimOf(from, axis) == kNowhere && !overlap(from.unreduced, llvm::ArrayRef(axis));
    });
  }

  static bool isPrefix(const AxisRefs &part, const AxisRefs &of) {
    return part.size() <= of.size() && std::equal(part.begin(), part.end(), of.begin());
  }

  const TensorSharding &from, &to;
  double share = 1;
  AxisRefs done; // gathered already
  std::vector<RelativeStep> steps;
};

} // namespace

std::vector<RelativeStep> directSteps(const TensorSharding &from, const TensorSharding &to) {
  return Steps(from, to).run();
}

} // namespace tessera::plan
