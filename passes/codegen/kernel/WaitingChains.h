// How long a vector's operations wait for each other, beyond what others hide.
//
//   %1 = x * a    %2 = %1 + b    ..    %40 = %39 + b      40 operations, each after the one before
//
// A processor looks ahead so far: while one vector's operations wait, it begins the next vectors'. With
// u operations to a vector, of which the longest chain takes l cycles, and room for w of them, l * u / w
// cycles are what a vector takes at least, and u / i where i may begin in a cycle. Short chains are
// hidden (l < w / i); a chain of forty operations that each round to bf16 is not, and takes several
// times as long as its operations one by one.
#pragma once

#include "passes/codegen/kernel/Graph.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace tessera::codegen {

// The sum of u * (l - w / i) of all vectors, in operations times cycles; l is that of the longest chain
// that an operation is part of. `nodes`: operands first. `times`: of how many elements each is computed
// by vectors; 0: it is none of these, and none waits for it.
double waitsOf(llvm::ArrayRef<Node *> nodes, llvm::function_ref<double(Node *)> times);

} // namespace tessera::codegen
