// The exec dialect: kernels, buffers and the instructions of a device program.
#pragma once

#include "dialects/interfaces/OpInterfaces.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/exec/ExecDialect.h.inc"
#include "dialects/exec/ExecEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/exec/ExecAttrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/exec/ExecTypes.h.inc"
#define GET_OP_CLASSES
#include "dialects/exec/ExecOps.h.inc"
