// What a message is made of.
#pragma once

#include <cstdint>

namespace tessera::solver {

// to[j] = min over i of costs[i][j] - from[i]; rows and columns are at least 1.
void leastOf(const double *costs, const double *from, int32_t rows, int32_t columns, double *to);

} // namespace tessera::solver
