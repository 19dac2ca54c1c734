// What an innermost loop reads from outside it, as values rather than as expressions.
#pragma once

#include "llvm/IR/PassManager.h"

namespace tessera::codegen {

// Loop strength reduction takes an address apart into all that it is a sum of, including the loops around:
// the quotients, minima and counters of a piece's place are terms that it distributes over registers
// in every way. Nothing is gained, for within the loop their sum does not change. So
//
//   loop:  %row = add %place, %i          before:  %frozen = freeze %place
//                                         loop:    %row = add %frozen, %i
//
// What is a constant away from another value stays so, as then one register serves both:
//
//   before: %next = gep %place, 32        before:  %frozen = freeze %place
//                                                  %next.frozen = gep %frozen, 32
//
// Where a counter starts and what it is compared with stay as they are: then a minimum of the counter and a
// constant may be found to be the counter, and a quotient of how far it is to be a counter.
//
// To be run where nothing but code generation follows: an address's origin isn't known any longer.
struct FreezeInvariantsPass : llvm::PassInfoMixin<FreezeInvariantsPass> {
  llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &analyses);
};

} // namespace tessera::codegen
