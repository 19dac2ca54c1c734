#include "lib/sharding/ShardExchange.h"

#include "gtest/gtest.h"
#include <numeric>

namespace tessera::sharding {
namespace {

int64_t rowsSent(const ShardExchange &exchange) {
  int64_t rows = 0;
  for (const ExchangeRound &round : exchange.rounds)
    if (!round.pairs.empty())
      rows +=
          std::accumulate(round.shape.begin(), round.shape.end(), int64_t(1), std::multiplies<>());
  return rows;
}

TEST(ShardExchange, NothingIsSentThatIsThere) {
  Mesh mesh{"mesh", {{"x", 2}}, {}};
  AxisRefs x{{0, 1, 2}};
  auto exchange = planShardExchange(mesh, {8}, {DimLayout{x, 4}}, {WantedDim{x, 4, {}, 4}});
  ASSERT_EQ(exchange->rounds.size(), 1u);
  EXPECT_TRUE(exchange->rounds[0].pairs.empty());
}

// A device with 0..2 wants 01, 23 or 45: two rows at most, in as many rounds as a part has pieces.
TEST(ShardExchange, TwoShardsToThree) {
  Mesh mesh{"mesh", {{"x", 2}, {"y", 3}}, {}};
  AxisRefs x{{0, 1, 2}}, y{{1, 1, 3}};
  auto exchange = planShardExchange(mesh, {6}, {DimLayout{x, 3}}, {WantedDim{y, 2, {}, 2}});
  EXPECT_EQ(rowsSent(*exchange), 2);
}

// Each of seven devices wants a seventh of its tile of eight, of two rows; the last three nothing.
TEST(ShardExchange, PartsOfTiles) {
  Mesh mesh{"mesh", {{"x", 7}, {"y", 2}}, {}};
  AxisRef x{0, 1, 7}, y{1, 1, 2};
  auto exchange =
      planShardExchange(mesh, {16}, {DimLayout{{x, y}, 2}}, {WantedDim{{y}, 8, {x}, 2}});
  EXPECT_EQ(rowsSent(*exchange), 2);
}

// One device's rows to all others: it can send to one at a time.
TEST(ShardExchange, RoundsAreAsManyAsTheBusiestNeeds) {
  Mesh mesh{"mesh", {{"x", 4}}, {}};
  auto exchange =
      planShardExchange(mesh, {2}, {DimLayout{{{0, 1, 4}}, 2}}, {WantedDim{{}, 2, {}, 2}});
  EXPECT_EQ(rowsSent(*exchange), 6);
}

// Rows 7 and 8 of a part lie on two devices, others on one: whole parts of two rows by nine columns
// would need four rounds, two of them for half of a part.
TEST(ShardExchange, PartsAreCutAlike) {
  Mesh mesh{"mesh", {{"x", 2}, {"y", 4}}, {}};
  AxisRef x{0, 1, 2}, y{1, 1, 4};
  DimLayout held[] = {{{y}, 4}, {{x}, 9}};
  WantedDim wanted[] = {{{x}, 7, {y}, 2}, {{}, 18, {}, 18}};
  EXPECT_EQ(rowsSent(*planShardExchange(mesh, {14, 18}, held, wanted)), 54);
  EXPECT_EQ(rowsSent(*planShardExchange(mesh, {14, 18}, held, wanted, true)), 36);
}

// Parts of thousands of rows beside one of three: as many pieces as that makes are no plan. It was one that left rows out.
TEST(ShardExchange, PartsCutTooSmall) {
  Mesh mesh{"mesh", {{"x", 4}, {"y", 4}}, {}};
  AxisRef x{0, 1, 4}, y{1, 1, 4};
  DimLayout held[] = {{{y}, 17501}};
  WantedDim wanted[] = {{{x, y}, 4376, {}, 4376}};
  EXPECT_TRUE(planShardExchange(mesh, {70001}, held, wanted));
  EXPECT_FALSE(planShardExchange(mesh, {70001}, held, wanted, true));
}

// In no round does a rank send or receive twice.
TEST(ShardExchange, OneMessageARound) {
  Mesh mesh{"mesh", {{"x", 3}, {"y", 4}, {"z", 2}}, {}};
  AxisRef x{0, 1, 3}, y{1, 1, 4}, z{2, 1, 2};
  auto exchange = planShardExchange(mesh, {37, 23}, {DimLayout{{x, z}, 7}, DimLayout{{y}, 6}},
                                    {WantedDim{{y}, 10, {}, 10}, WantedDim{{z}, 12, {x}, 4}});
  for (const ExchangeRound &round : exchange->rounds) {
    std::vector<int> sends(24, 0), receives(24, 0);
    for (size_t i = 0; i < round.pairs.size(); i += 2) {
      EXPECT_EQ(++sends[round.pairs[i]], 1);
      EXPECT_EQ(++receives[round.pairs[i + 1]], 1);
    }
  }
}

} // namespace
} // namespace tessera::sharding
