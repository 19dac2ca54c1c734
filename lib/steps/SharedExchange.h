// Which collectives of devices in one process are handed to idle workers, and in what parts. The
// runtime decides by it, and the compiler predicts by it; of bytes in short rows the runtime counts
// more (runtime/comm/local/Work.cpp), the compiler does not know of them. Needs nothing else.
#pragma once

#include <cmath>

namespace tessera::steps {

struct SharedExchange {
  double bytes = 0; // that are read and written for it, of all devices of a group

  static constexpr double kPart = 64 << 10; // worth handing to another worker

  // The worker whose device came last carries out all of it.
  bool isOfOne() const { return bytes <= 2 * kPart; }
  // Whether sleeping workers are worth waking for it.
  bool wakes() const { return bytes > 8 * kPart; }
  // How many workers find a part of it.
  double workers() const { return isOfOne() ? 1 : std::ceil(bytes / kPart); }
};

} // namespace tessera::steps
