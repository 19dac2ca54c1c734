// The links that explain how long collectives took.
#include "lib/cost/FitLinks.h"

#include <gtest/gtest.h>

namespace tessera::cost {
namespace {

std::vector<LinkObservation> observed(const links::Network &truth,
                                      std::initializer_list<int64_t> groups) {
  std::vector<LinkObservation> all;
  for (int64_t group : groups)
    for (links::Pattern kind :
         {links::Pattern::AllReduce, links::Pattern::AllToAll, links::Pattern::AllGather})
      for (double bytes : {1e3, 6e4, 1e6, 4e6}) {
        LinkObservation one{kind, group, bytes, 0};
        one.seconds = predictedSeconds(truth, one);
        all.push_back(one);
      }
  return all;
}

TEST(FitLinks, FindsOneLink) {
  links::Network truth;
  truth.link = {3e-5, 4e9};
  links::Network found = fitLinks(observed(truth, {2, 4}));
  EXPECT_TRUE(found.levels.empty());
  EXPECT_NEAR(found.link.alpha / truth.link.alpha, 1, 0.02);
  EXPECT_NEAR(found.link.beta / truth.link.beta, 1, 0.02);
}

TEST(FitLinks, OneDisturbedMeasurementSpoilsLittle) {
  links::Network truth;
  truth.link = {3e-5, 4e9};
  std::vector<LinkObservation> all = observed(truth, {2});
  all[5].seconds *= 100;
  links::Network found = fitLinks(all);
  EXPECT_NEAR(found.link.alpha / truth.link.alpha, 1, 0.1);
  EXPECT_NEAR(found.link.beta / truth.link.beta, 1, 0.1);
}

// Four processes a host, and a network ten times as slow between hosts.
TEST(FitLinks, FindsWhereSlowerLinksBegin) {
  links::Network truth;
  truth.levels = {{"near", 4, {1e-6, 1e10}}, {"far", 0, {2e-5, 1e9}}};
  links::Network found = fitLinks(observed(truth, {2, 4, 8}));
  ASSERT_EQ(found.levels.size(), 2u);
  EXPECT_EQ(found.levels[0].devices, 4);
  EXPECT_EQ(found.levels[1].devices, 0);
  EXPECT_NEAR(found.levels[0].link.beta / 1e10, 1, 0.05);
  EXPECT_NEAR(found.levels[1].link.beta / 1e9, 1, 0.1);
  EXPECT_NEAR(found.levels[1].link.alpha / 2e-5, 1, 0.1);
  EXPECT_EQ(links::wrongOf(found), "");
}

} // namespace
} // namespace tessera::cost
