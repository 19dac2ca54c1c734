#include "lib/cost/Timeline.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"
#include <algorithm>
#include <utility>

namespace tessera::cost {

LiveMemory::LiveMemory(llvm::ArrayRef<Task> tasks, llvm::ArrayRef<Storage> storages)
    : tasks_(tasks), storages_(storages), readers_(storages.size(), 0), held_(storages.size(), 0) {
  for (const Task &task : tasks)
    for (int storage : task.reads)
      ++readers_[storage];
  for (size_t i = 0; i < storages.size(); ++i)
    if (storages[i].before && (readers_[i] || storages[i].kept))
      live_ += held_[i] = storages[i].bytes;
  peak_ = live_;
}

int LiveMemory::takenOver(int task, int written) const {
  for (auto [to, from] : tasks_[task].inPlace)
    if (to == written && readers_[from] == 1 && !storages_[from].kept &&
        held_[from] >= storages_[to].bytes)
      return from;
  return -1;
}

int64_t LiveMemory::during(int task) const {
  int64_t bytes = live_ + tasks_[task].inside;
  for (int storage : tasks_[task].writes)
    if (takenOver(task, storage) < 0)
      bytes += storages_[storage].bytes;
  return bytes;
}

int64_t LiveMemory::freedBy(int task) const {
  int64_t bytes = 0;
  for (int storage : tasks_[task].reads)
    if (readers_[storage] == 1 && !storages_[storage].kept)
      bytes += held_[storage];
  for (int storage : tasks_[task].writes)
    if (readers_[storage] || storages_[storage].kept)
      bytes -= storages_[storage].bytes;
  return bytes;
}

void LiveMemory::begin(int task) {
  for (int storage : tasks_[task].writes) {
    int from = takenOver(task, storage);
    if (from >= 0) {
      held_[storage] = std::exchange(held_[from], 0);
    } else {
      held_[storage] = storages_[storage].bytes;
      live_ += held_[storage];
    }
  }
  peak_ = std::max(peak_, live_ + tasks_[task].inside);
}

void LiveMemory::end(int task) {
  auto release = [&](int storage) {
    if (readers_[storage] == 0 && !storages_[storage].kept)
      live_ -= std::exchange(held_[storage], 0);
  };
  for (int storage : tasks_[task].reads) {
    --readers_[storage];
    release(storage);
  }
  for (int storage : tasks_[task].writes) // what nobody reads
    release(storage);
}

double LinkTimes::carry(uint64_t links, double seconds, double now) {
  for (uint64_t rest = links; rest; rest &= rest - 1)
    now = std::max(now, free_[llvm::countr_zero(rest)]);
  now += seconds;
  for (uint64_t rest = links; rest; rest &= rest - 1)
    free_[llvm::countr_zero(rest)] = now;
  return now;
}

void LinkTimes::shift(double seconds) {
  for (double &free : free_)
    free += seconds;
}

Timeline simulate(llvm::ArrayRef<Task> tasks, llvm::ArrayRef<Storage> storages,
                  llvm::ArrayRef<Step> steps) {
  Timeline line;
  LiveMemory memory(tasks, storages);
  LinkTimes links;
  std::vector<double> doneAt(tasks.size(), 0);
  double now = 0, last = 0;
  for (auto [i, step] : llvm::enumerate(steps)) {
    const Task &task = tasks[step.task];
    int64_t before = memory.peak();
    switch (step.kind) {
    case Step::Run:
      memory.begin(step.task);
      now += task.seconds;
      line.compute += task.seconds;
      memory.end(step.task);
      break;
    case Step::Start:
      memory.begin(step.task);
      doneAt[step.task] = links.carry(task.links, task.seconds, now);
      last = std::max(last, doneAt[step.task]);
      break;
    case Step::Wait:
      line.exposed += std::max(0.0, doneAt[step.task] - now);
      now = std::max(now, doneAt[step.task]);
      memory.end(step.task);
      break;
    }
    if (memory.peak() > before)
      line.peakStep = i;
  }
  line.seconds = std::max(now, last);
  line.peakBytes = memory.peak();
  return line;
}

} // namespace tessera::cost
