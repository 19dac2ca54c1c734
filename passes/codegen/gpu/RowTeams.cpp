#include "passes/codegen/gpu/RowTeams.h"

#include <algorithm>

namespace tessera::codegen::gpu {

namespace {

// Of shared memory: so many blocks fit on a processor that one's memory moves while others compute.
constexpr int64_t kGoodBytes = 36 << 10;
constexpr int64_t kFewestTogether = 16, kMostOfThread = 32; // threads; elements

// The rows of neighbouring threads begin in other banks: threads of their own in each, sixteen in the
// other half of them.
int64_t pitchOfThread(const RowSizes &row) {
  int64_t word = std::max<int64_t>(row.widest, 4), words = (row.bytes + word - 1) / word;
  return row.bytes ? (words | 1) * word : 0;
}
int64_t pitchOfSixteen(int64_t bytes) {
  constexpr int64_t banks = 128;
  return bytes ? (bytes + banks / 2 - 1) / banks * banks + banks / 2 : 0;
}

} // namespace

std::optional<RowTeams> rowTeams(const RowSizes &row, bool areTogether, int64_t threads,
                                 int64_t mostBytes) {
  if (row.elements < kLeastTogether) {
    constexpr int64_t fewest = 32;
    RowTeams teams{.rows = threads,
                   .threads = 1,
                   .pitch = pitchOfThread(row),
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
                 .sumPitch = pitchOfSixteen(row.sumBytes),
                 .valueBytes = row.valueBytes};
  while (teams.rows > 1 &&
         (teams.bytes() > kGoodBytes || row.elements / teams.threads > kMostOfThread))
    teams.rows /= 2, teams.threads *= 2;
  return teams.bytes() <= mostBytes ? std::optional(teams) : std::nullopt;
}

} // namespace tessera::codegen::gpu
