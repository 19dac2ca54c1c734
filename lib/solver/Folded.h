// What a message is made of: of each column of a matrix, the least of its entries less what comes
// from each row. Where vertices were merged, most choices look alike to an edge that knew one of
// them: equal rows and equal columns are there once.
//
//   1 1 2     rows are     0 1 0        1 2
//   3 3 4     columns are  0 0 1        3 4
//   1 1 2
#pragma once

#include <cstdint>
#include <vector>

namespace tessera::solver {

// to[j] = min over i of costs[i][j] - from[i].
void leastOf(const double *costs, const double *from, int32_t rows, int32_t columns, double *to);

class Folded {
public:
  // The transposed matrix says which columns are alike. Both must outlive this.
  Folded(const double *costs, const double *transposed, int32_t rows, int32_t columns);

  // As of the whole matrix, to the bit; `space` is for what comes between.
  void leastOf(const double *from, double *to, std::vector<double> &space) const;

private:
  const double *whole;
  int32_t rows, columns;                // of the whole
  std::vector<int32_t> rowOf, columnOf; // their numbers here; none: the whole is no larger
  int32_t fewRows = 0, fewColumns = 0;
  std::vector<double> few;
};

} // namespace tessera::solver
