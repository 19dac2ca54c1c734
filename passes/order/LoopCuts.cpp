#include "passes/order/LoopCuts.h"

#include "llvm/ADT/STLExtras.h"
#include <algorithm>

namespace tessera::order {
namespace {

constexpr double places[] = {0, 0.25, 0.5, 0.75, 1}; // parts of the body's time
// Of what may follow a collective across a cut.
constexpr double mostBehind = 0.25; // of the body's compute
constexpr size_t mostTasks = 64;

class Cutter {
public:
  explicit Cutter(const LoopBody &body)
      : body(body), tasks(body.tasks), users(tasks.size()), needed(tasks.size()) {
    for (int task : body.order) {
      for (int operand : tasks[task].operands)
        users[operand].push_back(task);
      total += tasks[task].ofDevice();
    }
    for (int task : body.condition.set_bits())
      addWithOperands(task, needed);
  }

  llvm::BitVector at(double place) {
    early = needed;
    double now = 0;
    for (int task : body.order) {
      now += tasks[task].ofDevice();
      if (place > 0 && now > place * total)
        break;
      if (place > 0)
        addWithOperands(task, early);
    }
    fetchAhead();
    leaveBehind();
    return early;
  }

  const llvm::BitVector &least() const { return needed; }

private:
  void addWithOperands(int task, llvm::BitVector &to) {
    llvm::SmallVector<int> work{task};
    while (!work.empty()) {
      int next = work.pop_back_val();
      if (to.test(next))
        continue;
      to.set(next);
      llvm::append_range(work, tasks[next].operands);
    }
  }

  // When each task of one side would begin, were there no collectives.
  std::vector<double> timesOf(bool isEarly, double &end) const {
    std::vector<double> begins(tasks.size(), 0);
    end = 0;
    for (int task : body.order) {
      if (early.test(task) != isEarly)
        continue;
      begins[task] = end;
      end += tasks[task].ofDevice();
    }
    return begins;
  }

  // What B would wait for at its beginning goes into A, where it can.
  void fetchAhead() {
    double end, linkFree = 0;
    std::vector<double> begins = timesOf(false, end);
    for (int task : body.order) {
      if (early.test(task))
        continue;
      if (const cost::LinkUse &within = tasks[task].within; within.links)
        linkFree = std::max(linkFree, begins[task] + tasks[task].seconds - within.until);
      if (!tasks[task].isCollective())
        continue;
      double ready = body.ahead.test(task) ? 0 : begins[task], first = end;
      for (int user : users[task])
        first = std::min(first, begins[user]);
      double done = std::max(ready, linkFree) + tasks[task].seconds;
      if (done > first && body.ahead.test(task))
        addWithOperands(task, early);
      else
        linkFree = done;
    }
  }

  // What A would wait for at its end goes into B, with what reads it.
  void leaveBehind() {
    double end, linkUntil;
    std::vector<double> begins = timesOf(true, end);
    linkUntil = end;
    for (int task : llvm::reverse(body.order)) {
      if (!early.test(task))
        continue;
      if (const cost::LinkUse &within = tasks[task].within; within.links)
        linkUntil = std::min(linkUntil, begins[task] + within.from);
      if (!tasks[task].isCollective() || body.ahead.test(task))
        continue;
      std::vector<int> behind{task};
      double work = 0;
      bool movable = true;
      for (size_t i = 0; i < behind.size() && movable; ++i) {
        movable =
            !needed.test(behind[i]) && work <= mostBehind * total && behind.size() <= mostTasks;
        for (int user : users[behind[i]])
          if (early.test(user) && !llvm::is_contained(behind, user)) {
            behind.push_back(user);
            work += tasks[user].ofDevice();
          }
      }
      double last = end;
      for (int user : users[task])
        if (early.test(user))
          last = std::min(last, begins[user]);
      double start = std::min(last, linkUntil) - tasks[task].seconds;
      if (movable && start < begins[task])
        for (int moved : behind)
          early.reset(moved);
      else
        linkUntil = start;
    }
  }

  const LoopBody &body;
  llvm::ArrayRef<cost::Task> tasks;
  std::vector<llvm::SmallVector<int, 4>> users;
  llvm::BitVector needed, early;
  double total = 0;
};

} // namespace

std::vector<llvm::BitVector> cutsOf(const LoopBody &body) {
  Cutter cutter(body);
  std::vector<llvm::BitVector> cuts;
  for (double place : places) {
    llvm::BitVector cut = cutter.at(place);
    if (cut != cutter.least() && !cut.all() && !llvm::is_contained(cuts, cut))
      cuts.push_back(cut);
  }
  return cuts;
}

} // namespace tessera::order
