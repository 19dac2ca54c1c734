// A loop whose trips begin elsewhere in what was its body.
//
//   for i < n { A(i); B(i) }   ->   A(0); for 1 <= i < n { B(i-1); A(i) }; B(n-1)
//
// B of a trip and A of the next stand in one block then, where collectives of each run beside the
// other's compute: weights are gathered before the trip that reads them begins, gradients are
// reduced while the next trip computes. What A leaves for B is carried. (Software pipelining; Lam
// 1988, Software pipelining: an effective scheduling technique for VLIW machines.)
#pragma once

#include "dialects/stablehlo/StablehloOps.h"
#include "llvm/ADT/DenseSet.h"
#include <optional>

namespace tessera::order {

struct RotatedLoop {
  stablehlo::WhileOp loop;
  llvm::SmallVector<mlir::Operation *> around; // in order: the first A, the loop, the last B
  llvm::SmallVector<mlir::Value> results;      // what the old loop's are now
  // Of blocks inside of the body's ops: what each is a copy of.
  llvm::SmallVector<std::pair<mlir::Block *, mlir::Block *>> copies;

  void take(stablehlo::WhileOp old); // the place of the old loop
  void drop();                       // leaves the old loop alone
};

// Builds it before `loop`, which is known to run at least twice and stays as it is. `early` (A) holds ops of
// the body: those of free ops follow who reads them. None where the condition reads what B makes.
std::optional<RotatedLoop> rotate(stablehlo::WhileOp loop,
                                  const llvm::DenseSet<mlir::Operation *> &early);

} // namespace tessera::order
