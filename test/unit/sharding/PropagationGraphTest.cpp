// Propagation through a program, on plain data: what is visited, and in which order rounds decide.
#include "lib/sharding/PropagationGraph.h"

#include <gtest/gtest.h>

namespace tessera::sharding {
namespace {

const AxisRef a{0, 1, 2}, b{1, 1, 2};

// Values of one dimension of 8; ops are identities.
struct Chain {
  PropagationGraph graph;

  Chain() { graph.rules.push_back({{{8}}, {{{0}}}, {{{0}}}}); }

  int32_t value(AxisRefs axes = {}, std::optional<int64_t> priority = std::nullopt) {
    PropagatedValue value;
    value.mesh = axes.empty() ? -1 : 0;
    value.sharding.dims.push_back({axes, /*closed=*/false, priority});
    graph.values.push_back(value);
    return graph.values.size() - 1;
  }

  void op(int32_t operand, int32_t result, OpClass opClass = OpClass::PassThrough,
          Flow flow = Flow::Both) {
    PropagatedOp op;
    op.rule = 0;
    op.opClass = opClass;
    op.flow = flow;
    op.operands = {operand};
    op.results = {result};
    for (int32_t v : {operand, result})
      graph.values[v].ops.push_back(graph.ops.size());
    graph.ops.push_back(op);
  }

  const AxisRefs &axes(int32_t value) const { return graph.values[value].sharding.dims[0].axes; }
};

TEST(PropagationGraph, ReachesBothEndsOfALongChain) {
  Chain chain;
  constexpr int kLength = 1000;
  for (int i = 0; i < kLength; ++i)
    chain.value(i == kLength / 2 ? AxisRefs{a} : AxisRefs{});
  for (int i = 0; i + 1 < kLength; ++i)
    chain.op(i, i + 1);
  propagate(chain.graph);
  EXPECT_EQ(chain.axes(0), AxisRefs({a}));
  EXPECT_EQ(chain.axes(kLength - 1), AxisRefs({a}));
}

TEST(PropagationGraph, PassThroughGoesBeforeOthers) {
  Chain chain;
  int32_t x = chain.value({a}), y = chain.value(), z = chain.value({b});
  chain.op(x, y, OpClass::Other);
  chain.op(y, z, OpClass::PassThrough);
  propagate(chain.graph);
  EXPECT_EQ(chain.axes(y), AxisRefs({b}));
}

TEST(PropagationGraph, PrioritiesGoInOrder) {
  Chain chain;
  int32_t x = chain.value({a}, 1), y = chain.value(), z = chain.value({b});
  chain.op(x, y);
  chain.op(y, z);
  propagate(chain.graph);
  EXPECT_EQ(chain.axes(y), AxisRefs({b}));
  EXPECT_EQ(chain.axes(x), AxisRefs({a})); // put off, not overridden
}

TEST(PropagationGraph, WhatComesLastIsBehindAllPriorities) {
  Chain chain;
  int32_t x = chain.value({a}), y = chain.value(), z = chain.value({b}, 5);
  chain.graph.values[x].last = true;
  chain.op(x, y);
  chain.op(y, z);
  propagate(chain.graph);
  EXPECT_EQ(chain.axes(y), AxisRefs({b}));
  EXPECT_EQ(chain.axes(x), AxisRefs({a}));
}

TEST(PropagationGraph, BarrierLetsThroughOneWay) {
  Chain chain;
  int32_t x = chain.value(), y = chain.value({a});
  chain.op(x, y, OpClass::Fixed, Flow::Forward);
  propagate(chain.graph);
  EXPECT_TRUE(chain.axes(x).empty());
}

TEST(PropagationGraph, GroupsAreShardedAlike) {
  Chain chain;
  int32_t x = chain.value({a}), y = chain.value(), z = chain.value();
  chain.graph.values[x].group = chain.graph.values[y].group = 0;
  chain.op(y, z);
  propagate(chain.graph);
  EXPECT_EQ(chain.axes(y), AxisRefs({a}));
  EXPECT_EQ(chain.axes(z), AxisRefs({a}));
}

TEST(PropagationGraph, StepsNameTheirSource) {
  Chain chain;
  int32_t x = chain.value({a}), y = chain.value();
  chain.op(x, y);
  chain.graph.recordSteps = true;
  propagate(chain.graph);
  ASSERT_EQ(chain.graph.steps.size(), 1u);
  EXPECT_EQ(chain.graph.steps[0].value, y);
  EXPECT_EQ(chain.graph.steps[0].source, x);
}

// A loop's value reaches its users after the loop before those inside, as in Shardy.
TEST(PropagationGraph, UsersOutsideOfALoopComeFirst) {
  PropagationGraph graph;
  graph.rules.push_back({{{8}, {8}}, {{{0}, {1}}}, {{{0}, {1}}}});
  graph.rules.push_back({{{8}, {8}}, {{{0}, {1}}}, {{{1}, {0}}}}); // transposed
  for (int i = 0; i < 3; ++i)
    graph.values.emplace_back().sharding.dims.resize(2, {{}, false, std::nullopt});
  constexpr int32_t kStart = 0, kCarried = 1, kUsed = 2;
  graph.values[kStart].mesh = 0;
  graph.values[kStart].sharding.dims[0].axes = {a};
  auto op = [&](int32_t rule, int32_t operand, int32_t result) {
    PropagatedOp op;
    op.rule = rule;
    op.opClass = OpClass::PassThrough;
    op.operands = {operand};
    op.results = {result};
    graph.ops.push_back(op);
  };
  op(1, kCarried, kUsed); // inside
  op(0, kCarried, kUsed);
  op(0, kStart, kCarried);
  graph.values[kStart].ops = {2};
  graph.values[kCarried].ops = {1, 2, 0};
  graph.values[kCarried].outside = 2;
  graph.values[kUsed].ops = {0, 1};
  propagate(graph);
  EXPECT_EQ(graph.values[kUsed].sharding.dims[0].axes, AxisRefs({a}));
}

} // namespace
} // namespace tessera::sharding
