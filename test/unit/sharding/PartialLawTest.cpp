#include "lib/sharding/PartialLaw.h"

#include "gtest/gtest.h"
#include <cmath>
#include <functional>
#include <random>

namespace tessera::sharding {
namespace {

using State = OperandState;
using Values = std::vector<double>;

double combine(ReductionKind kind, const Values &parts) {
  double all = parts[0];
  for (size_t i = 1; i < parts.size(); ++i)
    all = kind == ReductionKind::Sum       ? all + parts[i]
          : kind == ReductionKind::Product ? all * parts[i]
          : kind == ReductionKind::Max     ? std::max(all, parts[i])
                                           : std::min(all, parts[i]);
  return all;
}

struct ScalarOp {
  PartialLaw law;
  size_t operands;
  std::function<double(const Values &)> compute;
};
const ScalarOp ops[] = {
    {PartialLaw::Add, 2, [](const Values &v) { return v[0] + v[1]; }},
    {PartialLaw::Subtract, 2, [](const Values &v) { return v[0] - v[1]; }},
    {PartialLaw::Multiply, 2, [](const Values &v) { return v[0] * v[1]; }},
    {PartialLaw::Divide, 2, [](const Values &v) { return v[0] / v[1]; }},
    {PartialLaw::Maximum, 2, [](const Values &v) { return std::max(v[0], v[1]); }},
    {PartialLaw::Minimum, 2, [](const Values &v) { return std::min(v[0], v[1]); }},
    {PartialLaw::Linear, 1, [](const Values &v) { return -v[0]; }},
    {PartialLaw::Select, 3, [](const Values &v) { return v[0] > 0 ? v[1] : v[2]; }},
    {PartialLaw::Move, 1, [](const Values &v) { return v[0]; }},
};
constexpr ReductionKind kinds[] = {ReductionKind::Sum, ReductionKind::Product, ReductionKind::Max,
                                   ReductionKind::Min};

// Tries whether the op commutes with the reduction over three devices, on many random values.
bool commutes(const ScalarOp &op, ReductionKind kind, const std::vector<State> &states) {
  std::mt19937 engine(1);
  std::uniform_real_distribution<double> draw(-2, 2);
  for (int round = 0; round < 200; ++round) {
    std::vector<Values> parts(3, Values(op.operands));
    Values whole(op.operands);
    for (size_t i = 0; i < op.operands; ++i) {
      double same = states[i] == State::Neutral && kind == ReductionKind::Sum       ? 0
                    : states[i] == State::Neutral && kind == ReductionKind::Product ? 1
                                                                                    : draw(engine);
      Values each;
      for (Values &device : parts)
        each.push_back(device[i] = states[i] == State::Partial ? draw(engine) : same);
      whole[i] = states[i] == State::Partial ? combine(kind, each) : same;
    }
    Values results;
    for (const Values &device : parts)
      results.push_back(op.compute(device));
    double a = combine(kind, results), b = op.compute(whole);
    if (!(std::abs(a - b) <= 1e-9 * (1 + std::abs(b))))
      return false;
  }
  return true;
}

// Whatever the table allows holds; and it knows all that holds, but for what it leaves out on
// purpose.
TEST(PartialLaw, HoldsOnRandomValues) {
  int allowed = 0;
  for (const ScalarOp &op : ops)
    for (ReductionKind kind : kinds)
      for (int64_t code = 0; code < std::pow(3, op.operands); ++code) {
        std::vector<State> states;
        for (int64_t rest = code; states.size() < op.operands; rest /= 3)
          states.push_back(State(rest % 3));
        if (std::count(states.begin(), states.end(), State::Partial) == 0 ||
            (op.law == PartialLaw::Divide && states[1] == State::Neutral))
          continue; // nothing to reduce; a division by zero
        if (commutesWithReduction({op.law, kind, states})) {
          ++allowed;
          EXPECT_TRUE(commutes(op, kind, states))
              << "law " << int(op.law) << " kind " << int(kind) << " states " << code;
        }
      }
  EXPECT_GT(allowed, 30);
}

TEST(PartialLaw, SumsAreAddedTogether) {
  auto ask = [](State a, State b) {
    const State states[] = {a, b};
    return commutesWithReduction({PartialLaw::Add, ReductionKind::Sum, states});
  };
  EXPECT_TRUE(ask(State::Partial, State::Partial));
  EXPECT_TRUE(ask(State::Partial, State::Neutral));
  EXPECT_FALSE(ask(State::Partial, State::Whole)) << "the whole one would be added once a device";
}

TEST(PartialLaw, ProductsOfTwoPartialValuesAreNot) {
  const State both[] = {State::Partial, State::Partial}, one[] = {State::Whole, State::Partial};
  EXPECT_FALSE(commutesWithReduction({PartialLaw::Contract, ReductionKind::Sum, both}));
  EXPECT_TRUE(commutesWithReduction({PartialLaw::Contract, ReductionKind::Sum, one}));
}

TEST(PartialLaw, IntegersRound) {
  const State states[] = {State::Partial, State::Whole};
  PartialQuery query{PartialLaw::Divide, ReductionKind::Sum, states};
  EXPECT_TRUE(commutesWithReduction(query));
  query.integer = true;
  EXPECT_FALSE(commutesWithReduction(query));
}

// A device without rows holds the least number as its part of a maximum: less 1, that is the largest.
TEST(PartialLaw, IntegersWrap) {
  const State states[] = {State::Partial, State::Whole};
  for (PartialLaw law : {PartialLaw::Add, PartialLaw::Subtract}) {
    PartialQuery query{law, ReductionKind::Max, states};
    EXPECT_TRUE(commutesWithReduction(query));
    query.integer = true;
    EXPECT_FALSE(commutesWithReduction(query));
  }
}

// i8 x i8 -> i32: the operand's sum wraps at 8 bits, that of the results at 32.
TEST(PartialLaw, OtherWidthsWrapElsewhere) {
  const State states[] = {State::Partial, State::Whole};
  PartialQuery query{PartialLaw::Contract, ReductionKind::Sum, states};
  query.integer = true;
  EXPECT_TRUE(commutesWithReduction(query));
  query.rewraps = true;
  EXPECT_FALSE(commutesWithReduction(query));
}

TEST(PartialLaw, RegionsMustCombineAlike) {
  const State states[] = {State::Partial, State::Neutral};
  PartialQuery query{PartialLaw::Reduce, ReductionKind::Sum, states};
  query.combiner = ReductionKind::Sum;
  EXPECT_TRUE(commutesWithReduction(query));
  query.combiner = ReductionKind::Max;
  EXPECT_FALSE(commutesWithReduction(query));
}

} // namespace
} // namespace tessera::sharding
