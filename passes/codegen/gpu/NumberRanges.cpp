#include "passes/codegen/gpu/NumberRanges.h"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Operator.h"

namespace tessera::codegen::gpu {

using llvm::ConstantRange;

static ConstantRange everything(const llvm::Value *value) {
  return ConstantRange::getFull(value->getType()->getIntegerBitWidth());
}

// Blocks are visited after those before them, so that operands are known; but for what comes round in a loop.
NumberRanges::NumberRanges(llvm::Function &function) {
  for (llvm::BasicBlock *block : llvm::ReversePostOrderTraversal<llvm::Function *>(&function))
    for (llvm::Instruction &i : *block)
      if (i.getType()->isIntegerTy())
        known.insert({&i, ofInstruction(i)});
}

ConstantRange NumberRanges::of(const llvm::Value *value) const {
  if (auto *number = llvm::dyn_cast<llvm::ConstantInt>(value))
    return {number->getValue()};
  auto found = known.find(value);
  return found == known.end() ? everything(value) : found->second;
}

ConstantRange NumberRanges::ofInstruction(llvm::Instruction &i) const {
  if (auto *phi = llvm::dyn_cast<llvm::PHINode>(&i))
    return ofPhi(*phi);
  if (auto *select = llvm::dyn_cast<llvm::SelectInst>(&i))
    return of(select->getTrueValue()).unionWith(of(select->getFalseValue()), ConstantRange::Signed);
  if (auto *cast = llvm::dyn_cast<llvm::CastInst>(&i); cast && cast->getSrcTy()->isIntegerTy())
    return of(cast->getOperand(0)).castOp(cast->getOpcode(), cast->getType()->getIntegerBitWidth());
  if (auto *binary = llvm::dyn_cast<llvm::BinaryOperator>(&i))
    return ofBinary(*binary);
  if (auto *extremum = llvm::dyn_cast<llvm::MinMaxIntrinsic>(&i))
    return ConstantRange::intrinsic(extremum->getIntrinsicID(),
                                    {of(extremum->getLHS()), of(extremum->getRHS())});
  if (auto *call = llvm::dyn_cast<llvm::CallBase>(&i))
    return call->getRange().value_or(everything(&i));
  if (const llvm::MDNode *told = i.getMetadata(llvm::LLVMContext::MD_range))
    return llvm::getConstantRangeFromMetadata(*told);
  return everything(&i);
}

ConstantRange NumberRanges::ofBinary(llvm::BinaryOperator &i) const {
  ConstantRange x = of(i.getOperand(0)), y = of(i.getOperand(1));
  if (llvm::isa<llvm::OverflowingBinaryOperator>(i)) {
    using Wraps = llvm::OverflowingBinaryOperator;
    unsigned never = (i.hasNoSignedWrap() ? Wraps::NoSignedWrap : 0) |
                     (i.hasNoUnsignedWrap() ? Wraps::NoUnsignedWrap : 0);
    return x.overflowingBinaryOp(i.getOpcode(), y, never);
  }
  // To a multiple below: LLVM's own knows nothing of it where numbers can be negative.
  auto *mask = llvm::dyn_cast<llvm::ConstantInt>(i.getOperand(1));
  if (mask && i.getOpcode() == llvm::Instruction::And && mask->getValue().isNegatedPowerOf2() &&
      !x.isEmptySet())
    return ConstantRange::getNonEmpty(x.getSignedMin() & mask->getValue(), x.getSignedMax() + 1);
  return x.binaryOp(i.getOpcode(), y);
}

// The union of what comes in, each under the condition of its way.
ConstantRange NumberRanges::ofPhi(llvm::PHINode &phi) const {
  ConstantRange all = ConstantRange::getEmpty(phi.getType()->getIntegerBitWidth());
  auto add = [&](unsigned incoming, const ConstantRange &range) {
    all = all.unionWith(onWay(phi, incoming, range), ConstantRange::Signed);
  };
  llvm::SmallVector<unsigned> round;
  for (unsigned i = 0; i < phi.getNumIncomingValues(); ++i) {
    llvm::Value *value = phi.getIncomingValue(i);
    if (llvm::isa<llvm::Instruction>(value) && !known.contains(value))
      round.push_back(i);
    else
      add(i, of(value));
  }
  ConstantRange begin = all;
  for (unsigned i : round)
    add(i, afterStep(phi, i, begin));
  return all;
}

// Of what comes round: the phi and a step that is not negative don't fall below where it began.
ConstantRange NumberRanges::afterStep(llvm::PHINode &phi, unsigned incoming,
                                      const ConstantRange &begin) const {
  auto *next = llvm::dyn_cast<llvm::BinaryOperator>(phi.getIncomingValue(incoming));
  bool isStep = next && next->getOpcode() == llvm::Instruction::Add && next->hasNoSignedWrap() &&
                next->getOperand(0) == &phi &&
                of(next->getOperand(1)).getSignedMin().isNonNegative();
  if (!isStep || begin.isEmptySet())
    return everything(&phi);
  return ConstantRange::getNonEmpty(begin.getSignedMin(),
                                    llvm::APInt::getSignedMinValue(begin.getBitWidth()));
}

ConstantRange NumberRanges::onWay(llvm::PHINode &phi, unsigned incoming,
                                  const ConstantRange &range) const {
  auto *branch = llvm::dyn_cast<llvm::BranchInst>(phi.getIncomingBlock(incoming)->getTerminator());
  if (!branch || !branch->isConditional() || branch->getSuccessor(0) == branch->getSuccessor(1))
    return range;
  auto *compared = llvm::dyn_cast<llvm::ICmpInst>(branch->getCondition());
  if (!compared || compared->getOperand(0) != phi.getIncomingValue(incoming))
    return range;
  bool isWhereTrue = branch->getSuccessor(0) == phi.getParent();
  llvm::CmpInst::Predicate holds =
      isWhereTrue ? compared->getPredicate() : compared->getInversePredicate();
  ConstantRange allowed = ConstantRange::makeAllowedICmpRegion(holds, of(compared->getOperand(1)));
  return range.intersectWith(allowed, ConstantRange::Signed);
}

} // namespace tessera::codegen::gpu
