// Which loops are one kernel: those whose trips take less time than the instructions that lead to them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

namespace tessera::fusion {

// Of one kernel of a trip: operations on elements, and bytes that it touches.
inline double tripWork(double operations, double bytes) {
  constexpr double atLeast = 8; // what a kernel is called and its loops are begun for
  return atLeast + operations + bytes / 4;
}

struct LoopKernel {
  // Trips of one run of the kernel at most: a kernel is not interrupted, so it ends within some
  // milliseconds, and a loop of instructions runs it as often as it takes.
  int64_t trips;
  // How often that is, of a counted loop; none where data decides.
  std::optional<int64_t> runs;
  // The loop is the kernel alone: its step is over before a worker would have woken up.
  bool isWhole;
};

// Of a loop whose trips do `work`, of which there are so many where they are counted.
inline std::optional<LoopKernel> loopKernelOf(double work, std::optional<int64_t> trips) {
  constexpr double mostOfTrip = 4096, mostOfRun = 1 << 24, mostOfWhole = 1 << 16;
  if (work > mostOfTrip)
    return std::nullopt;
  auto most = static_cast<int64_t>(mostOfRun / std::max(work, 1.0));
  if (!trips)
    return LoopKernel{most, std::nullopt, false};
  if (*trips == 0)
    return std::nullopt;
  int64_t runs = (*trips + most - 1) / most;
  return LoopKernel{(*trips + runs - 1) / runs, runs, work * double(*trips) <= mostOfWhole};
}

} // namespace tessera::fusion
