// How long a kernel takes on several cores, as the runtime divides it.
#pragma once

#include "lib/cost/DeviceRates.h"
#include "lib/cost/KernelWork.h"
#include "lib/steps/SharedGrid.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace tessera::cost {

// One run of a kernel. `bytes`: of the arrays that it is given, as the runtime counts them.
inline steps::SharedGrid sharedGrid(const KernelWork &work, double bytes) {
  return {static_cast<uint32_t>(std::clamp(work.grid, 1.0, double(UINT32_MAX))), work.flops, bytes};
}

// How many of `cores` that a device has (less than one and a half: none beside its own) work on a
// kernel: one where it is not handed out.
inline double coresOfGrid(const steps::SharedGrid &grid, double cores) {
  uint32_t chunk = grid.chunk();
  if (cores < 1.5 || chunk >= grid.cells)
    return 1;
  return std::min(std::floor(cores), std::ceil(double(grid.cells) / chunk));
}

// `seconds` on one core; so long on several, which take chunks of cells in turns.
//
//   7 cells, chunks of 2, two cores    0 1 4 5      the first has four of seven
//                                      2 3 6
// `asleep`: all but one of the cores are, and come later where they are woken.
inline double sharedSeconds(const DeviceRates &rates, double seconds, const steps::SharedGrid &grid,
                            double cores, bool asleep = false) {
  double used = coresOfGrid(grid, cores);
  if (used <= 1 || (asleep && !grid.wakes()))
    return seconds;
  double chunk = grid.chunk(),
         before = std::ceil(grid.cells / chunk) - 1; // the last may be smaller
  double most = std::floor(before / used) * chunk +
                (std::fmod(before, used) > 0 ? chunk : grid.cells - before * chunk);
  double largest = std::max(most / grid.cells, 1 / (used * rates.coresTogether));
  double late = asleep ? rates.wakingSeconds * (1 - 1 / used) : 0; // what one does alone until then
  return std::min(seconds, seconds * largest + rates.sharingSeconds + late);
}

} // namespace tessera::cost
