// What the region of a reduction, scatter or window computes, where it is one of the kinds that
// devices can combine.
#pragma once

#include "lib/sharding/Sharding.h"
#include "mlir/IR/Region.h"
#include <optional>

namespace tessera::stablehlo {

// The kinds by which `body` combines its i-th accumulator with its i-th value and nothing else, for
// each i; empty when it does anything else with any of them (argmax, or a scatter that overwrites).
llvm::SmallVector<sharding::ReductionKind> combinersOf(mlir::Region &body);

// The kind by which `body` combines its i-th accumulator with its i-th value, for all i alike; else
// none.
std::optional<sharding::ReductionKind> combinerOf(mlir::Region &body);

// Whether combining `value` any number of times more changes nothing: a constant neutral element,
// or any value of an idempotent kind.
bool mayRepeat(mlir::Value value, sharding::ReductionKind kind);

} // namespace tessera::stablehlo
