// fmod, as LLVM IR.
#pragma once

#include "llvm/IR/Function.h"

namespace tessera::codegen::gpu {

// The body of a function of two floats of one type: what is left of the first, exactly.
void writeRemainder(llvm::Function &function);

} // namespace tessera::codegen::gpu
