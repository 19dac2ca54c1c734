// Steps that are left out never let choices in that were too large, nor keep any out.
#include "lib/solver/Graph.h"
#include "lib/solver/Problem.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

using namespace tessera::solver;

namespace {

bool fits(const Problem &problem, const Choices &choices) {
  std::vector<int64_t> left = problem.room;
  for (const Hold &hold : problem.holds)
    for (int32_t t = hold.begin; t < hold.end; ++t)
      left[t] -= hold.bytes[choices[hold.vertex]];
  return std::all_of(left.begin(), left.end(), [](int64_t room) { return room >= 0; });
}

// All that four vertices of three choices can have.
std::vector<Choices> allChoices() {
  std::vector<Choices> all;
  for (int32_t code = 0; code < 81; ++code)
    all.push_back({code % 3, code / 3 % 3, code / 9 % 3, code / 27});
  return all;
}

TEST(Steps, WhatFitsIsWhatFitted) {
  int64_t before = 0, after = 0;
  for (uint64_t seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 engine(seed);
    auto below = [&](int32_t bound) { return static_cast<int32_t>(engine() % bound); };
    Problem problem;
    problem.costs.assign(4, std::vector<double>(3));
    for (int32_t t = 0; t < 12; ++t)
      problem.room.push_back(8 + below(25));
    for (int32_t n = 0; n < 9; ++n) {
      int32_t begin = below(12), end = std::min(12, begin + below(6));
      problem.holds.push_back({below(4), begin, end, {below(9), below(9), below(9)}});
    }
    Problem smaller = problem;
    std::vector<int32_t> kept;
    leaveOutSteps(smaller, kept);
    ASSERT_EQ(kept.size(), smaller.room.size());
    before += problem.room.size();
    after += smaller.room.size();
    for (const Choices &choices : allChoices())
      ASSERT_EQ(fits(problem, choices), fits(smaller, choices));
  }
  EXPECT_LT(after, before / 2);
}

// What is too large no choices within the room have; whatever else there is fits beside the least.
TEST(Steps, WhatIsTooLargeFitsBesideNothing) {
  size_t found = 0;
  for (uint64_t seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 engine(seed);
    auto below = [&](int32_t bound) { return static_cast<int32_t>(engine() % bound); };
    Problem problem;
    problem.costs.assign(4, std::vector<double>(3));
    problem.costs[0][1] = forbidden;
    for (int32_t t = 0; t < 6; ++t)
      problem.room.push_back(12 + below(15));
    for (int32_t n = 0; n < 6; ++n) {
      int32_t begin = below(6), end = std::min(6, begin + 1 + below(4));
      problem.holds.push_back({below(4), begin, end, {below(12), below(12), below(12)}});
    }
    std::vector<int32_t> kept;
    leaveOutSteps(problem, kept);
    if (std::any_of(problem.room.begin(), problem.room.end(), [](int64_t r) { return r < 0; }))
      continue;
    std::vector<std::pair<int32_t, int32_t>> large = tooLarge(problem);
    found += large.size();
    auto isLarge = [&](int32_t v, int32_t i) {
      return std::find(large.begin(), large.end(), std::pair(v, i)) != large.end();
    };
    EXPECT_FALSE(isLarge(0, 1)); // it is out already
    std::vector<std::vector<bool>> fitting(4, std::vector<bool>(3));
    for (const Choices &choices : allChoices())
      if (fits(problem, choices))
        for (int32_t v = 0; v < 4; ++v)
          fitting[v][choices[v]] = true;
    for (int32_t v = 0; v < 4; ++v)
      for (int32_t i = 0; i < 3; ++i)
        if (isLarge(v, i))
          ASSERT_FALSE(fitting[v][i]) << v << " " << i;
    // Of one vertex that alone holds anything, the rule is exact.
    std::erase_if(problem.holds, [](const Hold &hold) { return hold.vertex != 3; });
    large = tooLarge(problem);
    for (int32_t i = 0; i < 3; ++i)
      ASSERT_EQ(isLarge(3, i), !fits(problem, {0, 0, 0, i}));
  }
  EXPECT_GT(found, 100u);
}

// Of a graph, within that capacity and within larger ones.
TEST(Steps, AGraphHoldsAsMuchWhereItMatters) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 engine(seed);
    auto below = [&](int32_t bound) { return static_cast<int32_t>(engine() % bound); };
    Graph graph;
    graph.costs.assign(4, std::vector<double>(3));
    for (int32_t n = 0; n < 9; ++n) {
      int32_t begin = below(12), end = std::min(12, begin + below(6));
      graph.holds.push_back({below(4), begin, end, {below(9), below(9), below(9)}});
    }
    int64_t capacity = 8 + below(25);
    Graph smaller = graph;
    leaveOutSteps(smaller, capacity);
    for (int32_t code = 0; code < 81; ++code) {
      Choices choices{code % 3, code / 3 % 3, code / 9 % 3, code / 27};
      for (int64_t more : {0, 1, 7})
        ASSERT_EQ(peakOf(graph, choices) <= capacity + more,
                  peakOf(smaller, choices) <= capacity + more);
    }
  }
}

} // namespace
