// The CHLO dialect: what frontends emit beyond the StableHLO specification.
#pragma once

#include "dialects/stablehlo/StablehloOps.h"

namespace tessera::chlo {
template <typename Op> struct IsKernelFunction : mlir::OpTrait::TraitBase<Op, IsKernelFunction> {};
} // namespace tessera::chlo

#include "dialects/chlo/ChloDialect.h.inc"

#include "dialects/chlo/ChloEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/chlo/ChloAttrs.h.inc"

#define GET_OP_CLASSES
#include "dialects/chlo/ChloOps.h.inc"
#define GET_OP_CLASSES
#include "dialects/chlo/BroadcastOps.h.inc"
