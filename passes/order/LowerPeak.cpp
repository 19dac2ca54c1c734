#include "passes/order/LowerPeak.h"

#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <limits>
#include <optional>

namespace tessera::order {
namespace {

using cost::LiveMemory;
using cost::Step;
using cost::Storage;
using cost::Task;

constexpr int kRounds = 48;
constexpr size_t kArrays = 16;      // of one peak that are tried, the largest
constexpr size_t kTogether = 12;    // tasks that are moved at once
constexpr size_t kWork = 4'000'000; // steps that are simulated in all
constexpr size_t kSettled = 8;      // tasks at peaks that stay

// How high an order is where it may still be lowered: its peak there, then in how many steps.
struct Height {
  int64_t bytes = 0;
  size_t steps = 0, first = 0;
  int64_t most = 0; // anywhere
  bool operator<(const Height &other) const {
    return std::pair(bytes, steps) < std::pair(other.bytes, other.steps);
  }
};

class Lowering {
public:
  Lowering(llvm::ArrayRef<Task> tasks, llvm::ArrayRef<Storage> storages, std::vector<Step> given)
      : tasks(tasks), storages(storages), steps(std::move(given)), writer(storages.size(), -1),
        readers(storages.size()) {
    for (auto [t, task] : llvm::enumerate(tasks)) {
      for (int storage : task.writes)
        writer[storage] = static_cast<int>(t);
      for (int storage : task.reads)
        readers[storage].push_back(static_cast<int>(t));
    }
    height = heightOf(steps);
  }

  std::vector<Step> run(int64_t mostBytes) {
    for (int round = 0; round < kRounds && height.bytes > mostBytes; ++round) {
      if (improve())
        continue;
      if (settled.size() == kSettled || steps.empty())
        break;
      settled.push_back(steps[height.first].task);
      height = heightOf(steps);
    }
    return std::move(steps);
  }

private:
  Height heightOf(llvm::ArrayRef<Step> order) {
    simulated += order.size();
    LiveMemory memory(tasks, storages);
    Height result;
    for (auto [i, step] : llvm::enumerate(order)) {
      if (step.kind != Step::Wait) {
        int64_t live = memory.during(step.task);
        result.most = std::max(result.most, live);
        if (!llvm::is_contained(settled, step.task)) {
          if (live > result.bytes)
            result.bytes = live, result.steps = 0, result.first = i;
          result.steps += live == result.bytes;
        }
        memory.begin(step.task);
      }
      if (step.kind != Step::Start)
        memory.end(step.task);
    }
    return result;
  }

  void findPlaces() {
    begin.assign(tasks.size(), 0);
    end.assign(tasks.size(), 0);
    for (auto [i, step] : llvm::enumerate(steps)) {
      if (step.kind != Step::Wait)
        begin[step.task] = i;
      if (step.kind != Step::Start)
        end[step.task] = i;
    }
  }

  // Those that live while the step at the peak runs, which does not touch them; the largest.
  std::vector<int> idleAtPeak() const {
    const Task &at = tasks[steps[height.first].task];
    std::vector<int> idle;
    for (int s = 0; s < static_cast<int>(storages.size()); ++s) {
      bool isIdle = storages[s].bytes > 0 && !storages[s].before && !storages[s].kept &&
                    writer[s] >= 0 && end[writer[s]] < height.first &&
                    !llvm::is_contained(at.reads, s) &&
                    llvm::any_of(readers[s], [&](int r) { return begin[r] > height.first; });
      if (isIdle)
        idle.push_back(s);
    }
    llvm::stable_sort(idle, [&](int a, int b) { return storages[a].bytes > storages[b].bytes; });
    idle.resize(std::min(idle.size(), kArrays));
    return idle;
  }

  // What has to run before the peak for all readers of an array to be there; none where the peak is
  // among it, or where it is too much.
  std::optional<std::vector<int>> readersOf(int storage) const {
    std::vector<int> moved;
    for (int reader : readers[storage])
      if (begin[reader] > height.first)
        moved.push_back(reader);
    for (size_t i = 0; i < moved.size(); ++i) {
      if (moved.size() > kTogether)
        return std::nullopt;
      for (int operand : tasks[moved[i]].operands) {
        if (begin[operand] == height.first)
          return std::nullopt;
        if (end[operand] >= height.first && !llvm::is_contained(moved, operand))
          moved.push_back(operand);
      }
    }
    return moved;
  }

