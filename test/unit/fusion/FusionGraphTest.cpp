// Kernel plans: what runs together.
#include "lib/fusion/FusionGraph.h"
#include "test/unit/fusion/Nodes.h"

#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <gtest/gtest.h>

using namespace tessera::fusion;

TEST(FusionGraph, ExpensiveValuesAreComputedOnce) {
  // exp is read by a sum and by what divides by it.
  Node sum = compute(NodeKind::Reduce, {{1, Use::Reduced}}, 2, 8);
  sum.reduced = 3;
  std::vector<Node> nodes = {outside({}),
                             compute(NodeKind::Pointwise, {{0, Use::Once}}, 1, 64, true),
                             sum,
                             compute(NodeKind::Broadcast, {{2, Use::Reread}}),
                             compute(NodeKind::Pointwise, {{1, Use::Once}, {3, Use::Once}}),
                             outside({4})};
  Plan plan = planKernels(nodes);
  EXPECT_EQ(plan.kernels.size(), 3u);
}

// 7, which 8 is a function of, and of which so many others are computed outside; 4, which both 5 and 7 are functions of;
// and 1, which 2 is.
static std::vector<Node> withFar(int others) {
  auto function = [](int of, bool isExpensive) {
    return compute(NodeKind::Pointwise, {{of, Use::Once}}, 1, 64, isExpensive);
  };
  std::vector<Node> nodes = {outside({}),     function(0, true),  function(1, true),
                             outside({1}),    function(0, false), function(4, true),
                             outside({4, 5}), function(4, true),  function(7, true),
                             outside({7})};
  for (int other = 0; other < others; ++other)
    nodes.push_back(outside({int(nodes.size()) - 1}));
  nodes.push_back(outside({2, 5, 8}));
  return nodes;
}

static bool areTogether(const Plan &plan, int a, int b) {
  return llvm::any_of(plan.kernels, [&](const Kernel &kernel) {
    return llvm::is_contained(kernel.nodes, a) && llvm::is_contained(kernel.nodes, b);
  });
}

TEST(FusionGraph, WhatIsFarOfAValueIsFarOfWhatThatIsComputedOf) {
  Limits few;
  few.searchSteps = 20;
  Plan near = planKernels(withFar(10), few), far = planKernels(withFar(30), few);
  EXPECT_TRUE(areTogether(near, 7, 8) && areTogether(near, 4, 5) && areTogether(near, 1, 2));
  EXPECT_FALSE(areTogether(far, 7, 8)); // 30 others are too many to look at
  EXPECT_FALSE(areTogether(far, 4, 5)); // as 7 is computed of 4
  EXPECT_TRUE(areTogether(far, 1, 2));
}

// A product h; s, so many functions of it; h * s, of which somebody makes another array; h * s * that.
static std::vector<Node> gated(int64_t elements, int functions) {
  auto pointwise = [&](std::vector<Edge> reads, bool expensive = false) {
    return compute(NodeKind::Pointwise, std::move(reads), 1, elements, expensive);
  };
  std::vector<Node> nodes = {outside({}),
                             compute(NodeKind::Contraction, {{0, Use::Packed}}, 1, elements)};
  for (int last = 1; last <= functions; ++last)
    nodes.push_back(pointwise({{last, Use::Once}}, true));
  int s = functions + 1;
  nodes.push_back(pointwise({{1, Use::Once}, {s, Use::Once}}));
  nodes.push_back(outside({s + 1}));
  nodes.push_back(pointwise({{1, Use::Once}, {s, Use::Once}, {s + 2, Use::Once}}));
  nodes.push_back(outside({s + 3}));
  return nodes;
}

static std::vector<int> outputsOfProduct(const std::vector<Node> &nodes) {
  for (const Kernel &kernel : planKernels(nodes).kernels)
    if (llvm::is_contained(kernel.nodes, 1))
      return kernel.outputs;
  return {};
}

constexpr int64_t beyondCaches = 1 << 18;

TEST(FusionGraph, WhatAllReadersHaveTheOperandsOfIsMadeAgain) {
  std::vector<Node> nodes = gated(beyondCaches, 2);
  EXPECT_EQ(outputsOfProduct(nodes), (std::vector<int>{1, 4}));
  for (const Kernel &kernel : planKernels(nodes).kernels)
    EXPECT_TRUE(llvm::is_contained(kernel.nodes, 2) && llvm::is_contained(kernel.nodes, 3));
}

TEST(FusionGraph, WhatACacheHoldsIsMadeOnce) {
  EXPECT_EQ(outputsOfProduct(gated(64, 2)), (std::vector<int>{1, 3, 4}));
}

TEST(FusionGraph, WhatTakesSeveralFunctionsIsMadeOnce) {
  EXPECT_EQ(outputsOfProduct(gated(beyondCaches, 3)), (std::vector<int>{1, 4, 5}));
}

TEST(FusionGraph, WhatAReaderHasNoOperandsOfIsMadeOnce) {
  std::vector<Node> nodes = gated(beyondCaches, 2);
  nodes[6].operands.erase(nodes[6].operands.begin()); // reads s, not h
  EXPECT_EQ(outputsOfProduct(nodes), (std::vector<int>{3, 4}));
}

