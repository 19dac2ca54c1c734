#include "passes/codegen/gpu/LoopCopies.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/Metadata.h"

namespace tessera::codegen::gpu {

static constexpr unsigned kCopies = 4;       // of ptxas
static constexpr unsigned kLongest = 40;     // instructions of a body whose copies pay
static constexpr unsigned kWrittenOut = 128; // of all trips, where there is no loop left

bool copiesPay(const LoopBody &body) {
  if (body.isCounted && body.mostTrips < kCopies)
    return body.instructions * body.mostTrips <= kWrittenOut;
  if (body.mostTrips != 0 && body.mostTrips < kCopies)
    return false;
  return body.instructions <= kLongest;
}

static unsigned instructionsOf(const llvm::Loop &loop) {
  unsigned count = 0;
  for (const llvm::BasicBlock *block : loop.blocks())
    for (const llvm::Instruction &i : *block)
      count += !llvm::isa<llvm::PHINode>(i) && !llvm::isa<llvm::CastInst>(i);
  return count;
}

static void forbidCopies(llvm::Loop &loop) {
  llvm::LLVMContext &context = loop.getHeader()->getContext();
  auto *told = llvm::MDNode::get(context, llvm::MDString::get(context, "llvm.loop.unroll.disable"));
  llvm::MDNode *id = llvm::MDNode::getDistinct(context, {nullptr, told});
  id->replaceOperandWith(0, id);
  loop.setLoopID(id);
}

llvm::PreservedAnalyses LoopCopiesPass::run(llvm::Function &function,
                                            llvm::FunctionAnalysisManager &analyses) {
  auto &loops = analyses.getResult<llvm::LoopAnalysis>(function);
  if (loops.empty())
    return llvm::PreservedAnalyses::all();
  auto &trips = analyses.getResult<llvm::ScalarEvolutionAnalysis>(function);
  for (llvm::Loop *loop : loops.getLoopsInPreorder())
    if (loop->isInnermost()) {
      unsigned exact = trips.getSmallConstantTripCount(loop);
      unsigned most = exact ? exact : trips.getSmallConstantMaxTripCount(loop);
      if (!copiesPay({instructionsOf(*loop), most, exact != 0}))
        forbidCopies(*loop);
    }
  return llvm::PreservedAnalyses::all();
}

} // namespace tessera::codegen::gpu