  // What makes an array, with what is made for nothing else (`deep`).
  std::vector<int> makersOf(int storage, bool deep) const {
    std::vector<int> moved{writer[storage]};
    for (size_t i = 0; deep && i < moved.size() && moved.size() < kTogether; ++i)
      for (int read : tasks[moved[i]].reads) {
        int maker = writer[read];
        bool isOnlyFor =
            maker >= 0 && !storages[read].kept && !llvm::is_contained(moved, maker) &&
            llvm::all_of(tasks[maker].writes, [&](int written) {
              return !storages[written].kept && llvm::all_of(readers[written], [&](int reader) {
                return llvm::is_contained(moved, reader);
              });
            });
        if (isOnlyFor)
          moved.push_back(maker);
      }
    return moved;
  }

  // The order with these tasks, in the order that they have, right before the step `to`.
  std::vector<Step> moving(std::vector<int> moved, size_t to) const {
    llvm::sort(moved, [&](int a, int b) { return begin[a] < begin[b]; });
    auto isUnderWay = [&](int task) { return begin[task] < to && end[task] >= to; };
    std::vector<Step> result, between;
    result.reserve(steps.size());
    for (int task : moved) {
      if (tasks[task].isCollective()) {
        if (!isUnderWay(task)) // else only its end is moved
          between.push_back({Step::Start, task});
        between.push_back({Step::Wait, task});
      } else {
        between.push_back({Step::Run, task});
      }
    }
    for (auto [i, step] : llvm::enumerate(steps)) {
      if (i == to)
        result.insert(result.end(), between.begin(), between.end());
      bool stays = step.kind == Step::Start && isUnderWay(step.task);
      if (stays || !llvm::is_contained(moved, step.task))
        result.push_back(step);
    }
    return result;
  }

  // A task is behind its operands, and a collective is waited for before who reads it.
  bool isOrdered(llvm::ArrayRef<Step> order) const {
    std::vector<char> done(tasks.size());
    for (const Step &step : order) {
      if (step.kind != Step::Wait)
        for (int operand : tasks[step.task].operands)
          if (!done[operand])
            return false;
      if (step.kind != Step::Start)
        done[step.task] = true;
    }
    return true;
  }

  void consider(std::vector<Step> changed) {
    if (simulated > kWork || !isOrdered(changed))
      return;
    Height reached = heightOf(changed);
    if (reached.most <= height.most && reached < (best.empty() ? height : bestHeight)) {
      best = std::move(changed);
      bestHeight = reached;
    }
  }

  bool improve() {
    findPlaces();
    best.clear();
    for (int storage : idleAtPeak()) {
      if (std::optional<std::vector<int>> moved = readersOf(storage))
        consider(moving(*moved, height.first));
      bool isReadBefore =
          llvm::any_of(readers[storage], [&](int r) { return begin[r] <= height.first; });
      if (isReadBefore)
        continue;
      size_t first = std::numeric_limits<size_t>::max();
      for (int reader : readers[storage])
        first = std::min(first, begin[reader]);
      std::vector<int> alone = makersOf(storage, /*deep=*/false),
                       deep = makersOf(storage, /*deep=*/true);
      consider(moving(alone, first));
      if (deep.size() > alone.size())
        consider(moving(deep, first));
    }
    if (best.empty())
      return false;
    steps = std::move(best);
    height = bestHeight;
    return true;
  }

  llvm::ArrayRef<Task> tasks;
  llvm::ArrayRef<Storage> storages;
  std::vector<Step> steps;
  std::vector<int> writer;                        // by storage; -1: none
  std::vector<llvm::SmallVector<int, 4>> readers; // by storage
  std::vector<size_t> begin, end;                 // by task: its steps
  Height height;
  // At peaks that nothing lowers: what is elsewhere is lowered still, as steps are known roughly only,
  // and arrays that are laid out leave holes.
  llvm::SmallVector<int, 8> settled;
  std::vector<Step> best;
  Height bestHeight;
  size_t simulated = 0;
};

} // namespace

std::vector<Step> withLowerPeak(llvm::ArrayRef<Task> tasks, llvm::ArrayRef<Storage> storages,
                                std::vector<Step> steps, int64_t mostBytes) {
  return Lowering(tasks, storages, std::move(steps)).run(mostBytes);
}

} // namespace tessera::order