// A product h; m1 and m2 of it, both for somebody else, too; n of those, which two kernels that have h
// read.
static std::vector<Node> madeOfStored(int64_t elements) {
  auto pointwise = [&](std::vector<int> reads, bool expensive = false) {
    std::vector<Edge> edges;
    for (int n : reads)
      edges.push_back({n, Use::Once});
    return compute(NodeKind::Pointwise, edges, 1, elements, expensive);
  };
  return {outside({}),
          compute(NodeKind::Contraction, {{0, Use::Packed}}, 1, elements),
          pointwise({1}),
          pointwise({1}),
          outside({2}),
          outside({3}),
          pointwise({2, 3}, true),
          pointwise({1, 6}),
          outside({7}),
          pointwise({1, 6, 8}),
          outside({9})};
}

TEST(FusionGraph, WhatIsMadeOfMoreThatIsStoredIsMadeOnce) {
  auto kernelsOf = [](int64_t elements) {
    std::vector<std::vector<int>> kernels;
    for (const Kernel &kernel : planKernels(madeOfStored(elements)).kernels)
      kernels.push_back(kernel.nodes);
    return kernels;
  };
  EXPECT_EQ(kernelsOf(beyondCaches), kernelsOf(64)) << "else m1 and m2 are held instead of n";
}

// max, exp(x - max), sum, exp / sum; the sum is read by somebody else, too.
static std::vector<Node> softmax() {
  auto fold = [](int n) {
    Node node = compute(NodeKind::Reduce, {{n, Use::Reduced}}, 2, 8);
    node.reduced = 3;
    return node;
  };
  auto spread = [](int n) {
    Node node = compute(NodeKind::Broadcast, {{n, Use::Reread}});
    node.reduced = 3;
    return node;
  };
  return {outside({}),
          fold(0),
          spread(1),
          compute(NodeKind::Pointwise, {{0, Use::Once}, {2, Use::Once}}, 1, 64, true),
          fold(3),
          spread(4),
          compute(NodeKind::Pointwise, {{3, Use::Once}, {5, Use::Once}}, 1, 64, true),
          outside({4, 6})};
}

