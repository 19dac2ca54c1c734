// Which loops ptxas may write out several times over. It copies the body of an innermost loop four times, and keeps
// one for the trips that are left, unless the text says not to (.pragma "nounroll"). A copy spares a comparison, a
// jump and an addition, and has loads of several trips under way at once. It takes as long to assemble as the body.
//
//   a thread has up to 3 trips             -> no: the four copies would never run
//   two instructions of a sum              -> yes: what is spared is half of all
//   an exponential, three loads of a row   -> no: one of twenty is spared, and loads are under way together anyway
#pragma once

#include "llvm/IR/PassManager.h"

namespace tessera::codegen::gpu {

struct LoopBody {
  unsigned instructions = 0;
  unsigned mostTrips = 0; // 0: not known
  bool isCounted = false; // the same number of trips in all threads, known here
};

bool copiesPay(const LoopBody &body);

// Says so of the loops where they don't.
struct LoopCopiesPass : llvm::PassInfoMixin<LoopCopiesPass> {
  static llvm::PreservedAnalyses run(llvm::Function &function,
                                     llvm::FunctionAnalysisManager &analyses);
};

} // namespace tessera::codegen::gpu
