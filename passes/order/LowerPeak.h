// An order that holds less at its peak, on plain data.
//
//   order      a  b  P  r        a's array is read by r only, and lives while P, the peak, runs
//   earlier    a  r  b  P        r holds less than a
//   later      b  P  a  r        or else a is made behind P, where what it reads is there anyway
//
// What lives at the peak and is needed by nothing there is read before it, or made behind it, each
// with what it depends on: whatever lowers the peak most, and so on; of a peak that nothing lowers, the
// next one. Orders that take one task after another see no further than the next one.
#pragma once

#include "lib/cost/Timeline.h"

namespace tessera::order {

// The steps, changed until the peak is no higher than `mostBytes` or no change of an array lowers it.
// Collectives that are moved are waited for where they start.
std::vector<cost::Step> withLowerPeak(llvm::ArrayRef<cost::Task> tasks,
                                      llvm::ArrayRef<cost::Storage> storages,
                                      std::vector<cost::Step> steps, int64_t mostBytes);

} // namespace tessera::order
