// The sdy dialect: meshes, shardings, and the ops that talk about them.
#pragma once

#include "dialects/sdy/SdyAttrs.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/sdy/SdyDialect.h.inc"
#define GET_OP_CLASSES
#include "dialects/sdy/SdyOps.h.inc"
