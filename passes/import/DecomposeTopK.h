// top_k as a sort and two slices.
#ifndef TESSERA_PASSES_IMPORT_DECOMPOSETOPK_H
#define TESSERA_PASSES_IMPORT_DECOMPOSETOPK_H

#include "dialects/chlo/ChloOps.h"

namespace tessera::import {

/// Replaces `op`; fails, with a diagnostic, on dynamic shapes.
mlir::LogicalResult decomposeTopK(chlo::TopKOp op);

} // namespace tessera::import

#endif
