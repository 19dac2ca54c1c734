// Collectives on local tensors. README.md of this directory shows them.
#pragma once

#include "lib/mesh/Mesh.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/comm/CommDialect.h.inc"
#include "dialects/comm/CommEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/comm/CommAttrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/comm/CommTypes.h.inc"
#define GET_OP_CLASSES
#include "dialects/comm/CommOps.h.inc"
