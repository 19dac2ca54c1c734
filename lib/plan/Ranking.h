// Which of several plans is taken. What times differ by in the last percent is within what any prediction
// is off by, and changes with every line of a program: of plans that take as long, the simplest is best.
//
//   seconds   1.000   1.002   1.004   1.200
//   axes      2       1       2       1          the second
#pragma once

#include "llvm/ADT/ArrayRef.h"

#include <cstddef>
#include <vector>

namespace tessera::plan {

struct Ranked {
  bool fits = true; // into the memory of a device, as the search counts
  double predicted =
      0; // seconds of a step as it is compiled; 0 where none of those that are compared was
  double counted = 0;   // as the search counts
  double bytes = 0;     // that a device holds at its peak
  size_t axes = 0;      // of the mesh
  bool isNamed = false; // of a kind that people know
};

// The number of the best: of those that fit, if any does, the least predicted; of those alike the least
// counted; then the least bytes, the fewest axes, a known kind, the first.
size_t bestOf(llvm::ArrayRef<Ranked> plans);

// All of them, the best of those that are left each time.
std::vector<size_t> inOrder(llvm::ArrayRef<Ranked> plans);

// Two orders of the same plans in one: the first of each, the second of each, .., each plan once.
std::vector<size_t> byTurns(llvm::ArrayRef<size_t> one, llvm::ArrayRef<size_t> other);

} // namespace tessera::plan
