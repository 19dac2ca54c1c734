// What goes through the tile of a kernel that turns (TurnedKernel.cpp): loads that lie across the results, and sums
// of such.
#pragma once

#include "passes/codegen/kernel/NestGraph.h"

#include <optional>

namespace tessera::codegen::gpu {

// A load, or a sum of loads.
struct TurnedValue {
  Node *value;
  llvm::SmallVector<Node *, 2> loads;
};

struct TurnedValues {
  llvm::SmallVector<TurnedValue, 4> values;
  size_t along; // number of the group that the loads are contiguous in
};

// Of a nest's loops that are collapsed, and its nodes that are computed. None: nothing is turned.
std::optional<TurnedValues> turnedValues(const NestGraph &nest, llvm::ArrayRef<LoopGroup> groups,
                                         llvm::ArrayRef<Node *> live);

} // namespace tessera::codegen::gpu
