// Sums that a loop carries, added to as soon as there is something to add.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace tessera::fuse {

// Where memory is scarce: in each loop, what is added to an array that the loop carries, and that nothing else
// reads, is added as soon as it is there, and not at the trip's end, where JAX writes it.
//
//   while(%s = zeros)                      while(%s = zeros)
//     %g = ..                                %g = ..
//     .. all that is left of the trip        %t = add %s, convert %g
//     %t = add %s, convert %g                .. all that is left of the trip
//
// Only the order is another one. How many sums.
int addEarly(mlir::ModuleOp module);

} // namespace tessera::fuse
