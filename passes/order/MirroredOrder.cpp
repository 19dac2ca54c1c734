#include "passes/order/MirroredOrder.h"

#include "llvm/ADT/STLExtras.h"
#include <algorithm>

namespace tessera::order {

using cost::Step;
using cost::Task;

constexpr size_t farthest = 96; // steps that a start goes ahead of

Mirror mirrorOf(llvm::ArrayRef<Task> tasks, llvm::ArrayRef<Step> steps) {
  Mirror mirror;
  std::vector<int> number(tasks.size());
  for (const Step &step : llvm::reverse(steps))
    if (step.kind != Step::Wait) {
      number[step.task] = mirror.original.size();
      mirror.original.push_back(step.task);
    }
  mirror.tasks.resize(tasks.size());
  for (auto [i, original] : llvm::enumerate(mirror.original)) {
    mirror.tasks[i].seconds = tasks[original].seconds;
    mirror.tasks[i].own = tasks[original].own;
    mirror.tasks[i].links = tasks[original].links;
    const cost::LinkUse &within = tasks[original].within;
    mirror.tasks[i].within = {within.links, within.until, within.from};
    for (int operand : tasks[original].operands)
      mirror.tasks[number[operand]].operands.push_back(i);
  }
  return mirror;
}

std::vector<Step> forward(const Mirror &mirror, llvm::ArrayRef<Step> steps) {
  std::vector<Step> result;
  for (const Step &step : llvm::reverse(steps)) {
    Step::Kind kind = step.kind == Step::Start  ? Step::Wait
                      : step.kind == Step::Wait ? Step::Start
                                                : Step::Run;
    result.push_back({kind, mirror.original[step.task]});
  }
  return result;
}

void startEarlier(llvm::ArrayRef<Task> tasks, llvm::ArrayRef<cost::Storage> storages,
                  std::vector<Step> &steps) {
  cost::LiveMemory memory(tasks, storages);
  std::vector<int64_t> live(steps.size(), 0); // while each step goes on
  for (auto [i, step] : llvm::enumerate(steps)) {
    if (step.kind != Step::Wait) {
      live[i] = memory.during(step.task);
      memory.begin(step.task);
    }
    if (step.kind != Step::Start)
      memory.end(step.task);
  }
  int64_t peak = memory.peak();
  for (size_t i = 1; i < steps.size(); ++i) {
    if (steps[i].kind != Step::Start)
      continue;
    const Task &task = tasks[steps[i].task];
    int64_t bytes = 0;
    for (int storage : task.writes)
      bytes += storages[storage].bytes;
    size_t to = i;
    for (; to > 0 && i - to < farthest; --to) {
      const Step &before = steps[to - 1];
      if (before.kind == Step::Start || live[to - 1] + bytes > peak ||
          llvm::is_contained(task.operands, before.task))
        break;
    }
    std::rotate(steps.begin() + to, steps.begin() + i, steps.begin() + i + 1);
    std::rotate(live.begin() + to, live.begin() + i, live.begin() + i + 1);
    for (size_t k = to + 1; k <= i; ++k)
      live[k] += bytes;
  }
}

} // namespace tessera::order
