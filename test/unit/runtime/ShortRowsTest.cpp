// Rows shorter than a vector are reduced together, and to the same bits as each on its own.
#include "runtime/comm/local/ShortRows.h"
#include "runtime/array/ElementType.h"

#include <cstring>
#include <gtest/gtest.h>
#include <random>

using namespace tessera::runtime;
namespace program = tessera::program;
using program::Collective;

namespace {

struct Case {
  program::ElementType type;
  std::vector<int64_t> shape;
  uint32_t dim, ranks;
};

CollectivePlan planOf(const Case &each) {
  Collective collective;
  collective.set_kind(Collective::REDUCE_SCATTER);
  collective.set_reduction(Collective::SUM);
  collective.set_type(each.type);
  collective.set_dim(each.dim);
  collective.add_operands();
  collective.add_results();
  for (int64_t size : each.shape)
    (collective.shapes_size() ? collective.mutable_shapes(0) : collective.add_shapes())
        ->add_dims(size);
  auto plan = planCollective(collective, each.ranks);
  EXPECT_TRUE(plan.ok()) << plan.status().message();
  return *plan;
}

TEST(ShortRows, HaveTheBitsOfEachRowAlone) {
  std::mt19937 random(5);
  const Case cases[] = {{program::BF16, {300, 8}, 1, 8},   // rows of one element
                        {program::F32, {70, 8}, 1, 8},     // of one, as most are
                        {program::F32, {70, 24}, 1, 8},    // of three, which no move has
                        {program::F32, {9, 40, 16}, 2, 8}, // of two
                        {program::F32, {5000, 16}, 1, 4},  // more than is brought together at once
                        {program::F64, {64, 100}, 1, 50}}; // many ranks
  for (const Case &each : cases) {
    CollectivePlan plan = planOf(each);
    const Transfer &transfer = plan.transfers[0];
    const Block &block = transfer.block;
    ASSERT_TRUE(hasShortRows(block));
    int64_t element = byteSize(each.type), whole = block.bytes();
    std::vector<std::vector<char>> operands;
    for (uint32_t r = 0; r < each.ranks; ++r) {
      std::vector<char> &bytes = operands.emplace_back(transfer.operandBytes);
      for (char &byte : bytes)
        byte = char(random() % 64); // finite numbers of any of these types
      for (size_t last = element - 1; last < bytes.size(); last += element)
        bytes[last] |= char(random() % 2 << 7); // of either sign
    }
    ReduceFunction reduce = reduceFunction(each.type, Collective::SUM);
    for (uint32_t rank : {0u, each.ranks - 1}) {
      std::vector<const char *> sources;
      for (auto &operand : operands)
        sources.push_back(operand.data() + rank * transfer.fromStep);
      std::vector<char> expected(transfer.resultBytes), actual(transfer.resultBytes);
      forEachRun(block, 0, whole, [&](int64_t from, int64_t to, int64_t bytes) {
        std::vector<const char *> rows;
        for (const char *source : sources)
          rows.push_back(source + from);
        char *target = expected.data() + to;
        reduce(rows.data(), each.ranks, &target, 1, bytes / element);
      });
      int64_t middle = whole / 2 / element * element; // also within a row
      reduceTogether(block, reduce, sources, actual.data(), 0, middle, element);
      reduceTogether(block, reduce, sources, actual.data(), middle, whole, element);
      EXPECT_EQ(actual, expected);
    }
  }
}

TEST(ShortRows, AreThoseThatNoVectorHolds) {
  EXPECT_FALSE(hasShortRows(planOf({program::F32, {8, 16}, 0, 8}).transfers[0].block));
  EXPECT_FALSE(hasShortRows(planOf({program::F32, {32, 128}, 1, 8}).transfers[0].block));
  EXPECT_TRUE(hasShortRows(planOf({program::F32, {32, 64}, 1, 8}).transfers[0].block));
}

} // namespace
