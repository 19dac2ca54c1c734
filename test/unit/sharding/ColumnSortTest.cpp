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
  for (int64_t i = 0; i < plan.shards; ++i) {
    std::vector<int> column = columns[i];
    if (i > 0) { // the last of the one before, and my first
      std::vector<int> above(columns[i - 1].end() - plan.crossing, columns[i - 1].end());
      above.insert(above.end(), columns[i].begin(), columns[i].begin() + plan.boundary);
      std::sort(above.begin(), above.end());
      std::copy(above.begin() + plan.crossing, above.end(), column.begin());
    }
    if (i + 1 < plan.shards) {
      std::vector<int> below(columns[i].end() - plan.boundary, columns[i].end());
      below.insert(below.end(), columns[i + 1].begin(), columns[i + 1].begin() + plan.crossing);
      std::sort(below.begin(), below.end());
      std::copy(below.begin(), below.begin() + plan.boundary, column.end() - plan.boundary);
    }
    all.insert(all.end(), column.begin(), column.end());
  }
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

// Columns of as many zeros each bring most to the wrong side: on as few rows as there may be.
TEST(ColumnSort, SortsZerosThatDifferMost) {
  for (int64_t shards = 2; shards < 14; ++shards) {
    int64_t least = shards;
    while (!planColumnSort(least * shards, shards))
      ++least;
    ColumnSort plan = *planColumnSort(least * shards, shards);
    for (int64_t zeros = 0; zeros <= plan.rows; ++zeros) {
      std::vector<int> column(plan.rows, 1);
      std::fill_n(column.begin(), zeros, 0);
      std::vector<int> sorted = columnSorted(Columns(shards, column), plan);
      ASSERT_TRUE(std::is_sorted(sorted.begin(), sorted.end())) << shards << ": " << zeros;
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
  EXPECT_FALSE(planColumnSort(768, 8));
  EXPECT_FALSE(planColumnSort(18, 3)); // a part has fewer rows than columns may differ by
  std::optional<ColumnSort> plan = planColumnSort(893, 8);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->tile, 112);
  EXPECT_EQ(plan->rows, 112);
  EXPECT_EQ(plan->boundary, 49);
  EXPECT_EQ(plan->crossing, 16);
  EXPECT_TRUE(plan->padded());
  EXPECT_FALSE(planColumnSort(100, 1));
}

} // namespace
} // namespace tessera::sharding
