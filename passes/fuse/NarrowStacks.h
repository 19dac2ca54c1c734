// Stacks in the type in which their values are computed.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace tessera::fuse {

// Where memory is scarce: what a loop converts to a wider type and puts away in each trip is put away as it
// was before, and converted where it is read.
//
//   %f = while(%s = zeros)                            %f = while(%s = zeros)
//     %w = convert %h : bf16 -> f32
//     dynamic_update_slice %s, %w, %i                   dynamic_update_slice %s, %h, %i
//   .. = multiply %f, %f                              %g = convert %f : bf16 -> f32
//                                                     .. = multiply %g, %g
//
// Such are the gradients of a scan's f32 weights, which it multiplies as bf16. Values are the same, bit for
// bit. Where the wide stack is read as an array, as by a collective, or returned, it stays. How many stacks.
int narrowStacks(mlir::ModuleOp module);

} // namespace tessera::fuse
