#include "lib/fusion/WholeSums.h"

namespace tessera::fusion {

static int64_t product(llvm::ArrayRef<int64_t> sizes) {
  int64_t points = 1;
  for (int64_t size : sizes)
    points *= size;
  return points;
}

// The fewest outer dimensions, and fewer than `below`, that make so many parts; 0: there are not so many.
static size_t outerOf(llvm::ArrayRef<int64_t> shape, size_t below, int64_t parts) {
  for (size_t outer = 1; outer < below; ++outer)
    if (product(shape.take_front(outer)) >= parts)
      return outer;
  return 0;
}

llvm::SmallVector<size_t, 2> wholeSumStages(llvm::ArrayRef<int64_t> shape, int64_t bytes,
                                            const WholeSumLimits &limits) {
  // What is left over of four units is added last, which no column of lanes does.
  if (shape.empty() || shape.back() % (4 * kSumLanes) != 0 || product(shape) * bytes < limits.bytes)
    return {};
  size_t outer = outerOf(shape, shape.size(), limits.parts);
  if (!outer || product(shape.drop_front(outer)) < limits.terms * kSumLanes)
    return {};
  llvm::SmallVector<size_t, 2> stages{outer};
  if (product(shape.take_front(outer)) * kSumLanes * bytes >= limits.bytes)
    if (size_t later = outerOf(shape, outer, limits.later))
      stages.push_back(later);
  return stages;
}

} // namespace tessera::fusion
