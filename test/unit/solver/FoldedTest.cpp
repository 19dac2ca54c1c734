// Messages through matrices whose equal rows and columns are there once.
#include "lib/solver/Folded.h"

#include "lib/solver/Graph.h"

#include <gtest/gtest.h>

#include <random>

using namespace tessera::solver;

namespace {

// Rows and columns are drawn from a few, so that most are there more than once; a few, up to all,
// leave nothing to fold.
TEST(Folded, IsTheWholeMatrixToTheBit) {
  std::mt19937_64 random(1);
  for (int32_t rows : {1, 2, 7, 24})
    for (int32_t columns = 1; columns < 20; ++columns)
      for (int32_t distinct : {1, 3, 24}) {
        std::vector<double> costs(rows * columns), transposed(rows * columns), from(rows);
        std::vector<double> numbers(distinct * distinct);
        for (double &number : numbers)
          number = random() % 8 == 0 ? forbidden : static_cast<double>(random() % 1000) / 7;
        std::vector<size_t> columnOf(columns);
        for (size_t &column : columnOf)
          column = random() % distinct;
        for (int32_t i = 0; i < rows; ++i) {
          size_t row = random() % distinct;
          from[i] = static_cast<double>(random() % 1000) / 3;
          for (int32_t j = 0; j < columns; ++j)
            costs[i * columns + j] = transposed[j * rows + i] =
                numbers[row * distinct + columnOf[j]];
        }
        Folded folded(costs.data(), transposed.data(), rows, columns);
        std::vector<double> to(columns), space;
        folded.leastOf(from.data(), to.data(), space);
        for (int32_t j = 0; j < columns; ++j) {
          double least = forbidden;
          for (int32_t i = 0; i < rows; ++i)
            least = std::min(least, costs[i * columns + j] - from[i]);
          EXPECT_EQ(to[j], least) << rows << " by " << columns << " of " << distinct;
        }
      }
}

} // namespace
