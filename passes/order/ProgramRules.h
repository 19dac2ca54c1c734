// The rule that each block of a program is ordered by: what it may hold where it stands, and what
// its seconds count for in the whole.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/order/BlockTasks.h"
#include "passes/order/Schedule.h"

namespace tessera::order {

using Rules = llvm::DenseMap<mlir::Block *, Rule>;

// A program is measured as it runs without overlap. A block may hold as much as makes that
// program's peak where it runs, and more for its share of the program's time. `asked` names the
// overlap and the bytes of a device, of which arguments and results take their part.
void addRules(mlir::func::FuncOp func, const cost::Topology &topology, const sdy::MeshTable &meshes,
              const Rule &asked, Rules &rules);

} // namespace tessera::order
