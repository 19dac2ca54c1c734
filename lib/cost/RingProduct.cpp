#include "lib/cost/RingProduct.h"

#include <algorithm>

namespace tessera::cost {

constexpr double kLeastGain = 0.03; // of the time as a whole

double wholeSeconds(const RingProduct &ring) {
  return ring.product + std::max(0.0, ring.collective - ring.hideable);
}

double ringSeconds(const RingProduct &ring) {
  auto shifts = static_cast<double>(ring.shards - 1);
  return ring.around + ring.part + shifts * (std::max(ring.part, ring.shift) + ring.between);
}

bool paysAsRing(const RingProduct &ring, bool memoryCounts) {
  double more = memoryCounts && ring.ringBytes > ring.wholeBytes && ring.wholeBytes > 0
                    ? ring.ringBytes / ring.wholeBytes
                    : 1;
  return more * ringSeconds(ring) < (1 - kLeastGain) * wholeSeconds(ring);
}

} // namespace tessera::cost
