#include "lib/sharding/ColumnSort.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>
#include <utility>
#include <vector>

namespace tessera::sharding {
namespace {

using Columns = std::vector<std::vector<int>>;

// The steps of the header's example, on columns of plan.rows elements.
std::vector<int> columnSorted(Columns columns, const ColumnSort &plan) {
  auto sortEach = [&] {
    for (auto &column : columns)
      std::sort(column.begin(), column.end());
  };
  sortEach();
  Columns next(plan.shards);
  for (const auto &column : columns)
    for (size_t q = 0; q < column.size(); ++q)
      next[q % plan.shards].push_back(column[q]);
  columns = std::exchange(next, Columns(plan.shards));
  sortEach();
  for (const auto &column : columns)
    for (size_t q = 0; q < column.size(); ++q)
      next[q / plan.part()].push_back(column[q]);
  columns = next;
  sortEach();
  std::vector<int> all;
  for (const auto &column : columns)
    all.insert(all.end(), column.begin(), column.end());
  for (int64_t i = 1; i < plan.shards; ++i)
    std::sort(all.begin() + i * plan.rows - plan.boundary,
              all.begin() + i * plan.rows + plan.boundary);
  return all;
}

// Zeros and ones are the worst there is; all numbers of zeros a column, for few columns.
TEST(ColumnSort, SortsAllZerosAndOnes) {
  for (int64_t shards : {2, 3}) {
    std::optional<ColumnSort> plan = planColumnSort(shards * 2 * shards * (shards - 1), shards);
    ASSERT_TRUE(plan);
    int64_t cases = 1;
    for (int64_t i = 0; i < shards; ++i)
      cases *= plan->rows + 1;
    for (int64_t c = 0; c < cases; ++c) {
      Columns columns;
      for (int64_t i = 0, rest = c; i < shards; ++i, rest /= plan->rows + 1) {
        columns.emplace_back(rest % (plan->rows + 1), 0);
        columns.back().resize(plan->rows, 1);
      }
      std::vector<int> sorted = columnSorted(columns, *plan);
      ASSERT_TRUE(std::is_sorted(sorted.begin(), sorted.end())) << shards << " shards, case " << c;
    }
  }
}

TEST(ColumnSort, SortsRandomNumbers) {
  std::mt19937 random(7);
  for (int64_t shards = 2; shards < 17; ++shards)
    for (int round = 0; round < 20; ++round) {
      std::optional<ColumnSort> plan = planColumnSort(2 * shards * shards * (shards - 1), shards);
      ASSERT_TRUE(plan);
      Columns columns(shards, std::vector<int>(plan->rows));
      for (auto &column : columns)
        for (int &number : column)
          number = int(random() % (1 + round * round));
      std::vector<int> sorted = columnSorted(columns, *plan);
      ASSERT_TRUE(std::is_sorted(sorted.begin(), sorted.end())) << shards;
    }
}

// Rows about one boundary must not be rows about the next.
TEST(ColumnSort, NeedsRowsBetweenBoundaries) {
  EXPECT_FALSE(planColumnSort(832, 8));
  std::optional<ColumnSort> plan = planColumnSort(893, 8);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->tile, 112);
  EXPECT_EQ(plan->rows, 112);
  EXPECT_EQ(plan->boundary, 56);
  EXPECT_TRUE(plan->padded());
  EXPECT_FALSE(planColumnSort(100, 1));
}

} // namespace
} // namespace tessera::sharding
