// top_k as a sort and two slices.
#pragma once

#include "dialects/chlo/ChloOps.h"

namespace tessera::import {

/// Replaces `op`; fails, with a diagnostic, on dynamic shapes.
mlir::LogicalResult decomposeTopK(chlo::TopKOp op);

} // namespace tessera::import
