// The ops of a block as tasks that take time and memory.
#pragma once

#include "dialects/sdy/PlainData.h"
#include "lib/cost/Timeline.h"
#include "lib/cost/Topology.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/order/CarriedArrays.h"
#include "llvm/ADT/DenseMap.h"

namespace tessera::order {

// What a region's block takes when it is executed once.
struct BlockCost {
  double seconds = 0;
  int64_t peakBytes = 0;                  // its arguments included, which loops carry
  std::vector<int64_t> arraysAtPeak = {}; // the largest
  cost::LinkUse links = {};
};

// One of comm's collectives that is not split yet.
bool isCollective(mlir::Operation *op);
// A transfer between memories that a copy engine carries out beside the device, and that is not split
// yet.
bool isTransfer(mlir::Operation *op);
// A view or a constant: follows its readers, and has no instruction of its own.
bool isFree(mlir::Operation *op);

// Whether a result may lie in the argument's array.
bool isDonated(mlir::func::FuncOp func, unsigned argument);

struct BlockTasks {
  std::vector<mlir::Operation *> ops; // by task
  std::vector<cost::Task> tasks;
  std::vector<cost::Storage> storages;
  llvm::DenseMap<mlir::Value, int> storageOf; // of values and their views
  std::vector<Carry> carries;                 // of a loop's body
};

// All of the block but what is free and its terminator. `costOf` says what the blocks inside of an op
// take.
BlockTasks tasksOf(mlir::Block &block, const cost::Topology &topology, const sdy::MeshTable &meshes,
                   llvm::function_ref<BlockCost(mlir::Block &)> costOf);

BlockCost costOf(const BlockTasks &tasks, llvm::ArrayRef<cost::Step> steps,
                 const cost::Timeline &line);

} // namespace tessera::order
