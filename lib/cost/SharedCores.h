// How long a kernel takes on several cores, as the runtime divides it.
#pragma once

#include "lib/cost/DeviceRates.h"
#include "lib/cost/KernelWork.h"
#include "lib/steps/SharedGrid.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

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

// The part of a kernel that one of several cores has, which take chunks of cells in turns.
//
//   7 cells, chunks of 2, two cores    0 1 4 5      the first has four of seven
//                                      2 3 6
// `wholeCell`: KernelWork's. Those that are cut short are taken to come last.
//
//   128 columns, cells of 96, two cores    the first has three quarters
inline double largestPart(const steps::SharedGrid &grid, double cores, double wholeCell = 0) {
  double chunk = grid.chunk(), cells = grid.cells;
  constexpr double manyCells = 64;
  if (wholeCell * cells <= 1 || cells > manyCells) {
    double before = std::ceil(cells / chunk) - 1; // the last may be smaller
    double most = std::floor(before / cores) * chunk +
                  (std::fmod(before, cores) > 0 ? chunk : cells - before * chunk);
    return most / cells;
  }
  double whole = std::floor(1 / wholeCell), others = cells - whole;
  double rest = others > 0 ? std::max(0.0, 1 - whole * wholeCell) / others : 0;
  std::vector<double> parts(static_cast<size_t>(cores), 0);
  for (double first = 0; first < cells; first += chunk) {
    double last = std::min(first + chunk, cells),
           wholes = std::clamp(whole - first, 0.0, last - first);
    *std::min_element(parts.begin(), parts.end()) +=
        wholes * wholeCell + (last - first - wholes) * rest;
  }
  return std::min(*std::max_element(parts.begin(), parts.end()), 1.0);
}

// `seconds` on one core; so long on several. `asleep`: all but one of the cores are, and come later
// where they are woken.
inline double sharedSeconds(const DeviceRates &rates, double seconds, const steps::SharedGrid &grid,
                            double cores, bool asleep = false, double wholeCell = 0) {
  double used = coresOfGrid(grid, cores);
  if (used <= 1 || (asleep && !grid.wakes()))
    return seconds;
  double largest = std::max(largestPart(grid, used, wholeCell), 1 / (used * rates.coresTogether));
  double late = asleep ? rates.wakingSeconds * (1 - 1 / used) : 0; // what one does alone until then
  return std::min(seconds, seconds * largest + rates.sharingSeconds + late);
}

} // namespace tessera::cost
