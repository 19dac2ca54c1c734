// Which rows of an array a kernel may keep while it goes over them several times.
#pragma once

#include <cstdint>

namespace tessera::fusion {

// An array as rows: the innermost dimensions, which a reduction folds.
struct Rows {
  int64_t count = 0;
  int64_t elements = 0; // of a row
  int64_t bytes = 0;    // of a row
};

// A row that is folded again and again should be in a cache that a core has for itself, with a few
// arrays beside it. Of shorter ones, what is computed once a row takes longer than reading and writing
// them again: it is no vector's work. A row is one core's work, so few of them need to be cheap.
struct RowLimits {
  int64_t bytes = 512 << 10; // of a row
  int64_t elements = 32;     // at least
  int64_t few = 32;
  int64_t bytesOfFew = 64 << 10; // of all rows, where they are fewer
};

// Of a GPU: threads take short rows as easily as long ones, and a block of them few rows as well as many.
// But a large array that is one row, as a gradient of which the norm is computed, is one block's work,
// and everything beside its sum that of all blocks.
constexpr RowLimits kGpuRows{.bytes = 512 << 10, .elements = 2, .few = 2, .bytesOfFew = 256 << 10};

// Whether reductions along the rows and what follows over the same rows may be one kernel.
inline bool rowsStay(const Rows &rows, const RowLimits &limits) {
  return rows.elements >= limits.elements && rows.bytes <= limits.bytes &&
         (rows.count >= limits.few || rows.count * rows.bytes <= limits.bytesOfFew);
}

} // namespace tessera::fusion
