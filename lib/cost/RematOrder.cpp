#include "lib/cost/RematOrder.h"

#include "llvm/ADT/STLExtras.h"
#include <algorithm>

namespace tessera::cost {

std::vector<int> orderByPlaces(llvm::ArrayRef<Task> tasks, llvm::ArrayRef<int> places) {
  std::vector<int> wanted, order;
  for (int t = 0; t < static_cast<int>(tasks.size()); ++t)
    wanted.push_back(t);
  auto isUnknown = [&](int task) { return places[task] < 0; };
  llvm::stable_sort(wanted, [&](int a, int b) {
    return std::pair(isUnknown(a), places[a]) < std::pair(isUnknown(b), places[b]);
  });
  std::vector<char> placed(tasks.size());
  llvm::SmallVector<int, 16> work;
  for (int next : wanted) {
    work.push_back(next);
    while (!work.empty()) {
      int task = work.back();
      size_t before = work.size();
      if (!placed[task])
        llvm::copy_if(llvm::reverse(tasks[task].operands), std::back_inserter(work),
                      [&](int operand) { return !placed[operand]; });
      if (work.size() > before)
        continue;
      work.pop_back();
      if (!std::exchange(placed[task], 1))
        order.push_back(task);
    }
  }
  return order;
}

void reorder(RematProgram &program, int b, llvm::ArrayRef<int> order) {
  RematBlock &block = program.blocks[b];
  std::vector<int> number(order.size());
  std::vector<Task> tasks;
  std::vector<llvm::SmallVector<int, 4>> joins;
  for (auto [i, task] : llvm::enumerate(order)) {
    number[task] = static_cast<int>(i);
    tasks.push_back(std::move(block.tasks[task]));
    if (!block.joins.empty())
      joins.push_back(std::move(block.joins[task]));
  }
  for (Task &task : tasks)
    for (int &operand : task.operands)
      operand = number[operand];
  block.tasks = std::move(tasks);
  block.joins = std::move(joins);
  for (Maker &maker : block.makers)
    if (maker.task >= 0)
      maker.task = number[maker.task];
  for (RematBlock &child : program.blocks)
    if (child.parent == b)
      child.loop = number[child.loop];
  for (Stack &stack : program.stacks)
    if (stack.block == b)
      stack.reader = number[stack.reader];
}

} // namespace tessera::cost
