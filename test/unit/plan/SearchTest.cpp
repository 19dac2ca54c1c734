// Plans of small programs for which the best is known.
#include "lib/plan/Search.h"

#include "EinsumProgram.h"
#include "Products.h"
#include "RandomPrograms.h"
#include "lib/plan/LeastHeld.h"
#include "lib/plan/Memory.h"

#include <gtest/gtest.h>
#include <tuple>

namespace tessera::plan {
namespace {

using sharding::Mesh;
using sharding::TensorSharding;

// Few rows and large weights: what is read is split, the hidden layer between the two products stays
// in parts, and one all-reduce is left.
TEST(Search, ColumnThenRowSplitOfAChain) {
  Products of;
  int32_t x = of.argument({16, 4096}), up = of.argument({4096, 16384}),
          down = of.argument({16384, 4096});
  int32_t hidden = of.product(x, up);
  of.give(of.product(hidden, down));
  Mesh mesh = meshOf({8});
  Plan plan = planOnMesh(of.program, mesh, fastLinks(), {});
  EXPECT_EQ(text(mesh, plan.values[up]), "{}{x}");
  EXPECT_EQ(text(mesh, plan.values[hidden]), "{}{x}");
  EXPECT_EQ(text(mesh, plan.values[down]), "{x}{}");
  EXPECT_NEAR(plan.lowerBound, plan.seconds, 2e-3 * plan.seconds);
}

// What is given lies in as many parts as there are devices; what is donated is taken by results.
TEST(Memory, WhatIsGivenTakesAtLeast) {
  Products of;
  int32_t x = of.argument({64, 64}), w = of.argument({64, 64});
  of.give(of.product(x, w));
  double array = 64 * 64 * 4;
  EXPECT_DOUBLE_EQ(leastGivenBytes(of.program, 1), 3 * array);
  EXPECT_DOUBLE_EQ(leastGivenBytes(of.program, 4), 3 * array / 4);
  of.program.values[x].donated = true;
  EXPECT_DOUBLE_EQ(leastGivenBytes(of.program, 4), 2 * array / 4);
  // Of a plan in which one of three lies in parts: the result takes the place of what is donated.
  Mesh mesh = meshOf({4});
  Assignment values(of.program.values.size(), TensorSharding::replicatedOver(2));
  values[w].dims[0].axes = {wholeAxis(mesh, 0)};
  EXPECT_DOUBLE_EQ(givenBytes(of.program, values), array + array / 4);
  of.program.values[w].donated = true; // more than there are results
  EXPECT_DOUBLE_EQ(leastGivenBytes(of.program, 4), 2 * array / 4);
}

// A network whose quickest plan keeps every weight whole: with each in parts a device holds a fraction, which
// is found from there, near to what no plan is below.
TEST(Memory, LeastIsFoundFromAPlanThatHoldsMost) {
  Products of;
  int32_t x = of.argument({64, 4096}), up = of.argument({4096, 4096}),
          down = of.argument({4096, 4096});
  of.give(of.product(of.product(x, up), down));
  Mesh mesh = meshOf({8});
  cost::Topology links = fastLinks();
  AssignmentPrices prices(of.program, mesh, links);
  Assignment whole;
  for (int32_t v = 0; v < int32_t(of.program.values.size()); ++v)
    whole.push_back(sharding::TensorSharding::replicatedOver(2));
  double given = leastGivenBytes(of.program, 8);
  prices.seconds(whole);
  double most = prices.fitted(whole, 0).bytes;
  LeastHeld least = leastHeld(prices, whole, given);
  EXPECT_GT(most, 7 * given);
  EXPECT_GE(least.bytes, given);
  EXPECT_LT(least.bytes, 1.6 * given);
  prices.seconds(least.values);
  EXPECT_DOUBLE_EQ(prices.fitted(least.values, least.bytes).bytes, least.bytes);
}

// A weight that the first and the last product read, gathered for both: between them it may be given up.
TEST(Memory, CopiesThatLieIdleAreBroughtAgain) {
  Products of;
  int32_t x = of.argument({4096, 512}), w = of.argument({512, 512});
  int32_t up = of.argument({512, 4096}), down = of.argument({4096, 512});
  int32_t hidden = of.product(of.product(x, w), up); // most is held here
  of.give(of.product(of.product(hidden, down), w));
  Mesh mesh = meshOf({8});
  cost::Topology links = fastLinks();
  AssignmentPrices prices(of.program, mesh, links);
  Assignment values;
  for (int32_t v = 0; v < int32_t(of.program.values.size()); ++v)
    values.push_back(sharding::TensorSharding::replicatedOver(2));
  for (int32_t v = 0; v < int32_t(values.size()); ++v)
    if (v != up && v != down)
      values[v].dims[0].axes = {{0, 1, 8}};
  prices.seconds(values);
  double copy = 512 * 512 * 4, bytes = prices.peakBytes(values);
  AssignmentPrices::Fitted loose = prices.fitted(values, bytes);
  EXPECT_EQ(loose.bytes, bytes);
  EXPECT_EQ(loose.seconds, 0);
  AssignmentPrices::Fitted tight = prices.fitted(values, bytes - 1);
  EXPECT_LT(tight.bytes, bytes);
  EXPECT_GE(tight.bytes, bytes - copy);
  StepParts parts;
  double all = prices.seconds(values, &parts);
  double moving = all - parts.computing;
  EXPECT_NEAR(tight.seconds, moving, 1e-9 * moving); // it is all that moves, and moves once more
  EXPECT_EQ(prices.fitted(values, 0).bytes, tight.bytes);
}

// Many rows and small weights: rows are split, and nothing moves.
TEST(Search, RowsOfABigBatch) {
  Products of;
  int32_t x = of.argument({65536, 256}), w = of.argument({256, 256});
  int32_t y = of.product(x, w);
  of.give(y);
  Mesh mesh = meshOf({2, 4});
  Plan plan = planOnMesh(of.program, mesh, fastLinks(), {});
  EXPECT_EQ(sharding::shardCount(plan.values[x].dims[0].axes), 8);
  EXPECT_EQ(sharding::shardCount(plan.values[y].dims[0].axes), 8);
  EXPECT_EQ(text(mesh, plan.values[w]), "{}{}");
}

// Weights lie in parts where they do not fit as they are, and are gathered.
TEST(Search, WeightsInPartsWhereMemoryIsShort) {
  Products of;
  int32_t at = of.argument({32768, 512});
  std::vector<int32_t> weights;
  for (int layer = 0; layer < 6; ++layer) {
    weights.push_back(of.argument({512, 512}));
    at = of.product(at, weights.back());
  }
  of.give(at);
  Mesh mesh = meshOf({8});
  Plan any = planOnMesh(of.program, mesh, fastLinks(), {});
  for (int32_t w : weights)
    EXPECT_EQ(text(mesh, any.values[w]), "{}{}");
  Options options;
  options.memory = int64_t(any.peakBytes) - 4 * 1000 * 1000; // of 6 x 1 MB
  Plan fits = planOnMesh(of.program, mesh, fastLinks(), options);
  EXPECT_LE(fits.peakBytes, double(options.memory));
  EXPECT_GT(fits.seconds, any.seconds);
  int parts = 0;
  for (int32_t w : weights)
    parts += text(mesh, fits.values[w]) != "{}{}";
  EXPECT_GE(parts, 4);
  EXPECT_EQ(text(mesh, fits.values[0]), "{x}{}");
}

// A weight that is read in columns, beside one in rows, may as well lie in parts: devices hold least then.
// Where rows and columns of all weights may change places, the first are divided along the earlier
// dimension, whatever else the program has.
TEST(Search, TiesAreTakenInOneOrder) {
  auto chain = [](bool more) {
    EinsumProgram of;
    int32_t x = of.argument({64, 1024}), a = of.argument({1024, 1024}),
            b = of.argument({1024, 1024});
    of.result(of.einsum("mk,kn->mn", {of.einsum("mk,kn->mn", {x, a}), b}));
    if (more)
      of.result(of.einsum("mk->m", {x}));
    Mesh mesh = meshOf({4});
    Plan plan = planOnMesh(of.program, mesh, fastLinks(), {});
    return text(mesh, plan.values[a]) + " " + text(mesh, plan.values[b]);
  };
  EXPECT_EQ(chain(false), chain(true));
  EXPECT_EQ(chain(false).find("{}{} "), std::string::npos);
}

// What an annotation says holds, and is planned around.
TEST(Search, AnnotationsHold) {
  Products of;
  int32_t x = of.argument({65536, 256}), w = of.argument({256, 256});
  of.give(of.product(x, w));
  of.program.graph.values[x].mesh = 0;
  for (sharding::DimSharding &dim : of.program.graph.values[x].sharding.dims)
    dim.closed = true;
  Mesh mesh = meshOf({8});
  Plan plan = planOnMesh(of.program, mesh, fastLinks(), {});
  EXPECT_EQ(text(mesh, plan.values[x]), "{}{}");
}

// The price of an assignment is that of the search, the same each time, and never below the bound.
TEST(Search, PricesAgree) {
  Products of;
  int32_t at = of.argument({1024, 512});
  for (int layer = 0; layer < 4; ++layer)
    at = of.product(at, of.argument({512, 512}));
  of.give(at);
  Mesh mesh = meshOf({2, 2});
  cost::Topology topology = cost::defaultTopology();
  Plan plan = planOnMesh(of.program, mesh, topology, {}),
       again = planOnMesh(of.program, mesh, topology, {});
  EXPECT_EQ(plan.seconds, again.seconds);
  EXPECT_DOUBLE_EQ(plan.seconds, assignmentSeconds(of.program, mesh, topology, plan.values));
  EXPECT_LE(plan.lowerBound, plan.seconds);
  Assignment whole;
  for (const sharding::PropagatedValue &value : of.program.graph.values)
    whole.push_back(TensorSharding::replicatedOver(value.shape.size()));
  EXPECT_LE(plan.lowerBound, assignmentSeconds(of.program, mesh, topology, whole));
}

// No assignment takes less than the bound, though ops share copies.
TEST(Search, NoAssignmentIsBelowTheBound) {
  std::mt19937 random(18);
  cost::Topology topology = fastLinks();
  topology.network.link = {1e-6, 1e9};
  for (auto [sizes, ops, programs] :
       {std::tuple(std::vector<int64_t>{4}, 4, 20), {std::vector<int64_t>{2, 4}, 2, 6}}) {
    Mesh mesh = meshOf(sizes);
    int tight = 0;
    for (int round = 0; round < programs; ++round) {
      EinsumProgram of = randomProgram(random, ops);
      Plan plan = planOnMesh(of.program, mesh, topology, {});
      AssignmentPrices prices(of.program, mesh, topology);
      double least = leastOf(prices.getTables(), [&](const Assignment &assignment) {
        return prices.seconds(assignment);
      });
      EXPECT_LE(plan.lowerBound, least * (1 + 1e-9)) << "program " << round;
      EXPECT_GE(plan.seconds, least * (1 - 1e-9));
      EXPECT_GT(plan.lowerBound, 0);
      tight += plan.lowerBound > 0.98 * plan.seconds;
    }
    EXPECT_GE(tight, programs * 3 / 4);
  }
}

// A weight in parts, as memory wants it, that two products gather: once for both.
TEST(Search, ACopyOfSeveralReadersIsProvenOnce) {
  EinsumProgram of;
  int32_t x = of.argument({65536, 512}), w = of.argument({512, 512});
  int32_t y = of.einsum("mk,kn->mn", {x, w});
  int32_t back = of.einsum("mn,kn->mk", {y, w});
  sharding::PropagatedValue &weight = of.program.graph.values[w];
  weight.mesh = 0;
  weight.sharding.dims[0] = {{{0, 1, 8}}, true, {}};
  weight.sharding.dims[1].closed = true;
  Mesh mesh = meshOf({8});
  cost::Topology topology = fastLinks();
  topology.network.link = {1e-6, 1e9};
  Plan plan = planOnMesh(of.program, mesh, topology, {});
  EXPECT_EQ(text(mesh, plan.values[back]), "{x}{}");
  EXPECT_GE(plan.lowerBound, 0.99 * plan.seconds);
}

} // namespace
} // namespace tessera::plan
