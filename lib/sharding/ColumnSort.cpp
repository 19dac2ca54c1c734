#include "lib/sharding/ColumnSort.h"

#include "llvm/Support/MathExtras.h"

namespace tessera::sharding {

// Take the elements below some bound for zeros, the others for ones: a sort that is right for all
// such is right (Knuth's 0-1 principle). A column that deals out z zeros gives each column as many,
// or the first z mod p one more: columns differ by at most p zeros, the first having most. So the
// first one lies at most p rows above the last zero, and as it lies in an earlier column there, at
// most p(p-1) places.
std::optional<ColumnSort> planColumnSort(int64_t size, int64_t shards) {
  ColumnSort plan{size, shards, int64_t(llvm::divideCeil(size, shards)), 0, shards * (shards - 1)};
  plan.rows = int64_t(llvm::alignTo(plan.tile, shards));
  if (shards < 2 || plan.rows < 2 * plan.boundary)
    return std::nullopt;
  return plan;
}

} // namespace tessera::sharding
