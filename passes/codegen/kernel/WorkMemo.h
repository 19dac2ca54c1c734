// What kernels do, counted once for all that are equal.
//
// Prices are asked for by each pass that weighs orders, and of each program that is tried; the kernels
// are mostly the same.
#pragma once

#include "lib/cost/KernelWork.h"
#include "passes/codegen/kernel/KernelKey.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <map>

namespace tessera::codegen {

// While one lives, workOf on its thread remembers. One inside of another uses the outer one's. The
// kernels' context must outlive it.
class WorkMemo {
public:
  WorkMemo();
  ~WorkMemo();
  WorkMemo(const WorkMemo &) = delete;

  // What `count` says of the kernel, or of an equal one.
  static cost::KernelWork recall(const KernelSource &kernel,
                                 llvm::function_ref<cost::KernelWork()> count);

private:
  std::map<KernelKey, cost::KernelWork> known;
  bool isOutermost;
};

} // namespace tessera::codegen
