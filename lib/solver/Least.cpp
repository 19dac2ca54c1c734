#include "lib/solver/Least.h"

namespace tessera::solver {

namespace {

// Of so many columns. Their least stays in registers from the first row to the last. It is inlined, as each
// version of leastOf has instructions of its own.
template <int count>
[[gnu::always_inline]] inline void leastOfSome(const double *__restrict costs,
                                               const double *__restrict from, int32_t rows,
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
[[gnu::always_inline]] inline void leastInBlocks(const double *costs, const double *from,
                                                 int32_t rows, int32_t columns, double *to) {
  int32_t last = columns - count;
  for (int32_t j = 0; j < last; j += count)
    leastOfSome<count>(costs + j, from, rows, columns, to + j);
  leastOfSome<count>(costs + last, from, rows, columns, to + last);
}

} // namespace

// Differences and comparisons only: the same numbers, however wide registers are.
[[gnu::target_clones("avx512f", "avx2", "default")]] void
leastOf(const double *costs, const double *from, int32_t rows, int32_t columns, double *to) {
  if (columns >= 32)
    leastInBlocks<32>(costs, from, rows, columns, to);
  else if (columns >= 16)
    leastInBlocks<16>(costs, from, rows, columns, to);
  else if (columns >= 8)
    leastInBlocks<8>(costs, from, rows, columns, to);
  else if (columns >= 4)
    leastInBlocks<4>(costs, from, rows, columns, to);
  else if (columns >= 2)
    leastInBlocks<2>(costs, from, rows, columns, to);
  else
    leastInBlocks<1>(costs, from, rows, columns, to);
}

} // namespace tessera::solver
