#include "passes/codegen/cpu/FreezeInvariants.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"

namespace tessera::codegen {

namespace {

class LoopInvariants {
public:
  LoopInvariants(llvm::Loop &loop, llvm::BasicBlock &before)
      : loop(loop), builder(before.getTerminator()) {}

  void freeze() {
    // What counters' ranges follow from: where they start, and what they are compared with.
    for (llvm::BasicBlock *block : loop.blocks())
      for (llvm::Instruction &instruction : *block)
        if (llvm::isa<llvm::PHINode, llvm::ICmpInst>(instruction))
          ends.insert(instruction.value_op_begin(), instruction.value_op_end());
    for (llvm::BasicBlock *block : loop.blocks())
      for (llvm::Instruction &instruction : *block)
        for (llvm::Use &use : instruction.operands())
          if (isExpression(*use) && loop.isLoopInvariant(use))
            use.set(frozen(llvm::cast<llvm::Instruction>(use)));
  }

private:
  // Of addresses and counts; what is loaded is no expression already.
  bool isExpression(const llvm::Value &value) const {
    return !ends.contains(&value) &&
           (value.getType()->isPointerTy() || value.getType()->isIntegerTy(64)) &&
           llvm::isa<llvm::Instruction>(value) &&
           !llvm::isa<llvm::LoadInst, llvm::FreezeInst>(value);
  }

  llvm::Value *frozen(llvm::Instruction *value) {
    if (llvm::Value *known = done.lookup(value))
      return known;
    llvm::Value *result;
    auto *address = llvm::dyn_cast<llvm::GetElementPtrInst>(value);
    if (address && address->hasAllConstantIndices()) {
      llvm::Value *place = address->getPointerOperand();
      if (isExpression(*place))
        place = frozen(llvm::cast<llvm::Instruction>(place));
      llvm::Instruction *away = builder.Insert(address->clone());
      away->setOperand(0, place);
      result = away;
    } else {
      result = builder.CreateFreeze(value);
    }
    done[value] = result;
    return result;
  }

  llvm::Loop &loop;
  llvm::IRBuilder<> builder;
  llvm::SmallPtrSet<const llvm::Value *, 16> ends;
  llvm::DenseMap<llvm::Instruction *, llvm::Value *> done;
};

} // namespace

llvm::PreservedAnalyses FreezeInvariantsPass::run(llvm::Function &function,
                                                  llvm::FunctionAnalysisManager &analyses) {
  for (llvm::Loop *loop : analyses.getResult<llvm::LoopAnalysis>(function).getLoopsInPreorder())
    if (llvm::BasicBlock *before = loop->getLoopPreheader(); before && loop->isInnermost())
      LoopInvariants(*loop, *before).freeze();
  llvm::PreservedAnalyses kept;
  kept.preserveSet<llvm::CFGAnalyses>();
  return kept;
}

} // namespace tessera::codegen
