// What calls amount to, from their graph alone.
#include "passes/import/CallGraph.h"

#include <gtest/gtest.h>

namespace tessera::import {
namespace {

using Call = CalledFunction::Call;

TEST(CallGraph, DoublingIsCountedInLinearTime) {
  CallGraph graph;
  for (size_t i = 0; i < 30; ++i)
    graph.functions.push_back({3, 0, {Call{i + 1, 0}, Call{i + 1, 0}}});
  graph.functions.push_back({2, 0, {}});
  bool recursive;
  std::vector<size_t> order = graph.calleesFirst(0, recursive);
  EXPECT_FALSE(recursive);
  ASSERT_EQ(order.size(), 31u);
  EXPECT_EQ(order.front(), 30u);
  InlinedSize size = graph.sizes(order)[0];
  EXPECT_EQ(size.operations, 5 * (uint64_t(1) << 30) - 3); // 3 (2^30 - 1) + 2 * 2^30
  EXPECT_EQ(size.calls, 30u);
}

TEST(CallGraph, MoreThanSixtyTwoBitsIsUncountable) {
  CallGraph graph;
  for (size_t i = 0; i < 200; ++i)
    graph.functions.push_back({3, 0, {Call{i + 1, 0}, Call{i + 1, 0}, Call{i + 1, 0}}});
  graph.functions.push_back({1, 0, {}});
  bool recursive;
  EXPECT_EQ(graph.sizes(graph.calleesFirst(0, recursive))[0].operations, kUncountable);
}

// main nests a call in 2 regions; f nests one in 3, and has 4 of its own elsewhere; g has 1.
TEST(CallGraph, RegionsAddUpAlongCalls) {
  CallGraph graph{{{1, 2, {Call{1, 2}}}, {1, 4, {Call{2, 3}}}, {1, 1, {}}}};
  bool recursive;
  std::vector<InlinedSize> sizes = graph.sizes(graph.calleesFirst(0, recursive));
  EXPECT_EQ(sizes[0].regions, 6u);
  EXPECT_EQ(sizes[1].regions, 4u);
}

TEST(CallGraph, RecursionIsFound) {
  CallGraph graph{{{1, 0, {Call{1, 0}}}, {1, 0, {Call{2, 0}}}, {1, 0, {Call{1, 0}}}}};
  bool recursive;
  EXPECT_EQ(graph.calleesFirst(0, recursive).back(), 1u);
  EXPECT_TRUE(recursive);
}

TEST(CallGraph, LongChainsTakeNoStack) {
  CallGraph graph;
  for (size_t i = 0; i < 1000000; ++i)
    graph.functions.push_back({1, 0, {Call{i + 1, 0}}});
  graph.functions.push_back({1, 0, {}});
  bool recursive;
  EXPECT_EQ(graph.sizes(graph.calleesFirst(0, recursive))[0].calls, 1000000u);
}

} // namespace
} // namespace tessera::import
