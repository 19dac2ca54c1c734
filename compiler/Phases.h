// The road that a program takes, as one list.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace mlir {
class OpPassManager;
}

namespace tessera {

struct Phase {
  llvm::StringRef name;
  void (*build)(mlir::OpPassManager &);
  void (*registerPasses)();
};

// In the order in which they run. The last leaves the exec dialect; packageProgram (passes/package)
// serialises it.
llvm::ArrayRef<Phase> phases();

// null when there is none of that name.
const Phase *findPhase(llvm::StringRef name);

// The whole road as the pipeline --tessera-compile.
void registerCompilePipeline();

} // namespace tessera
