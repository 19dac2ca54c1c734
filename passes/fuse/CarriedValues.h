// What a loop carries.
#pragma once

#include "dialects/stablehlo/StablehloOps.h"
#include "llvm/ADT/BitVector.h"

namespace tessera::fuse {

// Puts a loop that carries less in the place of another: of what it leaves out, nobody reads the
// results, nor the arguments of its regions but for what computes the next of them alone.
void eraseCarried(stablehlo::WhileOp loop, const llvm::BitVector &dropped);

} // namespace tessera::fuse
