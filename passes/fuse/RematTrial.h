// A program before its kernels are formed, as the tasks that it will become: what recomputation is
// decided by, and the way back from what is decided to ops.
#pragma once

#include "dialects/sdy/PlainData.h"
#include "lib/cost/Remat.h"
#include "lib/cost/Topology.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/codegen/KernelScratch.h"
#include "passes/fuse/TrialNumbers.h"
#include "llvm/ADT/DenseMap.h"

namespace tessera::fuse {

// A value by the number of its op, and which of its results it is.
struct Numbered {
  int op = -1;
  unsigned result = 0;
};

struct TrialTask {
  std::vector<int> ops; // that its kernel computes, ascending; or the one that it is
  bool isKernel = false;
  bool isWhole = false; // who computes a result of it again computes what else it yields, too
};

struct TrialBlock {
  int owner = -1;               // the op that the block is the body of; -1: a function's
  std::vector<TrialTask> tasks; // as the program has them
  std::vector<Numbered> values; // by storage
};

struct RematTrial {
  cost::RematProgram program;
  std::vector<TrialBlock> blocks;
  // By op: the tasks that compute it, as (block, task); and whether its results are in memory.
  std::vector<llvm::SmallVector<std::pair<int, int>, 1>> tasksOf;
  std::vector<char> inMemory;
  // What attention and its gradient read and write, by block and storage: scores are no arrays as
  // long as both make them of the same ones, and one kernel all that is made of them.
  std::vector<std::pair<int, int>> ofScores;
  // By op: its part of the seconds of its task, once; of a loop, of all that is in it.
  std::vector<double> seconds;
};

// The function that is the program: the first one with a body; null where there is none.
mlir::func::FuncOp describedFunction(mlir::ModuleOp module);

// Forms the kernels of a copy of the module, and describes its program.
mlir::FailureOr<RematTrial> tryKernels(mlir::ModuleOp module, codegen::KernelScratch &scratch);

} // namespace tessera::fuse