TEST(FusionGraph, RowsStayInOneKernel) {
  Plan plan = planKernels(softmax());
  ASSERT_EQ(plan.kernels.size(), 1u);
  EXPECT_EQ(plan.kernels[0].nodes, (std::vector<int>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(plan.kernels[0].outputs, (std::vector<int>{4, 6}));
}

TEST(FusionGraph, RowsOfAnotherKindAreFoldedApart) {
  std::vector<Node> nodes = softmax();
  nodes[5].reduced = 4; // its result is for columns
  EXPECT_EQ(planKernels(nodes).kernels.size(), 2u);
}

TEST(FusionGraph, MovementIsNoPartOfRows) {
  std::vector<Node> nodes = softmax();
  nodes[0] = compute(NodeKind::Movement, {});
  EXPECT_EQ(planKernels(nodes).kernels.size(), 2u);
}

// The sum of six arrays that are moved.
static std::vector<Node> movedArrays(bool areCut) {
  std::vector<Node> nodes;
  int sum = -1;
  for (int i = 0; i < 6; ++i) {
    nodes.push_back(compute(NodeKind::Movement, {}));
    nodes.back().cuts = areCut;
    int moved = int(nodes.size()) - 1;
    if (sum >= 0)
      nodes.push_back(compute(NodeKind::Pointwise, {{sum, Use::Once}, {moved, Use::Once}}));
    sum = int(nodes.size()) - 1;
  }
  nodes.push_back(outside({sum}));
  return nodes;
}

TEST(FusionGraph, PiecesOfAKernelAreFew) {
  EXPECT_EQ(planKernels(movedArrays(/*areCut=*/false)).kernels.size(), 1u);
  EXPECT_GT(planKernels(movedArrays(/*areCut=*/true)).kernels.size(), 1u);
}

// The loss of a softmax's rows, of which a gather takes one element each: less the row's sum, added up
// over all rows.
static std::vector<Node> losses(bool yieldsElements) {
  std::vector<Node> nodes = softmax();
  Node spread = nodes[5], quotient = nodes[6];
  nodes.resize(5);
  nodes.push_back(compute(NodeKind::Movement, {{0, Use::Once}}, 2, 8));
  nodes.back().reduced = 3;
  nodes.push_back(compute(NodeKind::Pointwise, {{5, Use::Once}, {4, Use::Once}}, 2, 8));
  nodes.push_back(compute(NodeKind::Reduce, {{6, Use::Reduced}}, 5, 1));
  if (!yieldsElements) {
    nodes.push_back(outside({7}));
    return nodes;
  }
  quotient.operands[1].node = 8;
  nodes.insert(nodes.end(), {spread, quotient, outside({7, 9})});
  return nodes;
}

TEST(FusionGraph, WhatIsComputedOfRowsStaysWithThem) {
  Plan plan = planKernels(losses(/*yieldsElements=*/false));
  ASSERT_EQ(plan.kernels.size(), 2u);
  EXPECT_EQ(plan.kernels[0].nodes, (std::vector<int>{7}));
  EXPECT_EQ(plan.kernels[1].nodes, (std::vector<int>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(plan.kernels[1].outputs, (std::vector<int>{6}));
}

TEST(FusionGraph, WhatIsComputedOfRowsJoinsTheirElements) {
  Plan plan = planKernels(losses(/*yieldsElements=*/true));
  ASSERT_EQ(plan.kernels.size(), 2u);
  EXPECT_EQ(plan.kernels[0].nodes, (std::vector<int>{1, 2, 3, 4, 5, 6, 8, 9}));
  EXPECT_EQ(plan.kernels[0].outputs, (std::vector<int>{6, 9}));
  EXPECT_EQ(plan.kernels[1].nodes, (std::vector<int>{7}));
}

// exp of something, folded for somebody, and narrowed for a contraction.
static std::vector<Node> narrowed(bool sumIsFirst) {
  std::vector<Node> nodes = softmax();
  nodes.resize(4);
  int sum = sumIsFirst ? 4 : 5, narrow = 9 - sum;
  nodes.resize(6);
  nodes[sum] = softmax()[4];
  nodes[narrow] = compute(NodeKind::Convert, {{3, Use::Once}});
  nodes[narrow].narrows = true;
  nodes.push_back(compute(NodeKind::Contraction, {{narrow, Use::Packed}, {0, Use::Packed}}, 4));
  nodes.push_back(outside({sum, 6}));
  return nodes;
}

TEST(FusionGraph, WhatIsNarrowedIsStoredNarrow) {
  for (bool sumIsFirst : {false, true}) {
    Plan plan = planKernels(narrowed(sumIsFirst));
    ASSERT_EQ(plan.kernels.size(), 2u) << sumIsFirst;
    for (const Kernel &kernel : plan.kernels)
      EXPECT_FALSE(std::count(kernel.outputs.begin(), kernel.outputs.end(), 3)) << "exp as it is";
  }
}

TEST(FusionGraph, WhatIsReadAsWideAsItIsIsStoredOnce) {
  std::vector<Node> nodes = narrowed(true);
  nodes.back().operands.push_back({3, Use::Whole});
  for (const Kernel &kernel : planKernels(nodes).kernels)
    EXPECT_FALSE(std::count(kernel.outputs.begin(), kernel.outputs.end(), 5)) << "both widths";
}

// A product and its maximum for a second product; the sign of it for what comes behind that.
static std::vector<Node> signs() {
  std::vector<Node> nodes = {outside({}),
                             compute(NodeKind::Constant, {}),
                             compute(NodeKind::Contraction, {{0, Use::Packed}, {0, Use::Packed}}),
                             compute(NodeKind::Pointwise, {{2, Use::Once}, {1, Use::Once}}),
                             compute(NodeKind::Pointwise, {{2, Use::Once}, {1, Use::Once}}),
                             compute(NodeKind::Contraction, {{3, Use::Packed}, {0, Use::Packed}}),
                             outside({5}),
                             compute(NodeKind::Pointwise, {{4, Use::Once}, {6, Use::Once}}),
                             outside({7})};
  nodes[4].narrows = true;
  return nodes;
}

TEST(FusionGraph, WhatOthersReadIsStoredAsNarrowAsTheyReadIt) {
  for (const Kernel &kernel : planKernels(signs()).kernels)
    if (llvm::is_contained(kernel.nodes, 2))
      EXPECT_EQ(kernel.outputs, (std::vector<int>{3, 4}));
    else
      EXPECT_FALSE(llvm::is_contained(kernel.nodes, 4));
}

TEST(FusionGraph, WhatIsReadForMoreThanItsSignIsStored) {
  std::vector<Node> nodes = signs();
  nodes[7].operands.push_back({2, Use::Once});
  for (const Kernel &kernel : planKernels(nodes).kernels)
    EXPECT_FALSE(llvm::is_contained(kernel.outputs, 4));
}

TEST(FusionGraph, CollectiveOperandsAreNotDelayed) {
  std::vector<Node> nodes = {
      outside({}), compute(NodeKind::Pointwise, {{0, Use::Once}}, 1, 64, true), outside({1}, true),
      compute(NodeKind::Pointwise, {{1, Use::Once}}, 1, 64, true), outside({3})};
  EXPECT_EQ(planKernels(nodes).kernels.size(), 2u);
  nodes[2].collective = false;
  EXPECT_EQ(planKernels(nodes).kernels.size(), 1u) << "otherwise one kernel yields both";
}

TEST(FusionGraph, ReshapesOfArraysAreViews) {
  std::vector<Node> nodes = {outside({}), compute(NodeKind::Reshape, {{0, Use::Once}}, 2),
                             compute(NodeKind::Pointwise, {{1, Use::Once}}, 2), outside({2})};
  Plan plan = planKernels(nodes);
  ASSERT_EQ(plan.kernels.size(), 1u);
  EXPECT_EQ(plan.kernels[0].nodes, (std::vector<int>{2}));
  EXPECT_EQ(plan.views, (std::vector<int>{1}));
}
