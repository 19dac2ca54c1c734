// What propagation could not decide, and what it costs.
#include "lib/sharding/PropagationConflicts.h"
#include "lib/sharding/ConflictCost.h"

#include <gtest/gtest.h>

namespace tessera::sharding {
namespace {

const AxisRef x{0, 1, 4};
const Mesh mesh{"mesh", {{"x", 4}}, {}};

// C = dot(A, B) of m x k and k x n.
struct Dot {
  PropagationGraph graph;

  Dot(int64_t m, int64_t k, int64_t n) {
    graph.rules.push_back(
        {{{m}, {n}, {k, FactorKind::Reduction}}, {{{0}, {2}}, {{2}, {1}}}, {{{0}, {1}}}});
    for (Shape shape : {Shape{m, k}, Shape{k, n}, Shape{m, n}}) {
      PropagatedValue value;
      value.shape = shape;
      value.mesh = 0;
      value.sharding.dims.resize(2, {{}, false, std::nullopt});
      value.ops = {0};
      graph.values.push_back(value);
    }
    PropagatedOp op;
    op.rule = 0;
    op.flops = 2.0 * double(m) * double(k) * double(n);
    op.operands = {0, 1};
    op.results = {2};
    graph.ops.push_back(op);
  }
  DimSharding &dim(int value, int d) { return graph.values[value].sharding.dims[d]; }
};

TEST(PropagationConflicts, NamesWhoWantsTheAxisAndWhoHasIt) {
  Dot dot(8, 8, 8);
  dot.dim(0, 0).axes = dot.dim(1, 1).axes = dot.dim(2, 0).axes = {x};
  auto conflicts = conflictsOf(dot.graph, 0);
  ASSERT_EQ(conflicts.size(), 1u);
  EXPECT_EQ(conflicts[0].factor, 1);
  EXPECT_EQ(conflicts[0].axes, AxisRefs({x}));
  ASSERT_EQ(conflicts[0].proposals.size(), 2u); // A lacks the factor
  EXPECT_EQ(conflicts[0].proposals[0].refusal, Refusal::None);
  EXPECT_EQ(conflicts[0].proposals[1].refusal, Refusal::OtherDim);
}

TEST(PropagationConflicts, AClosedResultIsOne) {
  Dot dot(8, 8, 8);
  dot.dim(0, 0).axes = {x};
  dot.dim(2, 0).closed = true;
  auto conflicts = conflictsOf(dot.graph, 0);
  ASSERT_EQ(conflicts.size(), 1u);
  EXPECT_EQ(conflicts[0].proposals[1].refusal, Refusal::Closed);
}

TEST(PropagationConflicts, AgreementIsNone) {
  Dot dot(8, 8, 8);
  dot.dim(0, 0).axes = dot.dim(2, 0).axes = {x};
  EXPECT_TRUE(conflictsOf(dot.graph, 0).empty());
}

TEST(PropagationConflicts, AWholeOperandIsSlicedForNothing) {
  Dot dot(8, 8, 8);
  dot.dim(0, 1).axes = {x};
  dot.dim(1, 0).closed = true;
  EXPECT_TRUE(conflictsOf(dot.graph, 0).empty());
}

// Both operands want x: gathering the one of fewer bytes is chosen, whatever its number of
// elements.
TEST(ConflictCost, BytesDecideNotElements) {
  cost::Topology slow = cost::defaultTopology();
  slow.network.link.beta = 1e8;
  auto rows = [&](int64_t bytesOfA) {
    Dot dot(6 * 64, 64, 4 * 64);
    dot.graph.values[0].elementBytes = bytesOfA;
    dot.dim(0, 0).axes = dot.dim(1, 1).axes = {x};
    ConflictCost cost(dot.graph, {&mesh}, slow);
    dot.graph.seconds = [&](int32_t op, int32_t m, llvm::ArrayRef<TensorSharding> tensors) {
      return cost.seconds(op, m, tensors);
    };
    propagate(dot.graph);
    return dot.dim(2, 0).axes;
  };
  EXPECT_EQ(rows(4), AxisRefs({x}));
  EXPECT_EQ(rows(1), AxisRefs());
}

} // namespace
} // namespace tessera::sharding
