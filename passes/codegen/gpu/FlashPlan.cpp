#include "passes/codegen/gpu/FlashPlan.h"

#include <algorithm>

namespace tessera::codegen::gpu {

static int64_t slices(int64_t terms, int64_t depth) { return (terms + depth - 1) / depth; }

// A slice lies by its rows or by its terms: room for both.
static int64_t sliceOf(int64_t rows, int64_t terms, const FlashMultiplier &by) {
  return std::max(rows * (terms + by.pad), terms * (rows + by.pad));
}

// As deep as leaves no more of the last slice empty, where whole accesses fetch it: what is fetched
// element by element is in registers meanwhile.
static int64_t depthOf(const std::vector<int64_t> &terms, const FlashMultiplier &by) {
  int64_t whole = 16 / by.bytes;
  bool isDeep = std::all_of(terms.begin(), terms.end(), [&](int64_t size) {
    return size % whole == 0 &&
           slices(size, by.mostDepth) * by.mostDepth <= slices(size, by.leastDepth) * by.leastDepth;
  });
  return isDeep ? by.mostDepth : by.leastDepth;
}

static FlashPlan planWith(const FlashSizes &sizes, const FlashMultiplier &by, int64_t other,
                          bool keepsOwn) {
  FlashPlan plan;
  plan.other = other;
  plan.factors = sizes.factors;
  plan.depth = depthOf(sizes.terms, by);
  plan.resultDepth = std::min(other, by.leastDepth);
  plan.keepsOwn = keepsOwn;
  plan.stage = sliceOf(other, plan.depth, by);
  int64_t ofOwn = sliceOf(by.ownRows, plan.depth, by);
  if (!keepsOwn)
    plan.stage += ofOwn;
  for (int64_t columns : sizes.columns)
    plan.stage = std::max(plan.stage, sliceOf(columns, plan.resultDepth, by));
  plan.factor = sliceOf(by.ownRows, other, by);
  for (int64_t terms : sizes.terms)
    plan.kept += keepsOwn ? slices(terms, plan.depth) * ofOwn : 0;
  return plan;
}

// Large tiles first: the other side is read once for each of the own. Then that what is its own stays.
FlashPlan planFlash(const FlashSizes &sizes, const FlashMultiplier &by, int64_t mostBytes) {
  constexpr int64_t mostElements = 32; // of a thread, in all products: they are in registers
  constexpr int64_t mostNodes = 512;   // that are written out for a thread's elements
  auto isSmall = [&](int64_t other) {
    int64_t elements = by.ownRows * other / by.threads;
    return elements * int64_t(sizes.terms.size()) <= mostElements &&
           elements * sizes.nodes <= mostNodes;
  };
  for (int64_t other : {64, 32})
    for (bool keepsOwn : {true, false}) {
      if (other > 32 && !isSmall(other))
        continue;
      FlashPlan plan = planWith(sizes, by, other, keepsOwn);
      if (plan.elements() * by.bytes <= mostBytes)
        return plan;
    }
  return planWith(sizes, by, 32, /*keepsOwn=*/false);
}

std::vector<std::vector<FlashColumns>> groupColumns(const std::vector<int64_t> &sizes,
                                                    int64_t least) {
  constexpr int64_t most = 256, mostOfOne = 128; // of a group, of a result in it: by registers
  std::vector<std::vector<FlashColumns>> groups;
  int64_t taken = most;
  for (size_t result = 0; result < sizes.size(); ++result)
    for (int64_t first = 0; first < sizes[result]; first += mostOfOne) {
      int64_t columns = least;
      while (columns < std::min(sizes[result] - first, mostOfOne))
        columns *= 2;
      if (taken + columns > most) {
        groups.emplace_back();
        taken = 0;
      }
      groups.back().push_back({result, first, columns});
      taken += columns;
    }
  return groups;
}

} // namespace tessera::codegen::gpu
