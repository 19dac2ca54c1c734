// What another choice would have cost.
#include "lib/plan/NextBest.h"

#include "Products.h"
#include "lib/plan/Search.h"
#include "lib/plan/StepBill.h"

#include <gtest/gtest.h>

namespace tessera::plan {
namespace {

using sharding::Mesh;
using sharding::TensorSharding;

struct Chain {
  Products of;
  int32_t x, up, hidden, down;

  Chain() {
    x = of.argument({16, 4096});
    up = of.argument({4096, 16384});
    down = of.argument({16384, 4096});
    hidden = of.product(x, up);
    of.give(of.product(hidden, down));
  }
};

Plan withAnnotation(Program program, int32_t value, const TensorSharding &sharding,
                    const Mesh &mesh, const cost::Topology &topology) {
  program.graph.values[value].mesh = 0;
  program.graph.values[value].sharding = sharding;
  for (sharding::DimSharding &dim : program.graph.values[value].sharding.dims)
    dim.closed = true;
  return planOnMesh(program, mesh, topology, {});
}

// The price of the next best is what a plan with that annotation takes, and no other annotation of the
// value gives less.
TEST(NextBest, IsWhatPlanningWithThatAnnotationGives) {
  Chain chain;
  const Program &program = chain.of.program;
  cost::Topology topology = fastLinks();
  for (const std::vector<int64_t> &sizes : {std::vector<int64_t>{4}, {2, 4}}) {
    Mesh mesh = meshOf(sizes);
    Plan plan = planOnMesh(program, mesh, topology, {});
    AssignmentPrices prices(program, mesh, topology);
    NextBests nextBests(prices, plan.values, {}, 1);
    SharedCopies copies(prices.getTables());
    Formulation problem(prices.getTables(), copies);
    for (int32_t value : {chain.x, chain.up, chain.hidden}) {
      std::optional<NextBest> next = nextBests.of({value});
      ASSERT_TRUE(next && !next->values.empty());
      EXPECT_TRUE(next->isBest);
      EXPECT_NE(partsOf(next->values[value]), partsOf(plan.values[value]));
      EXPECT_GT(next->seconds, plan.seconds);
      Plan asked = withAnnotation(program, value, next->values[value], mesh, topology);
      EXPECT_NEAR(next->seconds, asked.seconds, 2e-3 * asked.seconds);
      if (sizes.size() > 1)
        continue;
      for (const TensorSharding &other : problem.shardingsOf(value)) {
        double seconds = withAnnotation(program, value, other, mesh, topology).seconds;
        bool isAsLong = llvm::any_of(next->asLong, [&](const TensorSharding &each) {
          return partsOf(each) == partsOf(other);
        });
        if (isAsLong)
          EXPECT_NEAR(seconds, plan.seconds, 2e-3 * plan.seconds);
        else if (partsOf(other) != partsOf(plan.values[value]))
          EXPECT_GE(seconds, next->seconds * (1 - 2e-3));
      }
    }
  }
}

// Megatron's split of two products sums once. With rows of the first weight divided instead, columns of
// it are needed, or its product is summed, too. Whole, it takes as long.
TEST(NextBest, SaysWhichCollectivesComeBesides) {
  Chain chain;
  const Program &program = chain.of.program;
  Mesh mesh = meshOf({8});
  cost::Topology topology = fastLinks();
  Plan plan = planOnMesh(program, mesh, topology, {});
  AssignmentPrices prices(program, mesh, topology);
  StepBill bill = billOf(prices, plan.values);
  EXPECT_DOUBLE_EQ(bill.seconds, plan.seconds);
  double seconds = bill.computing;
  for (const CollectiveBill &each : bill.collectives)
    seconds += each.seconds;
  EXPECT_NEAR(seconds, bill.seconds, 1e-6 * bill.seconds);
  std::optional<NextBest> next = NextBests(prices, plan.values, {}, 1).of({chain.up});
  ASSERT_TRUE(next && !next->values.empty());
  ASSERT_EQ(next->asLong.size(), 1u);
  EXPECT_EQ(text(mesh, next->asLong[0]), "{}{}");
  EXPECT_EQ(text(mesh, next->values[chain.up]), "{x}{}");
  BillDifference difference = differenceOf(bill, billOf(prices, next->values));
  EXPECT_GT(difference.seconds, 0);
  EXPECT_NEAR(difference.seconds, next->seconds - plan.seconds, 1e-9 * plan.seconds);
  ASSERT_FALSE(difference.collectives.empty());
  EXPECT_GT(difference.collectives.front().seconds, 0);
  EXPECT_GE(difference.op, 0);
}

// Values that are decided together all lie otherwise.
TEST(NextBest, DecidesAlikeTogether) {
  Products of;
  int32_t at = of.argument({65536, 256});
  llvm::SmallVector<int32_t> weights;
  for (int layer = 0; layer < 3; ++layer) {
    weights.push_back(of.argument({256, 256}));
    at = of.product(at, weights.back());
  }
  of.give(at);
  Mesh mesh = meshOf({4});
  cost::Topology topology = fastLinks();
  Plan plan = planOnMesh(of.program, mesh, topology, {});
  AssignmentPrices prices(of.program, mesh, topology);
  NextBests nextBests(prices, plan.values, {}, 2);
  std::optional<NextBest> one = nextBests.of({weights[0]}), all = nextBests.of(weights);
  ASSERT_TRUE(one && all && !one->values.empty() && !all->values.empty());
  EXPECT_GT(one->seconds, plan.seconds);
  EXPECT_NEAR(all->seconds - plan.seconds, 3 * (one->seconds - plan.seconds),
              0.05 * (all->seconds - plan.seconds));
  for (int32_t weight : weights)
    EXPECT_NE(partsOf(all->values[weight]), partsOf(plan.values[weight]));
}

// What an annotation decides has no other way, nor has what does not fit otherwise.
TEST(NextBest, NoneWhereNothingElseIsPossible) {
  Chain chain;
  Program &program = chain.of.program;
  program.graph.values[chain.x].mesh = 0;
  for (sharding::DimSharding &dim : program.graph.values[chain.x].sharding.dims)
    dim.closed = true;
  Mesh mesh = meshOf({8});
  cost::Topology topology = fastLinks();
  Options options;
  options.memory = (2 * 4096 * 16384 * 4) / 8 + 32 * 16384 * 4;
  Plan plan = planOnMesh(program, mesh, topology, options);
  ASSERT_LE(plan.peakBytes, double(options.memory));
  AssignmentPrices prices(program, mesh, topology);
  NextBests nextBests(prices, plan.values, options, 2);
  EXPECT_FALSE(nextBests.of({chain.x}));
  std::optional<NextBest> next = nextBests.of({chain.up}); // in parts still
  ASSERT_TRUE(next && !next->values.empty());
  EXPECT_EQ(partsOf(next->values[chain.up])[0] * partsOf(next->values[chain.up])[1], 8);
}

} // namespace
} // namespace tessera::plan
