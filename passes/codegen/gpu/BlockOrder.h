// In which order points come to the blocks of a launch, where several of these would read the same: plain data,
// decided without IR.
//
//   y[r, c] = x[r, c] * scale[c]      r < 16, c < 512, blocks of 1,024 points
//
// Line by line a block has two lines, and reads all of `scale`, as each of the eight does. A block of all lines and 64
// columns reads an eighth of it, and the whole lines of x and y that it has are whole sectors still. So do windows that
// slide over lines, tables that several heads turn by, masks that they share.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace tessera::codegen::gpu {

// What a point reads or writes of an array: `bytes` side by side.
struct BlockAccess {
  int array = 0;                 // the same one may be read at several places
  int64_t offset = 0, bytes = 4; // from where on
  // From point to point of each loop, outer first, in bytes.
  std::vector<int64_t> strides;
  // Loops that a point goes over itself: so many steps of so many bytes.
  struct Term {
    int64_t count = 1, stride = 0;
  };
  std::vector<Term> terms = {};
  // Of each loop the points [first, second) that make it; none: all do.
  std::vector<std::pair<int64_t, int64_t>> within = {};
};

// Of a point's number: it counts `size` points of a loop that are each `step` from the one before. A loop has one digit
// or two.
struct Digit {
  unsigned loop = 0;
  int64_t size = 1, step = 1;
  bool operator==(const Digit &) const = default;
};
using BlockOrder = std::vector<Digit>; // outermost first

// A digit for each loop, outer first.
BlockOrder lineByLine(const std::vector<int64_t> &extents);

// Of blocks of so many points, one after the other in the order.
BlockOrder blockOrder(const std::vector<int64_t> &extents, const std::vector<BlockAccess> &accesses,
                      int64_t points);

// Sectors that all blocks of it move together.
double sectorsOf(const std::vector<int64_t> &extents, const BlockOrder &order,
                 const std::vector<BlockAccess> &accesses, int64_t points);

// Threads of a block, of a point each, and the order.
struct BlockShape {
  int64_t threads;
  BlockOrder order;
};

// `threads` or, where points read the same that many blocks would read else, twice as many and so on, up to `most`.
BlockShape blockShape(const std::vector<int64_t> &extents, const std::vector<BlockAccess> &accesses,
                      int64_t threads, int64_t most);

} // namespace tessera::codegen::gpu
