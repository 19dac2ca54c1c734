#include "lib/sharding/FactorAxes.h"
#include "test/unit/sharding/RandomShardings.h"

#include "gtest/gtest.h"

namespace tessera::sharding {
namespace {

// Every factor in each tensor at most once; dimensions of one to three factors.
RuledOp randomOp(Random &random) {
  RuledOp op;
  const int64_t sizes[] = {1, 2, 3, 4, 6, 8, 12};
  const FactorKind kinds[] = {FactorKind::PassThrough, FactorKind::PassThrough,
                              FactorKind::PassThrough, FactorKind::Reduction,
                              FactorKind::NeedReplication};
  for (int64_t n = 2 + random(4); n > 0; --n)
    op.rule.factors.push_back({sizes[random(7)], kinds[random(5)], ReductionKind::Sum});
  auto tensor = [&](bool result, std::vector<TensorFactors> &tensors, std::vector<Shape> &shapes) {
    std::vector<int32_t> factors;
    for (int32_t f = 0; f < int32_t(op.rule.factors.size()); ++f)
      if (result ? op.rule.factors[f].kind != FactorKind::Reduction : random(4) > 0)
        factors.push_back(f);
    std::shuffle(factors.begin(), factors.end(), random.engine);
    TensorFactors dims;
    Shape shape;
    for (size_t at = 0; at < factors.size();) {
      dims.emplace_back();
      shape.push_back(1);
      for (int64_t n = 1 + random(3); n > 0 && at < factors.size(); --n, ++at) {
        dims.back().push_back(factors[at]);
        shape.back() *= op.rule.factors[factors[at]].size;
      }
    }
    tensors.push_back(dims);
    shapes.push_back(shape);
  };
  tensor(false, op.rule.operands, op.operands);
  tensor(false, op.rule.operands, op.operands);
  tensor(true, op.rule.results, op.results);
  return op;
}

// On every device, each row that the tensor's layout gives it is the row that the factors' shards
// make, in the same place.
void expectShardsMatch(const Mesh &mesh, const RuledOp &op, const FactorAxes &axes,
                       const TensorFactors &tensor, const TensorSharding &sharding) {
  for (size_t d = 0; d < tensor.size(); ++d) {
    int64_t size = 1, local = 1;
    auto tileOf = [&](int32_t f) {
      return (op.rule.factors[f].size + shardCount(axes[f]) - 1) / shardCount(axes[f]);
    };
    for (int32_t f : tensor[d]) {
      size *= op.rule.factors[f].size;
      local *= tileOf(f);
    }
    int64_t shards = shardCount(sharding.dims[d].axes), tile = (size + shards - 1) / shards;
    ASSERT_EQ(tile, local) << "dimension " << d;
    for (int64_t device = 0; device < mesh.numDevices(); ++device)
      for (int64_t row = 0; row < tile; ++row) {
        int64_t rest = row, global = 0, stride = 1;
        for (int32_t f : llvm::reverse(tensor[d])) { // minor to major
          int64_t coordinate = indexAlong(mesh, device, axes[f]) * tileOf(f) + rest % tileOf(f);
          rest /= tileOf(f);
          global += coordinate * stride;
          stride *= op.rule.factors[f].size;
        }
        ASSERT_EQ(global, indexAlong(mesh, device, sharding.dims[d].axes) * tile + row)
            << "dimension " << d << ", device " << device;
      }
  }
}

TEST(FactorAxes, ShardsOfFactorsAreShardsOfTensors) {
  int64_t sharded = 0;
  for (uint32_t seed = 0; seed < 3000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random{std::mt19937(seed)};
    Mesh mesh = random.mesh();
    RuledOp op = randomOp(random);
    FactorAxes axes(op);
    if (random(2))
      axes.claimResult(0, random.sharding(mesh, op.results[0].size(), false));
    for (size_t i = 0; i < 2; ++i)
      axes.claimOperand(i, random.sharding(mesh, op.operands[i].size(), false));
    if (random(3) == 0)
      axes.release(random(axes.size()));
    sharded += axes.shards() > 1;
    for (size_t f = 0; f < axes.size(); ++f)
      EXPECT_TRUE(op.rule.factors[f].kind != FactorKind::NeedReplication || axes[f].empty());
    for (size_t i = 0; i < 2; ++i)
      expectShardsMatch(mesh, op, axes, op.rule.operands[i], axes.operandSharding(i));
    expectShardsMatch(mesh, op, axes, op.rule.results[0], axes.resultSharding(0));

    // No axis twice in a tensor, none both partial and in a dimension.
    for (const TensorSharding &s :
         {axes.operandSharding(0), axes.operandSharding(1), axes.resultSharding(0)}) {
      AxisRefs used = s.unreduced;
      for (const DimSharding &dim : s.dims)
        for (const AxisRef &axis : dim.axes) {
          EXPECT_FALSE(overlap(used, llvm::ArrayRef(axis)));
          used.push_back(axis);
        }
    }

    // The shardings say all: who reads them finds the same axes.
    FactorAxes again(op);
    again.claimResult(0, axes.resultSharding(0));
    for (size_t i = 0; i < 2; ++i)
      again.claimOperand(i, axes.operandSharding(i));
    for (size_t i = 0; i < 2; ++i)
      EXPECT_TRUE(sameAxes(again.operandSharding(i), axes.operandSharding(i)));
    EXPECT_TRUE(sameAxes(again.resultSharding(0), axes.resultSharding(0)));
    if (testing::Test::HasFailure())
      return;
  }
  EXPECT_GT(sharded, 1000) << "the claims hardly shard anything";
}

struct Reshape : testing::Test {
  Mesh mesh{"mesh", {{"x", 8}, {"y", 3}}, {}};
  RuledOp op{{{{4}, {6}}, {{{0}, {1}}}, {{{0, 1}}}}, {{4, 6}}, {{24}}}; // 4x6 -> 24
  TensorSharding along(AxisRef axis) {
    TensorSharding sharding = TensorSharding::replicatedOver(1);
    sharding.dims[0].axes = {axis};
    return sharding;
  }
};

// 24 over 8: four rows of 6, each in two halves.
TEST_F(Reshape, AnAxisSpansFactors) {
  FactorAxes axes(op);
  axes.claimResult(0, along({0, 1, 8}));
  EXPECT_EQ(axes[0], (AxisRefs{{0, 1, 4}}));
  EXPECT_EQ(axes[1], (AxisRefs{{0, 4, 2}}));
}

// 24 over 3 would cut the second row of 6 in two: left to a reshard.
TEST_F(Reshape, WhatDoesNotDivideStaysWhole) {
  FactorAxes axes(op);
  axes.claimResult(0, along({1, 1, 3}));
  EXPECT_EQ(axes.shards(), 1);
}

} // namespace
} // namespace tessera::sharding
