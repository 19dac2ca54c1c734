// The order of a block's tasks, decided on plain data: a simulation in which collectives run beside
// compute.
//
//   base order      a  G  g  b  c        G: collective on a, g reads it; b, c need neither
//   schedule        a  start G  b  c  wait G  g
//
// A collective starts as soon as its operand is there. Whoever reads its result is put off while
// other work within `window` tasks of the base order can run; among that, short tasks which free
// more memory than they take go first, then the longest remaining path. The window bounds how far
// memory use departs from the base order's. Without collectives the base order stays.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <vector>

namespace tessera::order {

struct Task {
  double seconds = 0; // of a collective: from start until its result is there
  bool collective = false;
  llvm::SmallVector<int, 4> operands; // earlier tasks
  int64_t bytes = 0;                  // new memory for its results
};

struct Step {
  enum Kind { Run, Start, Wait } kind;
  int task;
  bool operator==(const Step &) const = default;
};

std::vector<Step> schedule(llvm::ArrayRef<Task> tasks, int window = 48);

} // namespace tessera::order
