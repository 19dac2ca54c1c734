#include "lib/solver/Problem.h"

#include <algorithm>

namespace tessera::solver {

namespace {

void takeLeastOff(Problem &problem) {
  std::vector<int64_t> change(problem.room.size() + 1);
  for (Hold &hold : problem.holds) {
    int64_t least = *std::min_element(hold.bytes.begin(), hold.bytes.end());
    for (int64_t &bytes : hold.bytes)
      bytes -= least;
    change[hold.begin] += least;
    change[hold.end] -= least;
  }
  int64_t held = 0;
  for (size_t t = 0; t < problem.room.size(); ++t)
    problem.room[t] -= held += change[t];
}

bool holdsNothing(const Hold &hold) {
  return hold.begin >= hold.end ||
         std::all_of(hold.bytes.begin(), hold.bytes.end(), [](int64_t b) { return b == 0; });
}

std::vector<int64_t> mostHeld(const Problem &problem) {
  std::vector<int64_t> most(problem.room.size() + 1);
  for (const Hold &hold : problem.holds) {
    int64_t bytes = *std::max_element(hold.bytes.begin(), hold.bytes.end());
    most[hold.begin] += bytes;
    most[hold.end] -= bytes;
  }
  for (size_t t = 1; t < most.size(); ++t)
    most[t] += most[t - 1];
  return most;
}

// Steps that can't bind when those left can't: see the header.
std::vector<bool> bindingSteps(const Problem &problem) {
  int32_t steps = static_cast<int32_t>(problem.room.size());
  std::vector<int64_t> most = mostHeld(problem);
  std::vector<bool> begins(steps + 1), ends(steps + 1);
  for (const Hold &hold : problem.holds)
    begins[hold.begin] = ends[hold.end] = true;
  std::vector<bool> binds(steps);
  // The last step left, whether holds have begun or ended since then.
  int32_t last = -1;
  bool begun = false, ended = false;
  for (int32_t t = 0; t < steps; ++t) {
    begun = begun || begins[t];
    ended = ended || ends[t];
    if (problem.room[t] >= 0 && most[t] <= problem.room[t])
      continue;
    bool within = last >= 0 && !begun && problem.room[t] >= problem.room[last];
    if (within)
      continue;
    bool around = last >= 0 && !ended && problem.room[last] >= problem.room[t];
    if (around)
      binds[last] = false;
    binds[t] = true;
    last = t;
    begun = ended = false;
  }
  return binds;
}

} // namespace

void leaveOutSteps(Problem &problem, std::vector<int32_t> &kept) {
  takeLeastOff(problem);
  std::erase_if(problem.holds, holdsNothing);
  std::vector<bool> binds = bindingSteps(problem);
  std::vector<int32_t> number(problem.room.size() + 1);
  std::vector<int64_t> room;
  kept.clear();
  for (size_t t = 0; t < problem.room.size(); ++t) {
    number[t] = static_cast<int32_t>(room.size());
    if (binds[t]) {
      room.push_back(problem.room[t]);
      kept.push_back(static_cast<int32_t>(t));
    }
  }
  number.back() = static_cast<int32_t>(room.size());
  problem.room = std::move(room);
  for (Hold &hold : problem.holds) {
    hold.begin = number[hold.begin];
    hold.end = number[hold.end];
  }
  std::erase_if(problem.holds, holdsNothing);
}

} // namespace tessera::solver
