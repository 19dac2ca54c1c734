// Plans where communication hides behind computing, and what can be computed beside it.
#include "lib/plan/HiddenSearch.h"
#include "lib/plan/Beside.h"
#include "lib/plan/Launches.h"
#include "lib/plan/Together.h"

#include "Products.h"
#include "RandomPrograms.h"

#include <gtest/gtest.h>

namespace tessera::plan {
namespace {

using sharding::Mesh;

std::vector<double> handedOn(const Program &program, llvm::ArrayRef<double> work) {
  std::vector<double> seconds;
  for (const BesideSeconds &each : secondsBesideOf(program, work))
    seconds.push_back(each.handedOn);
  return seconds;
}

// A chain: beside a weight's way is what is computed before it, beside what is handed on nothing.
TEST(Beside, WeightsAreBroughtWhileTheChainIsComputed) {
  Products of;
  int32_t x = of.argument({64, 64});
  int32_t first = of.argument({64, 64}), second = of.argument({64, 64}),
          third = of.argument({64, 64});
  int32_t h = of.product(x, first), g = of.product(h, second);
  of.give(of.product(g, third));
  std::vector<double> beside = handedOn(of.program, {1, 2, 4, 0});
  EXPECT_EQ(beside[first], 0);
  EXPECT_EQ(beside[second], 1);
  EXPECT_EQ(beside[third], 3);
  EXPECT_EQ(beside[h], 0);
  EXPECT_EQ(beside[g], 0);
}

// Of two products of one value, each can be computed while what the other needs is on its way; what both
// are made of is waited for.
TEST(Beside, OtherBranchesAreComputedMeanwhile) {
  EinsumProgram of;
  int32_t d = of.argument({64, 64}), w = of.argument({64, 64}), x = of.argument({64, 64});
  int32_t t = of.einsum("mk,kn->mn", {d, w});
  int32_t gradient = of.einsum("mk,mn->kn", {x, t}), back = of.einsum("mk,nk->mn", {t, w});
  of.einsum("mn,mn->mn", {back, back});
  of.einsum("kn,kn->kn", {gradient, gradient});
  std::vector<double> beside = handedOn(of.program, {1, 2, 4, 8, 16});
  EXPECT_EQ(beside[t], 0);
  EXPECT_EQ(beside[gradient], 4 + 8);
  EXPECT_EQ(beside[back], 2 + 16);
}

// An activation that is handed on with nothing beside is brought for the backward pass while all between is
// computed.
TEST(Beside, WhatIsReadAgainComesMeanwhile) {
  Products of;
  int32_t x = of.argument({64, 64});
  int32_t first = of.argument({64, 64}), second = of.argument({64, 64});
  int32_t h = of.product(x, first), g = of.product(h, second);
  int32_t d = of.product(g, second);
  of.product(h, d); // the gradient
  std::vector<BesideSeconds> beside = secondsBesideOf(of.program, {1, 2, 4, 8});
  EXPECT_EQ(beside[h].handedOn, 0);
  EXPECT_EQ(beside[h].brought, 2 + 4);
  EXPECT_EQ(beside[second].handedOn, 1);
  EXPECT_EQ(beside[second].brought, 1 + 2);
  EXPECT_EQ(beside[d].brought, 0);
}

// What a round of a loop takes from an array that is there before it comes while the round before computes;
// what rounds hand on does not. What stands outside is not beside.
TEST(Beside, RoundsBringWhatTheNextNeeds) {
  EinsumProgram of;
  int32_t stack = of.argument({8, 64, 64}), x = of.argument({64, 64});
  int32_t before = of.einsum("mk,km->mk", {x, x});
  int32_t carried = of.einsum("mk->mk", {before});
  int32_t w = of.einsum("lkn->kn", {stack}); // a slice
  int32_t h = of.einsum("mk,kn->mn", {carried, w});
  int32_t g = of.einsum("mn,mn->mn", {h, h});
  of.program.ops[1].moves = true;
  of.program.graph.ops[1].operands.push_back(g);
  of.program.blockAround = {-1, 0};
  for (int32_t op : {2, 3, 4}) {
    of.program.ops[op].block = 1;
    of.program.ops[op].times = 8;
  }
  for (int32_t v : {carried, w, h, g}) {
    of.program.values[v].block = 1;
    of.program.values[v].times = 8;
  }
  std::vector<double> beside = handedOn(of.program, {100, 0, 0, 2, 3});
  EXPECT_EQ(beside[w], 2 + 3);
  EXPECT_EQ(beside[h], 0);
  EXPECT_EQ(beside[carried], 0);
}

// A loop begins when all is there that it takes: nothing of it is beside an array on its way there, but
// what is before it and behind it is.
TEST(Beside, LoopsWaitForWhatTheyTake) {
  EinsumProgram of;
  int32_t given = of.argument({64, 64}), x = of.argument({64, 64}), y = of.argument({64, 64});
  of.einsum("mk,km->mk", {x, x});
  int32_t w = of.einsum("mk->mk", {given}); // into the loop
  int32_t h = of.einsum("mk->mk", {x});
  int32_t g = of.einsum("mk,kn->mn", {h, h});
  of.einsum("mk,kn->mn", {w, g});
  of.einsum("mk,km->mk", {y, y});
  of.einsum("mk,km->mk", {w, w});
  of.program.blockAround = {-1, 0};
  for (int32_t op : {1, 2})
    of.program.ops[op].moves = true;
  for (int32_t op : {3, 4}) {
    of.program.ops[op].block = 1;
    of.program.ops[op].times = 8;
  }
  for (int32_t v : {w, h, g}) {
    of.program.values[v].block = 1;
    of.program.values[v].times = 8;
  }
  std::vector<double> beside = handedOn(of.program, {1, 0, 0, 10, 20, 100, 1000});
  EXPECT_EQ(beside[given], 1 + 100);
}

// The same where a loop is handed what it takes by an op behind what it consists of, and what it takes is made
// of an array whose own reader is no op of the loop.
TEST(Beside, LoopsWaitForWhatIsMadeForThem) {
  EinsumProgram of;
  int32_t given = of.argument({64, 64}), x = of.argument({64, 64}), y = of.argument({64, 64});
  int32_t taken = of.argument({64, 64});
  of.einsum("mk,km->mk", {x, x});
  int32_t transposed = of.einsum("mk->km", {given});
  int32_t h = of.einsum("mk,kn->mn", {x, taken});
  int32_t g = of.einsum("mk,kn->mn", {x, x});
  of.einsum("mk->mk", {transposed}); // into the loop
  of.einsum("mk,km->mk", {y, y});
  of.program.blockAround = {-1, 0};
  of.program.ops[4].moves = true;
  of.program.graph.ops[4].results = {taken};
  for (int32_t op : {2, 3}) {
    of.program.ops[op].block = 1;
    of.program.ops[op].times = 8;
  }
  for (int32_t v : {h, g}) {
    of.program.values[v].block = 1;
    of.program.values[v].times = 8;
  }
  std::vector<double> beside = handedOn(of.program, {1, 2, 10, 20, 0, 100});
  EXPECT_EQ(beside[given], 1 + 100);
  EXPECT_EQ(beside[transposed], 1 + 100);
  EXPECT_EQ(beside[taken], 1 + 2 + 100);
}

// A loss that is returned by way of scalars that the graph has not, and a norm that an update is scaled by: the
// one has all behind it beside it, the other what its reader has nothing to do with.
TEST(Beside, SumsAreReadByWayOfScalars) {
  EinsumProgram of;
  int32_t x = of.argument({64, 64}), w = of.argument({64, 64});
  int32_t loss = of.einsum("mk,mk->", {x, x});
  int32_t g = of.einsum("mk,mn->kn", {x, x});
  int32_t norm = of.einsum("kn,kn->", {g, g});
  of.einsum("kn,kn->kn", {w, g}); // scaled by what is made of the norm
  of.einsum("kn,kn->kn", {w, w});
  of.result(of.argument({})); // made of the loss
  std::vector<double> work = {1, 2, 4, 8, 16, 0};
  EXPECT_EQ(handedOn(of.program, work)[loss], 0); // nobody reads it
  of.program.distantReads.resize(6);
  of.program.distantReads[3] = {norm};
  of.program.distantReads[5] = {loss};
  std::vector<double> beside = handedOn(of.program, work);
  EXPECT_EQ(beside[loss], 2 + 4 + 8 + 16);
  EXPECT_EQ(beside[norm], 1 + 16);
}

// What is found from the plan of the search that knows nothing of hiding.
struct Searched {
  Searched(const Program &program, const Mesh &mesh, const cost::Topology &topology,
           bool firstWaits = false, double knownBound = 0)
      : start(planOnMesh(program, mesh, topology, {})), prices(program, mesh, topology),
        found(searchHidden(prices, {&start.values}, {}, firstWaits, knownBound)) {
    prices.setWeights({.firstWaits = firstWaits});
  }

