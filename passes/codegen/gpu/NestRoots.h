// What the kinds of kernels whose outputs are functions of an index have in common.
#pragma once

#include "passes/codegen/gpu/EntryFunction.h"
#include "passes/codegen/kernel/NestGraph.h"

namespace tessera::codegen::gpu {

// Computes the results at the current point, and then stores them; `ofRows`: those that have one element
// for each row of the others, or those others.
void emitRoots(EntryFunction &function, const NestGraph &nest, Emitter &e, bool ofRows);

// Elements some of which are read across, by blocks; false: there are none.
bool emitTurned(EntryFunction &function, const NestGraph &nest);

} // namespace tessera::codegen::gpu
