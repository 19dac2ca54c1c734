// A program's tasks in the order that they run in, where that is another one than the program's own: what
// is live at its peak is what it is worth to compute again.
#pragma once

#include "lib/cost/Remat.h"

namespace tessera::cost {

// The tasks by their places, each behind its operands; -1: its place is unknown, and it goes before the
// first that needs it, or to the end.
//   tasks a, b(a), c, d(c, x), x    places 3, 7, 1, 4, -1    c a x d b
std::vector<int> orderByPlaces(llvm::ArrayRef<Task> tasks, llvm::ArrayRef<int> places);

// `order`: the block's tasks, each once, behind its operands.
void reorder(RematProgram &program, int block, llvm::ArrayRef<int> order);

} // namespace tessera::cost
