// LLVM modules of kernels through the passes that all targets have, to what a machine takes.
#pragma once

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/PassManager.h"
#include "llvm/Support/CodeGen.h"
#include "llvm/Target/TargetMachine.h"

namespace tessera::codegen {

// Runs the light pipeline (no unrolling, no inlining), with what a target needs before it and at its
// end, and code generation. False where the machine writes no such file.
bool compileModule(llvm::Module &module, llvm::TargetMachine &machine, llvm::CodeGenFileType type,
                   llvm::SmallVectorImpl<char> &code,
                   llvm::ModulePassManager before = llvm::ModulePassManager(),
                   llvm::FunctionPassManager atEnd = llvm::FunctionPassManager());

} // namespace tessera::codegen
