// What the integers of a function can be. It follows from the launch (the number of a thread, of a block), the bounds of
// loops, and what is computed of them:
//
//   %t = call range(i32 0, 256) i32 @llvm.nvvm.read.ptx.sreg.tid.x()      0 to 255
//   %i = phi i64 [ 0, .. ], [ %next, .. ]                                 0 to 95
//   %next = add nsw i64 %i, 16                                            16 to 111
//   br (icmp slt i64 %next, 96), ..
#pragma once

#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/ConstantRange.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Instructions.h"

namespace tessera::codegen::gpu {

class NumberRanges {
public:
  explicit NumberRanges(llvm::Function &function);

  // All that its type has, where nothing is known.
  llvm::ConstantRange of(const llvm::Value *value) const;

private:
  llvm::DenseMap<const llvm::Value *, llvm::ConstantRange> known;

  llvm::ConstantRange ofInstruction(llvm::Instruction &i) const;
  llvm::ConstantRange ofBinary(llvm::BinaryOperator &i) const;
  llvm::ConstantRange ofPhi(llvm::PHINode &phi) const;
  llvm::ConstantRange afterStep(llvm::PHINode &phi, unsigned incoming,
                                const llvm::ConstantRange &begin) const;
  llvm::ConstantRange onWay(llvm::PHINode &phi, unsigned incoming,
                            const llvm::ConstantRange &range) const;
};

} // namespace tessera::codegen::gpu
