#include "passes/order/CarriedArrays.h"

#include "llvm/ADT/STLExtras.h"

namespace tessera::order {
namespace {

using cost::Step;
using cost::Task;

struct Uses {
  std::vector<int> writer; // by storage; -1: none of the tasks
  std::vector<llvm::SmallVector<int, 2>> readers;
};

Uses usesOf(llvm::ArrayRef<Task> tasks, size_t storages) {
  Uses uses{std::vector<int>(storages, -1), {}};
  uses.readers.resize(storages);
  for (auto [i, task] : llvm::enumerate(tasks)) {
    for (int storage : task.writes)
      uses.writer[storage] = i;
    for (int storage : task.reads)
      uses.readers[storage].push_back(i);
  }
  return uses;
}

// Whether a task that reads the old array may write the new one over it.
bool isInPlace(const Task &task, const Carry &carry) {
  return llvm::is_contained(task.inPlace, std::pair(carry.written, carry.read));
}

} // namespace

double copySeconds(llvm::ArrayRef<Task> tasks, size_t storages, llvm::ArrayRef<Step> steps,
                   llvm::ArrayRef<Carry> carries) {
  if (carries.empty())
    return 0;
  Uses uses = usesOf(tasks, storages);
  std::vector<size_t> begins(tasks.size()), ends(tasks.size());
  for (auto [i, step] : llvm::enumerate(steps)) {
    if (step.kind != Step::Wait)
      begins[step.task] = i;
    ends[step.task] = i;
  }
  double seconds = 0;
  for (const Carry &carry : carries) {
    int writer = uses.writer[carry.written];
    bool isRead = writer >= 0 && llvm::any_of(uses.readers[carry.read], [&](int reader) {
                    return reader == writer ? !isInPlace(tasks[writer], carry)
                                            : ends[reader] > begins[writer];
                  });
    if (isRead)
      seconds += carry.copySeconds;
  }
  return seconds;
}

std::vector<Task> withoutCopies(llvm::ArrayRef<Task> tasks, size_t storages,
                                llvm::ArrayRef<Carry> carries) {
  std::vector<Task> result = tasks.vec();
  Uses uses = usesOf(tasks, storages);
  for (const Carry &carry : carries)
    if (int writer = uses.writer[carry.written]; writer >= 0)
      for (int reader : uses.readers[carry.read])
        if (reader < writer && !llvm::is_contained(result[writer].operands, reader))
          result[writer].operands.push_back(reader);
  return result;
}

} // namespace tessera::order
