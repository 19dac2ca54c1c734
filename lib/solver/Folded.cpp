#include "lib/solver/Folded.h"

#include "lib/solver/Graph.h"

#include <algorithm>
#include <numeric>

namespace tessera::solver {

namespace {

// Of so many columns. Their least stays in registers from the first row to the last.
template <int count>
void leastOfSome(const double *__restrict costs, const double *__restrict from, int32_t rows,
                 int32_t columns, double *__restrict to) {
  double least[count];
  for (int j = 0; j < count; ++j)
    least[j] = costs[j] - from[0];
  for (int32_t i = 1; i < rows; ++i) {
    costs += columns;
    double less = from[i];
    for (int j = 0; j < count; ++j) {
      double cost = costs[j] - less;
      least[j] = cost < least[j] ? cost : least[j];
    }
  }
  for (int j = 0; j < count; ++j)
    to[j] = least[j];
}

// Of all columns, at least a block of them; the last block may begin within the one before.
template <int count>
void leastInBlocks(const double *costs, const double *from, int32_t rows, int32_t columns,
                   double *to) {
  int32_t last = columns - count;
  for (int32_t j = 0; j < last; j += count)
    leastOfSome<count>(costs + j, from, rows, columns, to + j);
  leastOfSome<count>(costs + last, from, rows, columns, to + last);
}

// Of each row, a number that it has in common with those that are equal; `first` gets the first row
// of each number.
std::vector<int32_t> numbersOf(const double *costs, int32_t rows, int32_t columns,
                               std::vector<int32_t> &first) {
  std::vector<int32_t> order(rows), result(rows);
  std::iota(order.begin(), order.end(), 0);
  auto row = [&](int32_t i) { return costs + int64_t(i) * columns; };
  std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
    return std::lexicographical_compare(row(a), row(a) + columns, row(b), row(b) + columns);
  });
  for (int32_t n = 0; n < rows; ++n) {
    bool isNew = n == 0 || !std::equal(row(order[n]), row(order[n]) + columns, row(order[n - 1]));
    if (isNew)
      first.push_back(order[n]);
    result[order[n]] = static_cast<int32_t>(first.size()) - 1;
  }
  return result;
}

} // namespace

void leastOf(const double *costs, const double *from, int32_t rows, int32_t columns, double *to) {
  if (columns >= 8)
    leastInBlocks<8>(costs, from, rows, columns, to);
  else if (columns >= 4)
    leastInBlocks<4>(costs, from, rows, columns, to);
  else if (columns >= 2)
    leastInBlocks<2>(costs, from, rows, columns, to);
  else
    leastInBlocks<1>(costs, from, rows, columns, to);
}

Folded::Folded(const double *costs, const double *transposed, int32_t rows, int32_t columns)
    : whole(costs), rows(rows), columns(columns) {
  std::vector<int32_t> firstRows, firstColumns;
  rowOf = numbersOf(costs, rows, columns, firstRows);
  columnOf = numbersOf(transposed, columns, rows, firstColumns);
  fewRows = static_cast<int32_t>(firstRows.size());
  fewColumns = static_cast<int32_t>(firstColumns.size());
  int64_t steps = int64_t(fewRows) * fewColumns + 2 * (int64_t(rows) + columns);
  if (4 * steps > 3 * int64_t(rows) * columns) {
    rowOf.clear();
    return;
  }
  for (int32_t i : firstRows)
    for (int32_t j : firstColumns)
      few.push_back(costs[int64_t(i) * columns + j]);
}

void Folded::leastOf(const double *from, double *to, std::vector<double> &space) const {
  if (rowOf.empty()) {
    solver::leastOf(whole, from, rows, columns, to);
    return;
  }
  space.assign(fewRows + fewColumns, -forbidden);
  double *most = space.data(), *least = most + fewRows;
  for (int32_t i = 0; i < rows; ++i)
    most[rowOf[i]] = std::max(most[rowOf[i]], from[i]);
  solver::leastOf(few.data(), most, fewRows, fewColumns, least);
  for (int32_t j = 0; j < columns; ++j)
    to[j] = least[columnOf[j]];
}

} // namespace tessera::solver
