// Halo of windows. With a window of 3 and padding 1, 8 rows on 2 shards (held 4 each):
//   shard 0 sees rows [-1, 5)      one row from its neighbour; row -1 is filled
//   shard 1 sees rows [3, 9)       one row from its neighbour; row 8 is filled
#include "passes/localize/WindowRows.h"

using namespace mlir;

namespace tessera::localize {

static int64_t floorDivide(int64_t a, int64_t b) { return a >= 0 ? a / b : -((-a + b - 1) / b); }

bool keepsPhase(const WindowDim &window, int64_t step) { return step % window.baseDilation == 0; }

Value windowRows(Localizer &l, Value value, int64_t dim, const DimLayout &held, int64_t size,
                 ArrayRef<sharding::AxisRef> axes, int64_t step, int64_t offset, int64_t span,
                 WindowDim &window, Value fill) {
  int64_t base = window.baseDilation;
  int64_t first = floorDivide(offset, base); // the first row at or before the span
  int64_t phase = first * base - offset;     // its place relative to it, not positive
  int64_t rows = (span - phase + base - 1) / base;
  WantedRows wanted{step / base, first, rows};
  value = wantedRows(l, value, dim, held, size, axes, wanted);
  int64_t shards = sharding::shardCount(axes), last = first + (shards - 1) * wanted.step;
  if (std::min(first, last) < 0 || std::max(first, last) + rows > size) {
    Value start = myStart(l, axes, wanted.step, first);
    value = select(l, rowsBetween(l, shapeOf(value), dim, start, 0, size), value,
                   splat(l, fill, shapeOf(value)));
  }
  window.low = phase;
  window.high = span - (phase + (rows - 1) * base + 1);
  return value;
}

} // namespace tessera::localize
