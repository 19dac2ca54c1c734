// An order made again from its end to its beginning, on plain data.
#pragma once

#include "lib/cost/Timeline.h"

namespace tessera::order {

// The same tasks, ready to be ordered backward: numbered from the last that `steps` runs to the
// first, each with the tasks that need it as operands.
struct Mirror {
  std::vector<cost::Task> tasks;
  std::vector<int> original; // by number in the mirror
};
Mirror mirrorOf(llvm::ArrayRef<cost::Task> tasks, llvm::ArrayRef<cost::Step> steps);

// What an order of the mirror is forward: its starts are waits, its waits are starts.
std::vector<cost::Step> forward(const Mirror &mirror, llvm::ArrayRef<cost::Step> steps);

// Starts collectives earlier, in the same order, where no more memory is live than the order takes
// anyway: less depends on how well times are known.
void startEarlier(llvm::ArrayRef<cost::Task> tasks, llvm::ArrayRef<cost::Storage> storages,
                  std::vector<cost::Step> &steps);

} // namespace tessera::order
