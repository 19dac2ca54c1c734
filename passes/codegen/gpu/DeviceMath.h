// Functions that the emitter calls, which a GPU has no library for: ours, as LLVM IR.
#pragma once

#include "llvm/IR/Module.h"

#include <string>

namespace tessera::codegen::gpu {

// Writes those that the module calls. What remains: the name of one that there is none of, or "".
std::string defineMath(llvm::Module &module);

} // namespace tessera::codegen::gpu
