#include "passes/codegen/gpu/RowTeams.h"

#include "passes/codegen/gpu/Division.h"

#include <algorithm>

namespace tessera::codegen::gpu {

namespace {

// Of shared memory: so many blocks fit on a processor that one's memory moves while others compute.
constexpr int64_t kGoodBytes = 36 << 10;
constexpr int64_t kFewestTogether = 16, kMostOfThread = 32; // threads; elements

constexpr int64_t banks = 128; // bytes

// The rows of neighbouring threads begin in other banks: threads of their own in each, sixteen in the
// other half of them. What a thread's rows have of one operand lies together, so that elements follow each
// other over the rows' ends where there is an odd number of them.
int64_t pitchOfThread(const RowSizes &row) {
  int64_t word = std::max<int64_t>(row.widest, 4);
  return row.bytes ? ((row.elements * row.widest + word - 1) / word | 1) * word : 0;
}
int64_t pitchOfSixteen(int64_t bytes) {
  return bytes ? (bytes + banks / 2 - 1) / banks * banks + banks / 2 : 0;
}

// Of a thread's 255 registers, so many bytes have windows: with more, ptxas spills some of what gradients compute.
constexpr int64_t kWindowBytesOfThread = 176 * 4;

int64_t roundUp(int64_t value, int64_t step) { return (value + step - 1) / step * step; }

} // namespace

std::optional<RowWindows> rowWindows(int64_t elements, int64_t elementBytes, int64_t threads,
                                     int64_t mostBytes) {
  constexpr int64_t kPart = 1024; // elements: sixteen fours of units
  for (int64_t count = 2; count <= kWindowBytesOfThread / kAccessBytes; ++count) {
    RowWindows windows{count, roundUp((elements + count - 1) / count, kPart)};
    int64_t bytes = roundUp(windows.elements * elementBytes, threads * kAccessBytes);
    if (bytes * (count - 1) > threads * kWindowBytesOfThread)
      return std::nullopt;
    if (bytes <= mostBytes)
      return windows;
  }
  return std::nullopt;
}

std::optional<RowTeams> rowTeams(const RowSizes &row, bool areTogether, int64_t threads,
                                 int64_t mostBytes) {
  if (row.elements < kLeastTogether) {
    constexpr int64_t fewest = 32;
    RowTeams teams{.rows = threads,
                   .threads = 1,
                   .pitch = pitchOfThread(row) * row.arrays,
                   .sumPitch = 0,
                   .valueBytes = row.valueBytes};
    while (teams.bytes() > kGoodBytes && teams.rows > fewest)
      teams.rows /= 2;
    return teams.bytes() <= mostBytes ? std::optional(teams) : std::nullopt;
  }
  if (!areTogether)
    return std::nullopt;
  RowTeams teams{.rows = threads / kFewestTogether,
                 .threads = kFewestTogether,
                 .pitch = pitchOfSixteen(row.bytes),
                 .sumPitch = pitchOfSixteen(row.sumBytesOfSixteen),
                 .valueBytes = row.valueBytes};
  while (teams.rows > 1 &&
         (teams.bytes() > kGoodBytes || row.elements / teams.threads > kMostOfThread)) {
    teams.rows /= 2, teams.threads *= 2;
    teams.sumPitch = pitchOfSixteen(row.sumBytes);
  }
  return teams.bytes() <= mostBytes ? std::optional(teams) : std::nullopt;
}

} // namespace tessera::codegen::gpu
