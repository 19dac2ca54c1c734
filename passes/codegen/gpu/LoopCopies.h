// Which loops ptxas may write out several times over. It copies the body of an innermost loop four times, and keeps
// one for the trips that are left, unless the text says not to (.pragma "nounroll"). A copy spares a comparison, a
// jump and an addition, and has loads of several trips under way at once. It takes as long to assemble as the body.
//
//   a thread has up to 3 trips             -> no: the four copies would never run
//   two instructions of a sum              -> yes: what is spared is half of all
//   an exponential, three loads of a row   -> no: one of twenty is spared, and loads are under way together anyway
//
// How many trips a thread has follows from the launch and the row, which ptxas does not know: of 512 elements that 256
// threads have, two. Where all threads have as many, and no more than four, the text counts them, and ptxas writes them
// out without a loop for what is left:
//
//   i = thread; do .. while ((i += 64) < 256)     ->     trip = 0; do .. while (++trip != 4)
//
// Where it sees the number of trips it writes out all of them, up to some hundred: of 128 products that are added up
// 1,328 instructions. Where nothing is read, that would be under way meanwhile, it is not to (48 times eight zeros).
//
// A loop around such a one is then an innermost loop, too: four copies of sixteen trips, and four trips for what is left. So
// is one around any loop whose trips ptxas sees, which it may write out: eight terms in each of four nodes of a sum were 56.
#pragma once

#include "llvm/IR/PassManager.h"

namespace tessera::codegen::gpu {

struct LoopBody {
  unsigned instructions = 0;
  unsigned mostTrips = 0; // 0: not known
  bool isCounted = false; // the same number of trips in all threads, known here
  bool isSeen = false;    // and to ptxas
  bool reads = true;      // memory that other threads have, too
  bool hasMany =
      false; // more than four trips of a loop within, written out: their loads are under way together
};

bool copiesPay(const LoopBody &body);

// Says so of the loops where they don't.
struct LoopCopiesPass : llvm::PassInfoMixin<LoopCopiesPass> {
  static llvm::PreservedAnalyses run(llvm::Function &function,
                                     llvm::FunctionAnalysisManager &analyses);
};

} // namespace tessera::codegen::gpu
