// Rows of all ranks are reduced at once, and to the same bits as each on its own.
#include "runtime/comm/local/ScatteredRows.h"
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

TEST(ScatteredRows, HaveTheBitsOfEachRowAlone) {
  std::mt19937 random(5);
  const Case cases[] = {{program::BF16, {300, 8}, 1, 8},   // rows of one element
                        {program::F32, {70, 8}, 1, 8},     // of one, as most are
                        {program::F32, {70, 24}, 1, 8},    // of three, which no move has
                        {program::F32, {9, 40, 16}, 2, 8}, // of two
                        {program::F32, {7, 24, 5}, 1, 4},  // of thirty
                        {program::F32, {30, 8000}, 1, 8},  // each more than is reduced at once
                        {program::F32, {5000, 16}, 1, 4},  // more than is reduced at once
                        {program::F64, {64, 100}, 1, 50}}; // many ranks
  for (const Case &each : cases) {
    CollectivePlan plan = planOf(each);
    const Transfer &transfer = plan.transfers[0];
    const Block &block = transfer.block;
    ASSERT_TRUE(hasScatteredRows(transfer, each.ranks));
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
    std::vector<const char *> sources;
    std::vector<std::vector<char>> results(each.ranks, std::vector<char>(transfer.resultBytes));
    std::vector<char *> targets;
    for (uint32_t rank = 0; rank < each.ranks; ++rank) {
      sources.push_back(operands[rank].data());
      targets.push_back(results[rank].data());
    }
    int64_t rows = whole / block.row, middle = rows / 2;
    reduceRows(transfer, reduce, sources, targets, 0, middle, element);
    reduceRows(transfer, reduce, sources, targets, middle, rows, element);
    for (uint32_t rank = 0; rank < each.ranks; ++rank) {
      std::vector<char> expected(transfer.resultBytes);
      forEachRun(block, 0, whole, [&](int64_t from, int64_t to, int64_t bytes) {
        std::vector<const char *> row;
        for (const char *source : sources)
          row.push_back(source + rank * transfer.fromStep + from);
        char *target = expected.data() + to;
        reduce(row.data(), each.ranks, &target, 1, bytes / element);
      });
      EXPECT_EQ(results[rank], expected) << rank;
    }
  }
}

TEST(ScatteredRows, AreNotLongAndNotOfTheFirstDimension) {
  auto hasThem = [](const Case &each) {
    return hasScatteredRows(planOf(each).transfers[0], each.ranks);
  };
  EXPECT_FALSE(hasThem({program::F32, {8, 16}, 0, 8}));
  EXPECT_TRUE(hasThem({program::F32, {32, 128}, 1, 8}));
  EXPECT_TRUE(hasThem({program::F32, {32, 8184}, 1, 8}));
  EXPECT_FALSE(hasThem({program::F32, {32, 8192}, 1, 8}));
}

} // namespace
