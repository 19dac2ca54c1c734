// Copies between arrays of any strides: parts of global arrays, and arrays of the host that are not
// dense.
#pragma once

#include <cstdint>
#include <vector>

namespace tessera::runtime {

// Where elements of an array lie: `strides` bytes apart along each dimension.
struct Strided {
  const void *data;
  std::vector<int64_t> strides;
};

// Row-major, without gaps.
std::vector<int64_t> denseStrides(const std::vector<int64_t> &shape, int64_t elementBytes);

// Copies `extent` elements along each dimension; the arrays don't overlap.
void copyStrided(const Strided &to, const Strided &from, const std::vector<int64_t> &extent,
                 int64_t elementBytes);

} // namespace tessera::runtime
