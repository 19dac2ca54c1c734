#include "lib/cost/RingProduct.h"

#include <algorithm>

namespace tessera::cost {

constexpr double kLeastGain = 0.03; // of the time as a whole

// Of a collective that the block waits for.
static double exposed(const RingProduct &ring, double collective) {
  return std::max(0.0, collective - ring.hideable);
}

double wholeSeconds(const RingProduct &ring) {
  return ring.product + exposed(ring, ring.collective);
}

double ringSeconds(const RingProduct &ring) {
  auto shifts = static_cast<double>(ring.shards - 1);
  return ring.around + ring.part + shifts * (std::max(ring.part, ring.shift) + ring.between) +
         exposed(ring, ring.last);
}

// What travels while products are computed.
static double hiddenSeconds(const RingProduct &ring) {
  return static_cast<double>(ring.shards - 1) * std::min(ring.part, ring.shift);
}

static double savedSeconds(const RingProduct &ring) {
  return std::min(wholeSeconds(ring) - ringSeconds(ring), hiddenSeconds(ring));
}

// So much of what takes so long.
static bool pays(const RingProduct &ring, bool memoryCounts, double saved, double whole) {
  if (saved <= kLeastGain * whole)
    return false;
  double more = ring.ringBytes - ring.wholeBytes - ring.room;
  double peak = std::max(ring.peakBytes, ring.wholeBytes);
  double seconds = std::max(ring.blockSeconds, whole);
  return !memoryCounts || more <= 0 || (1 + more / peak) * (seconds - saved) < seconds;
}

bool paysAsRing(const RingProduct &ring, bool memoryCounts) {
  return pays(ring, memoryCounts, savedSeconds(ring), wholeSeconds(ring));
}

// The most that may be saved, of the least that it may take.
bool mayPayAsRing(const RingProduct &ring, bool memoryCounts) {
  RingProduct alone = ring;
  alone.hideable = 0;
  return pays(ring, memoryCounts, savedSeconds(alone), ring.product);
}

} // namespace tessera::cost
