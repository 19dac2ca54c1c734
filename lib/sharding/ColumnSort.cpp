#include "lib/sharding/ColumnSort.h"

#include "llvm/Support/MathExtras.h"

namespace tessera::sharding {

// Take the elements below some bound for zeros, the others for ones: a sort that is right for all
// such is right (Knuth's 0-1 principle). A column that deals out z zeros gives each column as many,
// or the first z mod p one more: columns differ by at most p zeros, no more than a part has. So the
// ones that a part in one device has, and the zeros that one in the next has, add up to p at most:
// with P zeros more than the boundary in q columns at most, and N less in the p - q others, P + N
// <= p. Where there are both, P and N are at most p - 1, as are q and p - q: so many ones lie
// before the boundary, zeros behind it. Those that change sides are the fewer, at most
// min(q P, (p - q) N) <= sqrt(q (p - q) P N) <= p * p / 4.
std::optional<ColumnSort> planColumnSort(int64_t size, int64_t shards) {
  ColumnSort plan{size,
                  shards,
                  int64_t(llvm::divideCeil(size, shards)),
                  0,
                  (shards - 1) * (shards - 1),
                  shards * shards / 4};
  plan.rows = int64_t(llvm::alignTo(plan.tile, shards));
  if (shards < 2 || plan.part() < shards || plan.rows < 2 * plan.boundary)
    return std::nullopt;
  return plan;
}

} // namespace tessera::sharding
