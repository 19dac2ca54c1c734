// Which links a group uses, and the best way over them.
#include "lib/links/Network.h"

#include <gtest/gtest.h>

namespace tessera::links {
namespace {

using Crossings = std::vector<Crossing>;

const Link kFast{1e-6, 1e11}, kSlow{1e-5, 1e10};

Network twoLevels() {
  Network network;
  network.levels = {{"host", 8, kFast}, {"pod", 0, kSlow}};
  return network;
}

std::vector<int64_t> sizesOf(const Route &route) {
  std::vector<int64_t> sizes;
  for (const Stage &stage : route.stages)
    sizes.push_back(stage.size);
  return sizes;
}

TEST(RouteTest, AnAxisIsSplitByTheLevelsThatItCrosses) {
  Network network = twoLevels();
  EXPECT_EQ(sizesOf(routeOf(network, Crossings{{"x", 0, 1, 8}})), std::vector<int64_t>{8});
  EXPECT_EQ(sizesOf(routeOf(network, Crossings{{"x", 0, 1, 32}})), (std::vector<int64_t>{8, 4}));
  EXPECT_EQ(sizesOf(routeOf(network, Crossings{{"x", 0, 4, 16}})), (std::vector<int64_t>{2, 8}));
  EXPECT_EQ(sizesOf(routeOf(network, Crossings{{"x", 0, 8, 4}})), std::vector<int64_t>{4});
  EXPECT_EQ(routeOf(network, Crossings{{"x", 0, 8, 4}}).stages[0].link, kSlow);
  // Of 6 in steps of 4: 2 in a host; of 3 in steps of 3 none stay in one.
  EXPECT_EQ(sizesOf(routeOf(network, Crossings{{"x", 0, 4, 6}})), (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(sizesOf(routeOf(network, Crossings{{"x", 0, 3, 3}})), std::vector<int64_t>{3});
  // Two axes of a host are one stage there.
  EXPECT_EQ(sizesOf(routeOf(network, Crossings{{"x", 0, 8, 4}, {"y", 1, 2, 4}, {"z", 2, 1, 2}})),
            (std::vector<int64_t>{8, 4}));
}

TEST(RouteTest, LinksAreThoseOfAxesOrOfLevels) {
  Network plain;
  EXPECT_EQ(routeOf(plain, Crossings{{"x", 0, 4, 2}, {"y", 1, 1, 4}}).links, 3u);
  EXPECT_EQ(routeOf(plain, Crossings{{"x", 0, 4, 1}}).links, 0u);
  EXPECT_EQ(routeOf(plain, Crossings{{"x", 1000, 4, 2}}).links, uint64_t{1} << (kAxisLinks - 1));
  EXPECT_EQ(routeOfTable(plain, 4).links, uint64_t{1} << kLinkOfTables);
  Network network = twoLevels();
  network.axes["named"] = kSlow;
  EXPECT_EQ(routeOf(network, Crossings{{"x", 0, 4, 4}}).links, uint64_t{3} << kLevelLinks);
  EXPECT_EQ(routeOf(network, Crossings{{"named", 5, 4, 4}}).links, uint64_t{1} << 5);
}

// Within hosts all bytes, between them an eighth.
TEST(SecondsTest, LevelsAreTakenOneAfterTheOther) {
  Route route = routeOf(twoLevels(), Crossings{{"x", 0, 1, 32}});
  double bytes = 8e9;
  double inside = seconds(Pattern::ReduceScatter, bytes, 8, kFast) +
                  seconds(Pattern::AllGather, bytes, 8, kFast);
  EXPECT_DOUBLE_EQ(seconds(Pattern::AllReduce, bytes, route),
                   inside + seconds(Pattern::AllReduce, bytes / 8, 4, kSlow));
  EXPECT_DOUBLE_EQ(seconds(Pattern::AllGather, bytes, route),
                   seconds(Pattern::AllGather, bytes, 8, kFast) +
                       seconds(Pattern::AllGather, bytes / 8, 4, kSlow));
  EXPECT_DOUBLE_EQ(seconds(Pattern::AllReduce, 0, route), 3 * kFast.alpha + 2 * kSlow.alpha);
  // Three quarters of the pairs are in two hosts.
  EXPECT_NEAR(seconds(Pattern::AllToAll, bytes, route), 0.75 * bytes / kSlow.beta, 1e-4);
  EXPECT_DOUBLE_EQ(seconds(Pattern::Permute, bytes, route), kSlow.alpha + bytes / kSlow.beta);
}

// The best way is never slower than to take every link for the slowest one.
TEST(SecondsTest, NeverSlowerThanFlat) {
  Route route = routeOf(twoLevels(), Crossings{{"x", 0, 1, 32}});
  for (double bytes = 1; bytes < 1e10; bytes *= 3)
    for (Pattern pattern : {Pattern::AllReduce, Pattern::AllGather, Pattern::ReduceScatter,
                            Pattern::AllToAll, Pattern::Permute, Pattern::Broadcast})
      EXPECT_LE(seconds(pattern, bytes, route), 1.000001 * seconds(pattern, bytes, 32, kSlow));
}

TEST(SecondsTest, ARingSendsBothWays) {
  Link ring{1e-6, 1e9, 2}, port{1e-6, 1e9, 1};
  double many = 1e9;
  EXPECT_NEAR(seconds(Pattern::AllReduce, many, 8, ring),
              seconds(Pattern::AllReduce, many, 8, port) / 2, 1e-4);
  EXPECT_NEAR(seconds(Pattern::AllGather, many, 8, ring),
              seconds(Pattern::AllGather, many, 8, port) / 2, 1e-4);
  // Few bytes take few steps.
  EXPECT_EQ(seconds(Pattern::AllReduce, 4, 64, ring), seconds(Pattern::AllReduce, 4, 64, port));
  EXPECT_EQ(seconds(Pattern::AllToAll, many, 8, ring), 4e-6 + 1);
}

// On a torus half of the bytes begin along each axis.
TEST(SecondsTest, ATorusUsesAllItsAxes) {
  Network torus;
  torus.link = {0, 1e9, 2};
  Route route = routeOf(torus, Crossings{{"x", 0, 8, 8}, {"y", 1, 1, 8}});
  double bytes = 64e6, along = 7.0 / 8 / 2 * (1 + 1.0 / 8);
  EXPECT_NEAR(seconds(Pattern::AllGather, bytes, route), along * bytes / 2 / 1e9, 1e-9);
  EXPECT_NEAR(seconds(Pattern::AllReduce, bytes, route), along * bytes / 1e9, 1e-9);
}

} // namespace
} // namespace tessera::links
