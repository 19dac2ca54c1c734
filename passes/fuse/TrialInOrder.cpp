#include "passes/fuse/TrialInOrder.h"

#include "dialects/exec/ExecOps.h"
#include "lib/cost/RematOrder.h"
#include "passes/fuse/FormKernels.h"
#include "passes/fuse/MemoryBound.h"
#include "passes/fuse/RematStacks.h"
#include "passes/order/Passes.h"

#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/PassManager.h"

#include <map>

using namespace mlir;

namespace tessera::fuse {
namespace {

// By what a task computes, where it stands in an ordered module; of what is there twice, as in a rotated
// loop's body and before it, nothing.
class Places {
public:
  explicit Places(ModuleOp ordered) {
    int place = 0;
    ordered.walk<WalkOrder::PreOrder>([&](Operation *op) {
      ++place;
      std::vector<int> numbers = numbersOf(op);
      if (!numbers.empty() && numbers.front() >= 0)
        if (auto [known, isNew] = places.try_emplace(numbers, place); !isNew)
          known->second = -1;
      return isa<exec::FusedOp>(op) ? WalkResult::skip() : WalkResult::advance();
    });
  }

  int of(const TrialTask &task) const {
    auto place = places.find(task.ops);
    return place == places.end() ? -1 : place->second;
  }

private:
  std::map<std::vector<int>, int> places;
};

} // namespace

static void reorder(RematTrial &trial, int b, llvm::ArrayRef<int> order) {
  cost::reorder(trial.program, b, order);
  std::vector<TrialTask> tasks;
  std::vector<int> number(order.size());
  for (auto [i, task] : llvm::enumerate(order)) {
    number[task] = static_cast<int>(i);
    tasks.push_back(std::move(trial.blocks[b].tasks[task]));
  }
  trial.blocks[b].tasks = std::move(tasks);
  for (auto &makers : trial.tasksOf)
    for (auto &[block, task] : makers)
      if (block == b)
        task = number[task];
}

FailureOr<RematTrial> tryInOrder(ModuleOp module, codegen::KernelScratch &scratch) {
  FailureOr<RematTrial> trial = tryKernels(module, scratch);
  OwningOpRef<ModuleOp> ordered = module.clone();
  numberOps(*ordered);
  if (failed(trial) || failed(formAllKernels(*ordered)))
    return failure();
  Stacks(module).describe(*trial);
  sizeScratch(*ordered, scratch);
  PassManager passes(module.getContext());
  passes.enableVerifier(false);
  passes.addPass(createOverlapCollectives());
  if (failed(passes.run(*ordered)))
    return failure();
  Places places(*ordered);
  for (int b = 0; b < static_cast<int>(trial->blocks.size()); ++b) {
    std::vector<int> placesOfTasks;
    for (const TrialTask &task : trial->blocks[b].tasks)
      placesOfTasks.push_back(places.of(task));
    reorder(*trial, b, cost::orderByPlaces(trial->program.blocks[b].tasks, placesOfTasks));
  }
  return trial;
}

} // namespace tessera::fuse