  Plan start;
  AssignmentPrices prices;
  HiddenFound found;
};

TEST(Hidden, TheBestShareIsWhereTheLeastIsGreatest) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> seconds(0, 1);
  for (int round = 0; round < 200; ++round) {
    std::vector<HiddenTime> times(1 + random() % 6);
    for (HiddenTime &time : times)
      time = {seconds(random), seconds(random), seconds(random), 2 * seconds(random)};
    auto leastAt = [&](double share) {
      double least = std::numeric_limits<double>::infinity();
      for (const HiddenTime &time : times)
        least = std::min(least, time.at(share));
      return least;
    };
    double best = leastAt(bestShare(times));
    for (int i = 0; i <= 1000; ++i)
      EXPECT_GE(best, leastAt(i / 1000.0) - 1e-12);
    for (const HiddenTime &time : times)
      EXPECT_LE(best, time.seconds() + 1e-12);
  }
}

// All assignments of random programs: none is below the bound, and the best is mostly near it.
TEST(Hidden, NoAssignmentIsBelowTheBound) {
  std::mt19937 random(18);
  cost::Topology topology = fastLinks();
  topology.network.link = {1e-6, 3e9};
  Mesh mesh = meshOf({4});
  constexpr int kPrograms = 20;
  int tight = 0, waiting = 0;
  for (int round = 0; round < kPrograms; ++round) {
    EinsumProgram of = randomProgram(random, 4);
    topology.device.launchSeconds = round % 2 ? 2e-6 : 0;
    auto last = int32_t(of.program.graph.values.size()) - 1;
    for (int32_t v : {last, last - 1}) { // their norms, which travel together
      of.einsum("mk,mk->", {v, v});
      of.program.ops.back().operandTimes = {1, 1};
    }
    findTogether(of.program);
    for (OpFacts &op : of.program.ops)
      op.launches = 1;
    findSecondsBeside(of.program, 4, topology);
    double hiding = 0, bound = 0;
    for (bool firstWaits : {false, true}) {
      SCOPED_TRACE(testing::Message()
                   << "program " << round << ", first readers wait " << firstWaits);
      Searched searched(of.program, mesh, topology, firstWaits, bound);
      auto &[start, prices, found] = searched;
      auto secondsOf = [&](const Assignment &each) { return hiddenTimeOf(prices, each).seconds(); };
      double least = leastOf(prices.getTables(), secondsOf), best = secondsOf(start.values);
      for (const Assignment &each : found.plans)
        best = std::min(best, secondsOf(each));
      EXPECT_LE(found.lowerBound, least * (1 + 1e-9));
      EXPECT_GE(best, least * (1 - 1e-9));
      EXPECT_GT(found.lowerBound, 0);
      EXPECT_GE(least, hiding * (1 - 1e-9));
      EXPECT_GE(found.lowerBound, bound); // which holds where first readers wait, too
      bound = found.lowerBound;
      waiting += firstWaits && least > hiding * (1 + 1e-9);
      hiding = least;
      tight += found.lowerBound > 0.98 * best;
    }
  }
  EXPECT_GE(tight, 2 * kPrograms * 3 / 4);
  EXPECT_GT(waiting, 0);
}

// A weight that lies in parts is read whole by the first op of a chain, and by one behind it: the first waits
// for it, though there is time enough on its way to the second.
TEST(Hidden, TheFirstReaderWaits) {
  Products of;
  int32_t x = of.argument({64, 64}), w = of.argument({64, 64}), v = of.argument({64, 64});
  int32_t h = of.product(x, w);
  of.give(of.product(of.product(h, v), w));
  for (OpFacts &op : of.program.ops)
    op.launches = 1;
  cost::Topology topology = fastLinks();
  topology.device.launchSeconds = 1;
  findSecondsBeside(of.program, 4, topology);
  Mesh mesh = meshOf({4});
  AssignmentPrices prices(of.program, mesh, topology);
  Assignment rows;
  for (const sharding::PropagatedValue &value : of.program.graph.values)
    rows.push_back(sharding::TensorSharding::replicatedOver(value.shape.size()));
  for (sharding::TensorSharding &each : rows)
    each.dims[0].axes = {{0, 1, 4}};
  rows[v].dims[0].axes.clear();
  HiddenTime any = hiddenTimeOf(prices, rows);
  prices.setWeights({.firstWaits = true});
  HiddenTime first = hiddenTimeOf(prices, rows);
  EXPECT_EQ(any.exposed, 0);
  EXPECT_GT(first.exposed, 0);
  EXPECT_DOUBLE_EQ(first.exposed, any.hidden - first.hidden);
  EXPECT_EQ(first.computing, any.computing);
}

// Where launches hide all that moves, the plan that is best where some of it is waited for is found as well.
TEST(Hidden, PlansThatMoveLessAreFound) {
  std::mt19937 random(21);
  cost::Topology topology = fastLinks();
  topology.network.link = {1e-7, 3e8};
  topology.device.launchSeconds = 1e-2;
  Mesh mesh = meshOf({4});
  for (int round = 0; round < 20; ++round) {
    EinsumProgram of = randomProgram(random, 4);
    for (OpFacts &op : of.program.ops)
      op.launches = 1;
    findSecondsBeside(of.program, 4, topology);
    Searched searched(of.program, mesh, topology);
    auto &[start, prices, found] = searched;
    // Of launches there are as many whatever the plan is.
    auto waryOf = [&](const Assignment &each) {
      HiddenTime time = hiddenTimeOf(prices, each);
      return time.computing + time.exposed + kWary * time.hidden;
    };
    double least = leastOf(prices.getTables(), waryOf), best = kImpossible;
    for (const Assignment &each : found.plans)
      best = std::min(best, waryOf(each));
    EXPECT_LE(best, least * (1 + 2e-2)) << "program " << round;
  }
}

// What a loop gives is there when all of it has ended: nothing of it is beside what is made of that, nor is
// what it takes. Another loop is, and what is computed before it.
TEST(Beside, WhatIsMadeOfALoopWaitsForAllOfIt) {
  EinsumProgram of;
  int32_t x = of.argument({64, 64}), y = of.argument({64, 64}), taken = of.argument({64, 64});
  of.einsum("mk,km->mk", {x, x});
  int32_t given = of.einsum("mk,km->mk", {x, y});
  int32_t other = of.einsum("mk,kn->mn", {y, y}); // a loop of its own
  of.einsum("mk,kn->mn", {taken, taken});         // that loop needs it for another result
  int32_t g = of.einsum("mk,kn->mn", {x, x});
  of.einsum("mk->mk", {given}); // into the loop
  int32_t out = of.einsum("mk->mk", {g});
  int32_t updated = of.einsum("mk,mk->mk", {out, x});
  of.result(updated);
  of.program.blockAround = {-1, 0, 0};
  of.program.graph.ops[5].results = {taken};
  for (int32_t op : {5, 6, 8})
    of.program.ops[op].moves = true;
  for (auto [op, block] : {std::pair(2, 2), std::pair(3, 1), std::pair(4, 1)}) {
    of.program.ops[op].block = block;
    of.program.ops[op].times = 8;
  }
  for (auto [v, block] : {std::pair(other, 2), std::pair(g, 1), std::pair(taken, 1)}) {
    of.program.values[v].block = block;
    of.program.values[v].times = 8;
  }
  std::vector<double> beside = handedOn(of.program, {1, 2, 4, 10, 20, 0, 0, 100, 0});
  EXPECT_EQ(beside[updated], 1 + 8 * 4);
}

// A machine that starts kernels slowly brings a weight meanwhile, however little they compute, and no plan
// is below what starting them takes.
TEST(Hidden, LaunchesAreInEveryPlan) {
  Products of;
  int32_t x = of.argument({64, 64}), first = of.argument({64, 64}), second = of.argument({64, 64});
  of.give(of.product(of.product(x, first), second));
  of.program.ops[0].launches = 1;
  of.program.ops[1].launches = 0.5; // of a kernel that another op is in, too
  of.program.ops[1].times = 4;
  cost::Topology topology = fastLinks();
  findSecondsBeside(of.program, 4, topology);
  double without = of.program.values[second].secondsBeside;
  topology.device.launchSeconds = 3e-6;
  topology.device.instructionSeconds = 1e-6;
  findSecondsBeside(of.program, 4, topology);
  EXPECT_DOUBLE_EQ(of.program.values[second].secondsBeside, without + 4e-6);
  EXPECT_DOUBLE_EQ(launchSeconds(of.program, topology, 4), 3 * 4e-6);
  of.program.launches = 5; // of kernels that contain none of the ops
  EXPECT_DOUBLE_EQ(launchSeconds(of.program, topology, 4), (3 + 5) * 4e-6);
  of.program.launches = 0;
  topology.computingAtOnce = 2; // of four devices, each waits for another's turn
  EXPECT_DOUBLE_EQ(launchSeconds(of.program, topology, 4), 6 * 4e-6);
  topology.computingAtOnce = 0;
  Mesh mesh = meshOf({4});
  Plan plan = planOnMesh(of.program, mesh, topology, {});
  AssignmentPrices prices(of.program, mesh, topology);
  HiddenFound found = searchHidden(prices, {&plan.values}, {});
  EXPECT_GE(found.lowerBound, launchSeconds(of.program, topology, 4));
  prices.setWeights({});
  EXPECT_LE(found.lowerBound, hiddenTimeOf(prices, plan.values).seconds() * (1 + 1e-9));
}

// Rows that cross shards are no computing: links carry them, and the device may compute meanwhile.
TEST(Hidden, RowsThatCrossShardsMayHide) {
  EinsumProgram of;
  int32_t x = of.argument({64, 64});
  of.einsum("mk->mk", {x});
  of.lastRule().factors[0].kind = sharding::FactorKind::Permutation; // of the last dimension
  Mesh mesh = meshOf({4});
  cost::Topology topology = fastLinks();
  AssignmentPrices prices(of.program, mesh, topology);
  auto partsOf = [&](size_t dim) {
    Assignment assignment(2, sharding::TensorSharding::replicatedOver(2));
    for (sharding::TensorSharding &each : assignment)
      each.dims[dim].axes = {{0, 1, 4}};
    StepParts parts;
    EXPECT_DOUBLE_EQ(prices.seconds(assignment, &parts), parts.computing + parts.crossing);
    EXPECT_DOUBLE_EQ(hiddenTimeOf(prices, assignment).hidden, parts.crossing);
    return parts;
  };
  EXPECT_EQ(partsOf(0).crossing, 0);
  EXPECT_GT(partsOf(1).crossing, 0);
  EXPECT_DOUBLE_EQ(partsOf(0).computing, partsOf(1).computing);
}

// Weights take as long as nothing else does where their sums hide, and all is counted where they don't.
TEST(Hidden, AllCountsOnceByTheFirstWeights) {
  Products of;
  int32_t at = of.argument({1024, 512});
  for (int layer = 0; layer < 3; ++layer)
    at = of.product(at, of.argument({512, 512}));
  of.give(at);
  Mesh mesh = meshOf({4});
  cost::Topology topology = fastLinks();
  Plan plan = planOnMesh(of.program, mesh, topology, {});
  findSecondsBeside(of.program, 4, topology);
  AssignmentPrices prices(of.program, mesh, topology);
  HiddenTime time = hiddenTimeOf(prices, plan.values);
  EXPECT_DOUBLE_EQ(time.computing + time.exposed + time.hidden, prices.seconds(plan.values));
  EXPECT_DOUBLE_EQ(plan.seconds, prices.seconds(plan.values));
  prices.setWeights(weightsOf(0.25));
  EXPECT_DOUBLE_EQ(time.at(0.25), prices.seconds(plan.values));
}

} // namespace
} // namespace tessera::plan
