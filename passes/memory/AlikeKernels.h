// Which kernels one code may serve, with arrays of their own for each.
//
//   pointwise, of 64 and of 8 x 16 elements    the same ops, element by element: alike
//   sums of rows, both of 32 x 128             one kernel: alike
//   products, sorts, updates                   have plans of their own: alone
#pragma once

#include "dialects/exec/ExecOps.h"
#include "passes/codegen/kernel/KernelKey.h"

#include <optional>

namespace tessera::memory {

struct AlikeKernel {
  codegen::KernelKey key; // the same of all that are alike
  int64_t elements = 0;   // of the largest of its arrays
};

// None: a kernel that stays alone.
std::optional<AlikeKernel> alikeKernel(exec::KernelOp kernel);

} // namespace tessera::memory
