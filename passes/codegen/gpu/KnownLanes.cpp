#include "passes/codegen/gpu/KnownLanes.h"

#include "lib/target/GpuBlocks.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

namespace tessera::codegen::gpu {

// Of `on` lanes that lie at `align`, those of the first piece.
static unsigned lanesOfPiece(unsigned on, uint64_t elementBytes, llvm::Align align) {
  uint64_t bytes = std::min<uint64_t>(align.value(), target::kAccessBytes);
  return llvm::bit_floor(std::max<uint64_t>(std::min<uint64_t>(on, bytes / elementBytes), 1));
}

static llvm::Type *typeOfPiece(llvm::Type *element, unsigned lanes) {
  unsigned bits = element->getPrimitiveSizeInBits() * lanes;
  if (lanes == 1)
    return element;
  if (bits == 8 * target::kAccessBytes)
    return llvm::FixedVectorType::get(element, lanes);
  return llvm::Type::getIntNTy(element->getContext(), bits);
}

static llvm::Value *byPieces(llvm::IntrinsicInst &load, llvm::Constant &mask) {
  llvm::IRBuilder<> b(&load);
  auto *type = llvm::cast<llvm::FixedVectorType>(load.getType());
  llvm::Type *element = type->getElementType();
  llvm::Align whole = load.getParamAlign(0).valueOrOne();
  llvm::Value *from = load.getArgOperand(0), *result = load.getArgOperand(2);
  uint64_t bytes = element->getPrimitiveSizeInBits() / 8;
  unsigned count = type->getNumElements();
  auto isOn = [&](unsigned lane) { return mask.getAggregateElement(lane)->isOneValue(); };
  for (unsigned lane = 0, end = 0; lane < count;) {
    while (end < count && isOn(end))
      ++end;
    if (end == lane) {
      lane = ++end;
      continue;
    }
    llvm::Align align = llvm::commonAlignment(whole, lane * bytes);
    unsigned lanes = lanesOfPiece(end - lane, bytes, align);
    llvm::Value *read = b.CreateAlignedLoad(typeOfPiece(element, lanes),
                                            b.CreateConstGEP1_64(element, from, lane), align);
    if (lanes > 1)
      read = b.CreateBitCast(read, llvm::FixedVectorType::get(element, lanes));
    for (unsigned i = 0; i < lanes; ++i, ++lane)
      result =
          b.CreateInsertElement(result, lanes > 1 ? b.CreateExtractElement(read, i) : read, lane);
  }
  return result;
}

llvm::PreservedAnalyses KnownLanesPass::run(llvm::Function &function,
                                            llvm::FunctionAnalysisManager &) {
  for (llvm::Instruction &i : llvm::make_early_inc_range(llvm::instructions(function))) {
    auto *load = llvm::dyn_cast<llvm::IntrinsicInst>(&i);
    if (!load || load->getIntrinsicID() != llvm::Intrinsic::masked_load)
      continue;
    if (auto *mask = llvm::dyn_cast<llvm::Constant>(load->getArgOperand(1))) {
      load->replaceAllUsesWith(byPieces(*load, *mask));
      load->eraseFromParent();
    }
  }
  return llvm::PreservedAnalyses::none();
}

} // namespace tessera::codegen::gpu
