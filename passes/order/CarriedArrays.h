// What a loop's body leaves for its next trip, on plain data: each array is copied into the one that
// the trip has read where that is still read when the new one is written.
#pragma once

#include "lib/cost/Timeline.h"

namespace tessera::order {

struct Carry {
  int read, written; // storages: of this trip, of the next
  double copySeconds;
};

// Seconds of the copies that the order of steps makes necessary.
double copySeconds(llvm::ArrayRef<cost::Task> tasks, size_t storages,
                   llvm::ArrayRef<cost::Step> steps, llvm::ArrayRef<Carry> carries);

// The tasks, with more operands: who writes comes after all who read, where the base order has them
// so.
std::vector<cost::Task> withoutCopies(llvm::ArrayRef<cost::Task> tasks, size_t storages,
                                      llvm::ArrayRef<Carry> carries);

} // namespace tessera::order
