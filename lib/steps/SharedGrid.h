// Which kernels are handed to idle workers, and in what pieces. The runtime decides by it, and the
// compiler predicts by it. It knows no machine: so many operations or bytes are taken to last so long
// (docs/rationale/cost-model.md). Needs nothing else.
#pragma once

#include <algorithm>
#include <cstdint>

namespace tessera::steps {

// Of one run of a kernel.
struct SharedGrid {
  uint32_t cells = 1; // that may run on different cores
  double flops = 0;
  double bytes = 0; // of the arrays that it is given, whatever part of them it touches

  double microseconds() const {
    constexpr double flopsPerMicrosecond = 40e3, bytesPerMicrosecond = 10e3;
    return std::max(flops / flopsPerMicrosecond, bytes / bytesPerMicrosecond);
  }
  // Cells that a worker takes at a time; all of them where nobody else takes a part.
  uint32_t chunk() const {
    double cost = microseconds();
    if (cost < 1.5 * chunkMicroseconds)
      return cells;
    return std::max<uint32_t>(1, static_cast<uint32_t>(cells * (chunkMicroseconds / cost)));
  }
  // Whether sleeping workers are worth waking for it.
  bool wakes() const { return microseconds() > 4 * chunkMicroseconds; }

private:
  static constexpr double chunkMicroseconds = 8;
};

} // namespace tessera::steps
