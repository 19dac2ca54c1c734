#include "lib/sharding/CrossingRows.h"

#include "lib/sharding/ShardScan.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

namespace tessera::sharding {
namespace {

bool isInResults(const PlacedOp &op, int32_t factor) {
  return llvm::any_of(op.op.rule.results, [&](const TensorFactors &result) {
    return llvm::any_of(result,
                        [&](const DimFactors &dim) { return llvm::is_contained(dim, factor); });
  });
}

// What every device along `group` has made of its rows, gathered.
double gatheringParts(const PlacedOp &op, const FactorAxes &axes, const AxisRefs &group,
                      ReshardPlanner &planner) {
  double bytes = 0;
  for (size_t i = 0; i < op.results.size(); ++i)
    bytes += localBytes(op.op.results[i], op.results[i].elementBytes, axes.resultSharding(i));
  return cost::collectiveSeconds(planner.getTopology(), planner.getMesh(),
                                 cost::CollectiveKind::AllGather, bytes * double(shardCount(group)),
                                 group);
}

// Totals of shards of `bytes` along a dimension of `size`.
double scanning(double bytes, int64_t size, int64_t elementBytes, const AxisRefs &group,
                ReshardPlanner &planner) {
  int64_t tile = llvm::divideCeil(size, shardCount(group));
  int64_t totals = std::max<int64_t>(1, int64_t(bytes / double(tile * elementBytes)));
  int64_t travelling = std::max<int64_t>(elementBytes, 4); // sums of narrow types are made in f32
  return planShardScan(planner.getTopology(), planner.getMesh(), totals, travelling, group).seconds;
}

} // namespace

double localBytes(llvm::ArrayRef<int64_t> shape, int64_t elementBytes,
                  const TensorSharding &sharding) {
  double bytes = double(elementBytes);
  for (auto [size, dim] : llvm::zip_equal(shape, sharding.dims))
    bytes *= double(llvm::divideCeil(size, shardCount(dim.axes)));
  return bytes;
}

// At most what a device holds, and where the op reduces rows what it has made of its own.
double crossingSeconds(const PlacedOp &op, const FactorAxes &axes, ReshardPlanner &planner) {
  const FactorRule &rule = op.op.rule;
  auto crosses = [&](size_t factor) {
    return rule.factors[factor].kind == FactorKind::Permutation && !axes[factor].empty();
  };
  double seconds = 0;
  for (size_t f = 0; f < axes.size(); ++f)
    if (crosses(f) && !isInResults(op, f))
      seconds += gatheringParts(op, axes, axes[f], planner);
  for (size_t i = 0; i < op.operands.size(); ++i)
    for (const DimFactors &dim : rule.operands[i])
      for (int32_t f : dim) {
        if (!crosses(f) || !isInResults(op, f))
          continue;
        double bytes =
            localBytes(op.op.operands[i], op.operands[i].elementBytes, axes.operandSharding(i));
        seconds += rule.factors[f].scanned
                       ? scanning(bytes, rule.factors[f].size, op.operands[i].elementBytes, axes[f],
                                  planner)
                       : cost::collectiveSeconds(planner.getTopology(), planner.getMesh(),
                                                 cost::CollectiveKind::Permute, bytes / 4, axes[f]);
      }
  return seconds;
}

} // namespace tessera::sharding
