// Dimensions that a loop goes along, an element a trip, as jax.lax.scan does, or a few.
//
//   %r = while(%xs = %init) {                          %init: 8x64x256 [{"d"}, {}, {}]
//     %x = dynamic_slice %xs, %i, 0, 0, sizes = [1, 64, 256]
//     ..                                               // all devices compute the same of %x
//
// Sharded along it, an array gives each trip what one device has, so that axis can split none of the
// trip's work. [{}, {"d"}, {}] inside of the loop does, for one exchange before it.
//
// And dimensions that a loop stacks anew each trip, as the right-hand side of a differential equation
// does with what it has computed of single components:
//
//   %r = while(%y = %init) {                           %init: 64x4 [{}, {"d"}]
//     %a, .. = slices of %y of size 64x1               // each is on one device, and sent to all
//     stablehlo.return concatenate %da, .., dim = 1
//   }
#pragma once

#include "passes/propagate/ModuleGraph.h"

namespace tessera {

// Annotations that have such arrays sharded otherwise, and ops with factors along which nothing flows then.
struct ScansAcross {
  std::vector<sharding::PropagatedValue> values;
  std::vector<std::pair<int32_t, int32_t>> blocked;
};

// Whether anything may be scanned: without loops nothing is.
bool hasLoops(const ModuleGraph &module);

// The values as `annotated` with such arrays sharded along another dimension within their loops where
// sizes allow it, or small ones not at all (`preferWhole`: of both ways that one), where `decided`,
// made of them by propagation, has them sharded along the scanned one. None where there are none.
std::optional<ScansAcross> withScansAcross(const ModuleGraph &module,
                                           llvm::ArrayRef<sharding::PropagatedValue> annotated,
                                           llvm::ArrayRef<sharding::PropagatedValue> decided,
                                           bool preferWhole);

} // namespace tessera
