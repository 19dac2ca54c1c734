// Kernel plans of random graphs: that any plan can run at all.
#include "test/unit/fusion/Nodes.h"

#include <algorithm>
#include <functional>
#include <gtest/gtest.h>
#include <random>
#include <set>

using namespace tessera::fusion;

// In a plan every read value is in the same kernel or is an output of another one, and kernels
// don't wait for each other in a circle.
static void check(const std::vector<Node> &nodes, const Plan &plan) {
  std::vector<int> maker(nodes.size(), -1);
  std::vector<bool> view(nodes.size(), false);
  for (size_t k = 0; k < plan.kernels.size(); ++k)
    for (int n : plan.kernels[k].outputs) {
      EXPECT_EQ(maker[n], -1) << "node " << n << " is made by two kernels";
      maker[n] = k;
    }
  for (int n : plan.views)
    view[n] = true;
  // Units: kernels, then nodes outside.
  std::vector<std::set<int>> waitsFor(plan.kernels.size() + nodes.size());
  auto unit = [&](int n) {
    bool stays = nodes[n].kind == NodeKind::Outside || view[n] ||
                 (nodes[n].kind == NodeKind::Constant && nodes[n].free && maker[n] < 0);
    return stays ? static_cast<int>(plan.kernels.size()) + n : maker[n];
  };
  for (size_t k = 0; k < plan.kernels.size(); ++k) {
    std::set<int> inside(plan.kernels[k].nodes.begin(), plan.kernels[k].nodes.end());
    for (int n : plan.kernels[k].nodes)
      for (const Edge &edge : nodes[n].operands)
        if (!inside.contains(edge.node)) {
          ASSERT_GE(unit(edge.node), 0) << "node " << edge.node << " is read but nobody makes it";
          waitsFor[k].insert(unit(edge.node));
        }
  }
  for (size_t n = 0; n < nodes.size(); ++n)
    if (nodes[n].kind == NodeKind::Outside || view[n])
      for (const Edge &edge : nodes[n].operands) {
        ASSERT_GE(unit(edge.node), 0);
        waitsFor[plan.kernels.size() + n].insert(unit(edge.node));
      }
  std::vector<int> state(waitsFor.size(), 0);
  std::function<void(int)> visit = [&](int u) {
    ASSERT_NE(state[u], 1) << "a circle";
    if (state[u]++)
      return;
    for (int on : waitsFor[u])
      visit(on);
    state[u] = 2;
  };
  for (size_t u = 0; u < waitsFor.size(); ++u)
    visit(u);
}

// Any graph; where it is dense, most nodes read one of the three before them.
static std::vector<Node> randomGraph(std::mt19937 &random, bool isDense) {
  std::vector<Node> nodes = {outside({}), outside({})};
  int count = 10 + random() % 60;
  for (int n = 2; n < count; ++n) {
    auto any = [&]() -> int {
      int first = isDense && random() % 8 ? std::max(0, n - 3) : 0;
      return first + static_cast<int>(random() % (n - first));
    };
    switch (random() % (isDense ? 24 : 12)) {
    case 0:
      nodes.push_back(outside({any()}, true));
      break;
    case 1: {
      Node sum = compute(NodeKind::Reduce, {{any(), Use::Reduced}}, 2, 8);
      sum.reduced = 3;
      nodes.push_back(sum);
      break;
    }
    case 2:
      nodes.push_back(compute(NodeKind::Broadcast, {{any(), Use::Reread}}));
      nodes.back().reduced = random() % 4 ? 3 : 0;
      break;
    case 3:
      nodes.push_back(compute(NodeKind::Reshape, {{any(), Use::Once}}, 1 + random() % 2));
      break;
    case 4:
      nodes.push_back(compute(NodeKind::Contraction, {{any(), Use::Packed}, {any(), Use::Packed}}));
      break;
    case 5:
      nodes.push_back(compute(NodeKind::Alone, {{any(), Use::Whole}}));
      break;
    case 6:
      nodes.push_back(compute(NodeKind::Update, {{any(), Use::Whole}, {any(), Use::Once}}));
      break;
    case 7:
      nodes.push_back(compute(NodeKind::Constant, {}));
      nodes.back().free = random() % 2;
      break;
    default:
      nodes.push_back(compute(NodeKind::Pointwise, {{any(), Use::Once}, {any(), Use::Once}}, 1, 64,
                              random() % 3 == 0));
    }
  }
  nodes.push_back(outside({count - 1, count - 2, count / 2}));
  return nodes;
}

TEST(RandomGraphs, AnyPlanCanRun) {
  std::mt19937 random(11);
  for (int round = 0; round < 300; ++round) {
    std::vector<Node> nodes = randomGraph(random, /*isDense=*/false);
    check(nodes, planKernels(nodes));
  }
}

TEST(RandomGraphs, AnyPlanOfShortSearchesCanRun) {
  Limits few;
  few.searchSteps = 2;
  std::mt19937 random(11);
  for (int round = 0; round < 2000; ++round) {
    std::vector<Node> nodes = randomGraph(random, /*isDense=*/true);
    check(nodes, planKernels(nodes, few));
  }
}

TEST(RandomGraphs, AnyPlanThatMakesValuesAgainCanRun) {
  auto countNodes = [](const Plan &plan) {
    size_t count = 0;
    for (const Kernel &kernel : plan.kernels)
      count += kernel.nodes.size();
    return count;
  };
  Limits all;
  all.madeAgainFrom = 1;
  std::mt19937 random(11);
  int different = 0;
  for (int round = 0; round < 6000; ++round) {
    std::vector<Node> nodes = randomGraph(random, /*isDense=*/true);
    Plan plan = planKernels(nodes, all), without = planKernels(nodes);
    check(nodes, plan);
    different += countNodes(plan) != countNodes(without);
  }
  EXPECT_GT(different, 100) << "hardly a graph has values that are made again";
}
