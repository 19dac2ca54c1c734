// Which sums travel in one message.
#include "lib/plan/Together.h"
#include "lib/plan/AssignmentPrices.h"

#include "EinsumProgram.h"
#include "Products.h"

#include <gtest/gtest.h>

namespace tessera::plan {
namespace {

// Norms of three arrays need none of each other; the norm of what is scaled by them comes later.
TEST(Together, SumsThatDoNotNeedEachOther) {
  EinsumProgram of;
  int32_t x = of.argument({64, 64}), y = of.argument({64, 64}), z = of.argument({64, 64});
  int32_t a = of.einsum("mk,mk->", {x, x}), b = of.einsum("mk,mk->", {y, y}),
          c = of.einsum("mk,mk->", {z, z});
  int32_t row = of.einsum("mk->m", {x});
  int32_t scaled = of.einsum(",mk->mk", {a, y});
  int32_t d = of.einsum("mk,mk->", {scaled, z});
  findTogether(of.program);
  for (int32_t v : {a, b, c})
    EXPECT_EQ(of.program.values[v].together, 3);
  for (int32_t v : {d, row, scaled, x})
    EXPECT_EQ(of.program.values[v].together, 1);
}

// The same where what scales is made of the norm by arithmetic on scalars, which is not of the graph.
TEST(Together, SumsThatNeedEachOtherByWayOfScalars) {
  EinsumProgram of;
  int32_t x = of.argument({64, 64}), y = of.argument({64, 64});
  int32_t a = of.einsum("mk,mk->", {x, x});
  int32_t scaled = of.einsum("mk->mk", {y});
  int32_t d = of.einsum("mk,mk->", {scaled, scaled});
  of.program.distantReads = {{}, {a}, {}};
  findTogether(of.program);
  EXPECT_EQ(of.program.values[a].together, 1);
  EXPECT_EQ(of.program.values[d].together, 1);
}

// Those of a loop's rounds travel in each of them.
TEST(Together, RoundsOfLoopsHaveTheirOwn) {
  EinsumProgram of;
  int32_t x = of.argument({64, 64}), y = of.argument({64, 64});
  int32_t outside = of.einsum("mk,mk->", {x, x}), inside = of.einsum("mk,mk->", {y, y});
  of.program.blockAround = {-1, 0};
  of.program.ops[1].block = 1;
  findTogether(of.program);
  EXPECT_EQ(of.program.values[outside].together, 1);
  EXPECT_EQ(of.program.values[inside].together, 1);
}

// Two sums together take what one takes alone.
TEST(Together, AMessageIsPaidOnce) {
  sharding::Mesh mesh = meshOf({4});
  cost::Topology topology = fastLinks();
  topology.network.link = {1e-5, 1e9};
  auto secondsOf = [&](int sums) {
    EinsumProgram of;
    for (int i = 0; i < sums; ++i) {
      int32_t x = of.argument({64, 64});
      of.einsum("mk,mk->", {x, x});
    }
    findTogether(of.program);
    AssignmentPrices prices(of.program, mesh, topology);
    Assignment rows;
    for (const sharding::PropagatedValue &value : of.program.graph.values) {
      rows.push_back(sharding::TensorSharding::replicatedOver(value.shape.size()));
      if (!value.shape.empty())
        rows.back().dims[0].axes = {{0, 1, 4}};
    }
    StepParts parts;
    prices.seconds(rows, &parts);
    return parts.moving.exposed + parts.moving.hidden;
  };
  EXPECT_GT(secondsOf(1), 1e-5);
  EXPECT_NEAR(secondsOf(2), secondsOf(1), 1e-9);
  EXPECT_NEAR(secondsOf(5), secondsOf(1), 1e-9);
}

} // namespace
} // namespace tessera::plan
