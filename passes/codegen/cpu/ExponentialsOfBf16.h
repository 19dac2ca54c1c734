// Exponentials of f32 that are rounded to bf16, of numbers that are bf16 already, as one operation of bf16, which
// is computed just near enough (BfloatMath.cpp). The bits are the same.
//
//   convert(exp(convert x : f32)) : bf16   ->   exp(x) : bf16
#pragma once

#include "passes/codegen/kernel/Graph.h"

namespace tessera::codegen {

// `node`, or the operation that it is.
Node *asExponentialOfBf16(Graph &graph, Node *node);

// All of those that `roots` read whose exponential nothing else reads.
void roundExponentials(llvm::ArrayRef<Node *> roots);

} // namespace tessera::codegen
