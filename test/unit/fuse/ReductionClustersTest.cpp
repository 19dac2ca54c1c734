// Clusters of reductions: everything whose users are all in one, and nothing without a reduction.
#include "passes/fuse/ReductionClusters.h"

#include <gtest/gtest.h>

using namespace tessera::fusion;
using Kind = ClusterNode::Kind;

static ClusterNode node(Kind kind, std::vector<int> users) {
  ClusterNode made;
  made.kind = kind;
  made.users.append(users.begin(), users.end());
  return made;
}

// max 0, difference 1, exponential 2, sum 3, reciprocal 4, product 5, contraction 6, return 7
static std::vector<ClusterNode> softmax(Kind reciprocal) {
  return {node(Kind::Reduction, {1}), node(Kind::Member, {2}), node(Kind::Member, {3, 5}),
          node(Kind::Reduction, {4}), node(reciprocal, {5}),   node(Kind::Member, {6}),
          node(Kind::Member, {7}),    node(Kind::Outside, {})};
}

TEST(ReductionClusters, AnOpJoinsAllItsUsers) {
  EXPECT_EQ(reductionClusters(softmax(Kind::Member)), (std::vector<int>{6, 6, 6, 6, 6, 6, 6, -1}));
}

TEST(ReductionClusters, WhatIsOutsideParts) {
  // The exponential has users in two clusters; what comes after the reciprocal has no reduction.
  EXPECT_EQ(reductionClusters(softmax(Kind::Outside)),
            (std::vector<int>{2, 2, 2, 3, -1, -1, -1, -1}));
}

TEST(ReductionClusters, NothingIsReadThroughAnEdge) {
  std::vector<ClusterNode> nodes = {node(Kind::Member, {1}), node(Kind::Edge, {2}),
                                    node(Kind::Reduction, {-1})};
  EXPECT_EQ(reductionClusters(nodes), (std::vector<int>{-1, 2, 2}));
}

TEST(ReductionClusters, ACopyIsNotRead) {
  std::vector<ClusterNode> nodes = {node(Kind::Member, {1, -1}), node(Kind::Reduction, {-1})};
  EXPECT_EQ(reductionClusters(nodes), (std::vector<int>{-1, 1}));
}
