// Functions of complex numbers as nodes.
//
// Those of complex<f32> are computed in f64 and rounded once: no product over- or underflows on the
// way, and what cancels leaves digits enough. Those of complex<f64> scale instead. Infinities and
// NaN follow C's Annex G, but where a comment says otherwise.
#pragma once

#include "passes/codegen/kernel/GraphBuilder.h"

namespace tessera::codegen {

// `op` on one or two complex numbers whose parts are of `kind` (F32 or F64); `im` of the result is
// null for Abs. Empty for what is no function of complex numbers.
Element complexFunction(Graph &graph, Op op, ElementKind kind, llvm::ArrayRef<Element> operands);

} // namespace tessera::codegen
