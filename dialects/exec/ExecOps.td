#ifndef TESSERA_EXEC_OPS
#define TESSERA_EXEC_OPS

include "dialects/exec/ExecDialect.td"
include "dialects/interfaces/OpInterfaces.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Exec_Op<string mnemonic, list<Trait> traits = []> : Op<Exec_Dialect, mnemonic, traits>;

include "dialects/exec/KernelOps.td"
include "dialects/exec/ProgramOps.td"

#endif
