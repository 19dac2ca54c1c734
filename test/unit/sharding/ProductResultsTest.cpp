// Where products that are partial are left.
#include "lib/sharding/ProductResults.h"

#include <gtest/gtest.h>

namespace tessera::sharding {
namespace {

const AxisRef x{0, 1, 4}, y{1, 1, 2};
const Mesh mesh{"mesh", {{"x", 4}, {"y", 2}}, {}};

// C = dot(A, B) of k and k x n, with A on {"x"}, B on {"x"}, {"y"}: C is made on {"y"}.
struct Dot {
  PropagationGraph graph;

  explicit Dot(int64_t n) {
    graph.rules.push_back({{{n}, {8, FactorKind::Reduction}}, {{{1}}, {{1}, {0}}}, {{{0}}}});
    for (Shape shape : {Shape{8}, Shape{8, n}, Shape{n}}) {
      PropagatedValue value;
      value.shape = shape;
      value.mesh = 0;
      value.sharding.dims.resize(shape.size(), {{}, false, std::nullopt});
      value.ops = {0};
      graph.values.push_back(value);
    }
    graph.values[0].sharding.dims[0].axes = graph.values[1].sharding.dims[0].axes = {x};
    graph.values[1].sharding.dims[1].axes = {y};
    PropagatedOp op;
    op.rule = 0;
    op.contraction = true;
    op.operands = {0, 1};
    op.results = {2};
    graph.ops.push_back(op);
  }
  // With C propagated to `axes`.
  int64_t changed(AxisRefs axes) {
    PropagationGraph annotated = graph;
    graph.values[2].sharding.dims[0].axes = axes;
    return reduceWhereMade(graph, annotated, {&mesh}, cost::defaultTopology());
  }
  AxisRefs result() const { return graph.values[2].sharding.dims[0].axes; }
};

TEST(ProductResults, SummedUpBeforeMovingSendsLess) {
  Dot dot(16); // 64 bytes: 48 + 16 beside 32 + 48
  EXPECT_EQ(dot.changed({x}), 1);
  EXPECT_EQ(dot.result(), AxisRefs({y}));
}

TEST(ProductResults, ScatteredWhereMadeStays) {
  Dot dot(16); // a reduce-scatter alone
  EXPECT_EQ(dot.changed({y, x}), 0);
  EXPECT_EQ(dot.result(), AxisRefs({y, x}));
}

TEST(ProductResults, ALargeOneGoesInPieces) {
  Dot dot(1 << 24); // latency says nothing there: reduce-scatter, permute, all-gather send least
  EXPECT_EQ(dot.changed({x}), 0);
}

TEST(ProductResults, WhatIsAnnotatedOrClosedStays) {
  Dot annotated(16);
  annotated.graph.values[2].sharding.dims[0].axes = {x};
  EXPECT_EQ(annotated.changed({x}), 0);
  Dot closed(16);
  closed.graph.values[2].sharding.dims[0].closed = true;
  EXPECT_EQ(closed.changed({}), 0);
  Dot grouped(16);
  grouped.graph.values[2].group = 0;
  EXPECT_EQ(grouped.changed({x}), 0);
}

} // namespace
} // namespace tessera::sharding
