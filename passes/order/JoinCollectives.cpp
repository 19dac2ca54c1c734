#include "passes/order/JoinCollectives.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

namespace tessera::order {

using cost::Step;
using cost::Task;

std::vector<std::vector<int>> bucketsOf(llvm::ArrayRef<Task> tasks, llvm::ArrayRef<Step> steps,
                                        const Messages &messages, double most) {
  struct Open {
    std::vector<int> members;
    double bytes, begin;
  };
  llvm::DenseMap<int, Open> open; // by kind
  std::vector<std::vector<int>> buckets;
  double now = 0;
  auto close = [&](int kind) {
    if (open[kind].members.size() > 1)
      buckets.push_back(std::move(open[kind].members));
    open.erase(kind);
  };
  for (const Step &step : steps) {
    int task = step.task, kind = messages.kinds[task];
    if (step.kind == Step::Run)
      now += tasks[task].seconds;
    if (step.kind == Step::Wait && open.count(kind) && llvm::is_contained(open[kind].members, task))
      close(kind);
    double alone = tasks[task].alone();
    if (step.kind != Step::Start || kind < 0 || alone > most * messages.time(task, 0).seconds())
      continue;
    double bytes = messages.bytes[task];
    if (auto found = open.find(kind); found != open.end()) {
      Open &bucket = found->second;
      double saved = messages.time(task, bucket.bytes).seconds() + alone -
                     messages.time(task, bucket.bytes + bytes).seconds();
      if (now - bucket.begin <= saved) {
        bucket.members.push_back(task);
        bucket.bytes += bytes;
        continue;
      }
      close(kind);
    }
    open[kind] = {{task}, bytes, now};
  }
  llvm::SmallVector<int> kinds(llvm::make_first_range(open));
  llvm::sort(kinds);
  llvm::for_each(kinds, close);
  return buckets;
}

JoinedTasks join(llvm::ArrayRef<Task> tasks, llvm::ArrayRef<Step> steps,
                 llvm::ArrayRef<std::vector<int>> buckets, const Messages &messages) {
  std::vector<int> bucketOf(tasks.size(), -1), number(tasks.size());
  for (auto [b, bucket] : llvm::enumerate(buckets))
    for (int member : bucket)
      bucketOf[member] = b;
  JoinedTasks made;
  for (const Step &step : steps) {
    if (step.kind == Step::Wait)
      continue;
    int bucket = bucketOf[step.task];
    std::vector<int> members = bucket < 0 ? std::vector<int>{step.task} : buckets[bucket];
    if (members.back() != step.task)
      continue;
    for (int member : members)
      number[member] = made.members.size();
    made.members.push_back(std::move(members));
  }
  for (const std::vector<int> &members : made.members) {
    Task task = tasks[members.front()];
    double bytes = 0;
    for (int member : members) {
      bytes += messages.bytes[member];
      if (member == members.front())
        continue;
      for (int operand : tasks[member].operands)
        task.operands.push_back(operand);
      for (int storage : tasks[member].reads)
        if (!llvm::is_contained(task.reads, storage))
          task.reads.push_back(storage);
      llvm::append_range(task.writes, tasks[member].writes);
      llvm::append_range(task.inPlace, tasks[member].inPlace);
    }
    if (members.size() > 1) {
      cost::CollectiveTime time = messages.time(members.front(), bytes);
      task.seconds = time.links, task.own = time.cores;
    }
    for (int &operand : task.operands)
      operand = number[operand];
    llvm::sort(task.operands);
    task.operands.erase(llvm::unique(task.operands), task.operands.end());
    made.tasks.push_back(std::move(task));
  }
  return made;
}

} // namespace tessera::order
