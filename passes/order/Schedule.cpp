#include "passes/order/Schedule.h"

#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <set>

namespace tessera::order {
namespace {

class Scheduler {
public:
  Scheduler(llvm::ArrayRef<Task> tasks, int window)
      : tasks(tasks), window(window), users(tasks.size()), missing(tasks.size()),
        remaining(tasks.size()), doneAt(tasks.size(), 0), waited(tasks.size(), false),
        done(tasks.size(), false), readers(tasks.size()) {
    for (auto [i, task] : llvm::enumerate(tasks)) {
      missing[i] = task.operands.size();
      for (int operand : task.operands) {
        users[operand].push_back(i);
        ++readers[operand];
      }
      if (!missing[i])
        ready.insert(i);
    }
    for (int i = static_cast<int>(tasks.size()) - 1; i >= 0; --i) {
      for (int user : users[i])
        remaining[i] = std::max(remaining[i], remaining[user]);
      remaining[i] += tasks[i].seconds;
    }
  }

  std::vector<Step> run() {
    bool overlaps = llvm::any_of(tasks, [](const Task &t) { return t.collective; });
    int count = tasks.size(), first = 0;
    for (int n = 0; n < count; ++n) {
      while (done[first])
        ++first;
      take(overlaps ? choose(first) : first);
    }
    // What nobody waited for still has to be complete at the end.
    for (int i = 0; i < count; ++i)
      if (tasks[i].collective && !waited[i])
        steps.push_back({Step::Wait, i});
    return std::move(steps);
  }

private:
  double availableAt(int task) const {
    double at = 0;
    for (int operand : tasks[task].operands)
      if (tasks[operand].collective)
        at = std::max(at, doneAt[operand]);
    return at;
  }

  // Whether the task is short and leaves less memory in use than before.
  bool frees(int task) const {
    int64_t freed = 0;
    for (int operand : tasks[task].operands)
      if (readers[operand] == 1)
        freed += tasks[operand].bytes;
    return tasks[task].seconds <= 2e-5 && freed > tasks[task].bytes;
  }

  int choose(int first) const {
    int best = -1;
    auto better = [&](int a, int b) {
      double waitA = std::max(0.0, availableAt(a) - now),
             waitB = std::max(0.0, availableAt(b) - now);
      if (waitA != waitB)
        return waitA < waitB;
      if (tasks[a].collective != tasks[b].collective)
        return tasks[a].collective;
      if (frees(a) != frees(b))
        return frees(a);
      return remaining[a] > remaining[b];
    };
    for (int task : ready) {
      if (task >= first + window)
        break;
      if (best < 0 || better(task, best))
        best = task;
    }
    return best;
  }

  void take(int task) {
    now = std::max(now, availableAt(task));
    for (int operand : tasks[task].operands)
      if (tasks[operand].collective && !waited[operand]) {
        waited[operand] = true;
        steps.push_back({Step::Wait, operand});
      }
    if (tasks[task].collective) {
      linkFree = std::max(now, linkFree) + tasks[task].seconds;
      doneAt[task] = linkFree;
    } else {
      now += tasks[task].seconds;
    }
    steps.push_back({tasks[task].collective ? Step::Start : Step::Run, task});
    done[task] = true;
    for (int operand : tasks[task].operands)
      --readers[operand];
    ready.erase(task);
    for (int user : users[task])
      if (--missing[user] == 0)
        ready.insert(user);
  }

  llvm::ArrayRef<Task> tasks;
  int window;
  std::vector<llvm::SmallVector<int, 4>> users;
  std::vector<int> missing;
  std::vector<double> remaining; // seconds of the longest path from here to the end
  std::vector<double> doneAt;
  std::vector<bool> waited, done;
  std::vector<int> readers; // that are still to run
  std::set<int> ready;
  std::vector<Step> steps;
  double now = 0, linkFree = 0;
};

} // namespace

std::vector<Step> schedule(llvm::ArrayRef<Task> tasks, int window) {
  return Scheduler(tasks, window).run();
}

} // namespace tessera::order
