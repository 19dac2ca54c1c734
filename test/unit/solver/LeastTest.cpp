// The least of each column, in blocks of columns that may overlap.
#include "lib/solver/Least.h"

#include "lib/solver/Graph.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

using namespace tessera::solver;

namespace {

TEST(Least, OfAnyNumberOfColumns) {
  std::mt19937_64 random(1);
  for (int32_t rows : {1, 2, 7})
    for (int32_t columns = 1; columns < 72; ++columns) {
      std::vector<double> costs(rows * columns), from(rows), to(columns + 1, -1);
      for (double &cost : costs)
        cost = random() % 8 == 0 ? forbidden : static_cast<double>(random() % 1000) / 7;
      for (double &less : from)
        less = static_cast<double>(random() % 1000) / 3;
      leastOf(costs.data(), from.data(), rows, columns, to.data());
      for (int32_t j = 0; j < columns; ++j) {
        double least = forbidden;
        for (int32_t i = 0; i < rows; ++i)
          least = std::min(least, costs[i * columns + j] - from[i]);
        EXPECT_EQ(to[j], least) << rows << " by " << columns;
      }
      EXPECT_EQ(to[columns], -1);
    }
}

} // namespace
