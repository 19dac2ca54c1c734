// Which kernels are equal: the same code is made of them.
#pragma once

#include "passes/codegen/kernel/KernelSource.h"

#include <cstdint>
#include <vector>

namespace tessera::codegen {

// A kernel's ops, their attributes and types, which the context has once each, and the numbers of
// their operands. The context must outlive it.
using KernelKey = std::vector<uintptr_t>;

KernelKey keyOf(const KernelSource &kernel);

} // namespace tessera::codegen
