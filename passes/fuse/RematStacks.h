// What one loop puts away in each trip for another loop, and how it is computed again there.
//
//   %f:2 = while(%x = .., %s = ..)                %f = while(%x = ..)
//     %h = tanh(%x . %w[%i])                        %h = tanh(%x . %w[%i])
//     %t = dynamic_update_slice %s, %h, %i
//   %g = while(..)                                %g = while(..)
//     %k = dynamic_slice %f#1, %j                   %x' = dynamic_slice %xs, %j    (kept as well)
//                                                   %k = tanh(%x' . %w[%j])
#pragma once

#include "passes/fuse/FilledStack.h"
#include "passes/fuse/RematTrial.h"

#include <vector>

namespace tessera::fuse {

// The stacks of a module as it is when this is made. Values may be copied (RematCopies.h) before some
// are dropped.
class Stacks {
public:
  explicit Stacks(mlir::ModuleOp module);
  ~Stacks();

  // Adds them to the program of the module's trial, with what it takes to do without.
  void describe(RematTrial &trial) const;
  // Those of an attention's scores and probabilities, by their places, where they are computed of
  // what else there is in each trip: queries, keys and masks. Scores are of `leastPairs` at least.
  llvm::SmallVector<int> ofScores(int64_t leastPairs) const;
  // Those that a cheap op or two make of another one's elements, by their places
  // (DropFunctionStacks.cpp).
  llvm::SmallVector<int> ofFunctions() const;
  // Whether the loops that read these can make them of what else is kept.
  bool canDrop(llvm::ArrayRef<int> stacks) const;
  // Leaves out some, by their places in the program.
  void drop(llvm::ArrayRef<int> stacks);

  // A loop that fills stacks and one that reads them, the same slots in the same trips.
  struct LoopPair {
    stablehlo::WhileOp filling, reading;
    mlir::Value filled, read; // the number of the slot, in each
    int64_t slots;
    std::vector<FilledStack> stacks;
  };

private:
  mlir::ModuleOp module;
  std::vector<LoopPair> pairs;
};

} // namespace tessera::fuse
