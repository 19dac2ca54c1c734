// By how much things come late on shadow: at random, from a seed.
#pragma once

#include "runtime/Environment.h"
#include <cstdint>

namespace tessera::runtime::device {

// A sequence of random numbers (Steele, Lea, Flood: Fast splittable pseudorandom number generators,
// 2014).
class Dice {
public:
  explicit Dice(uint64_t seed) : state_(seed) {}
  // Below `limit`, which is not 0.
  uint64_t roll(uint64_t limit) {
    uint64_t z = (state_ += 0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return (z ^ (z >> 31)) % limit;
  }

private:
  uint64_t state_;
};

struct Delays {
  uint64_t seed = 1;
  int64_t most = 30'000; // nanoseconds; 0: nothing is late on purpose

  // TESSERA_SHADOW_SEED, and TESSERA_SHADOW_DELAY in microseconds.
  static Result<Delays> fromEnvironment() {
    Delays delays;
    auto seed = environmentNumber("TESSERA_SHADOW_SEED", 0, 1e9);
    if (!seed.ok())
      return seed.status();
    auto most = environmentNumber("TESSERA_SHADOW_DELAY", 0, 1e6);
    if (!most.ok())
      return most.status();
    delays.seed = static_cast<uint64_t>(seed->value_or(1));
    if (*most)
      delays.most = static_cast<int64_t>(**most * 1e3);
    return delays;
  }

  // One of three things is late.
  int64_t draw(Dice &dice) const {
    return most == 0 || dice.roll(3) ? 0
                                     : static_cast<int64_t>(dice.roll(static_cast<uint64_t>(most)));
  }
};

} // namespace tessera::runtime::device
