#include "passes/order/Schedule.h"

#include "lib/process/OutOfMemory.h"
#include "passes/order/LowerPeak.h"
#include "passes/order/MirroredOrder.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include <algorithm>
#include <limits>
#include <set>

namespace tessera::order {
namespace {

using cost::LiveMemory;
using cost::Step;
using cost::Storage;
using cost::Task;
using cost::Timeline;

constexpr int64_t kUnbounded = std::numeric_limits<int64_t>::max();

// How one order is made.
struct Policy {
  enum Next { BaseOrder, LongestPath, LeastMemory } next;
  bool overlaps;            // or else each collective is waited for where it starts
  int64_t mostBytes;        // tasks that need more wait until nothing else can run
  bool waitsAtOnce = false; // when a collective has ended, not when its result is needed
};

class Scheduler {
public:
  Scheduler(llvm::ArrayRef<Task> tasks, llvm::ArrayRef<Storage> storages, int window,
            const Policy &policy)
      : tasks(tasks), policy(policy), window(window), memory(tasks, storages), users(tasks.size()),
        missing(tasks.size()), remaining(tasks.size()), doneAt(tasks.size(), 0),
        waited(tasks.size(), false), taken(tasks.size(), false) {
    for (auto [i, task] : llvm::enumerate(tasks)) {
      missing[i] = task.operands.size();
      for (int operand : task.operands)
        users[operand].push_back(i);
      if (!missing[i])
        ready.insert(i);
    }
    for (int i = static_cast<int>(tasks.size()) - 1; i >= 0; --i) {
      for (int user : users[i])
        remaining[i] = std::max(remaining[i], remaining[user]);
      remaining[i] += tasks[i].alone();
    }
  }

  std::vector<Step> run() {
    int count = tasks.size(), first = 0;
    for (int n = 0; n < count; ++n) {
      while (taken[first])
        ++first;
      take(choose(first));
    }
    // What nobody waited for still has to be complete at the end.
    for (int i = 0; i < count; ++i)
      if (tasks[i].isCollective() && !waited[i])
        steps.push_back({Step::Wait, i});
    return std::move(steps);
  }

private:
  double availableAt(int task) const {
    double at = links.beginOf(tasks[task].within, now);
    for (int operand : tasks[task].operands)
      if (tasks[operand].isCollective())
        at = std::max(at, doneAt[operand]);
    return at;
  }

  bool better(int a, int b) const {
    if (policy.overlaps) {
      double waitA = std::max(0.0, availableAt(a) - now),
             waitB = std::max(0.0, availableAt(b) - now);
      if (waitA != waitB)
        return waitA < waitB;
      // Which of a collective and a loop with collectives goes first is not said by what they are.
      bool isLoop = tasks[a].within.links || tasks[b].within.links;
      if (!isLoop && tasks[a].isCollective() != tasks[b].isCollective())
        return tasks[a].isCollective();
    }
    if (policy.next == Policy::LeastMemory)
      if (int64_t freedA = memory.freedBy(a), freedB = memory.freedBy(b); freedA != freedB)
        return freedA > freedB;
    if (policy.next == Policy::LongestPath && remaining[a] != remaining[b])
      return remaining[a] > remaining[b];
    return a < b;
  }

  int choose(int first) const {
    int best = -1;
    for (int task : ready) {
      if (task >= first + window)
        break;
      bool isBetter =
          best < 0 || better(task, best); // asked first, as what it takes is longer to count
      if (isBetter && (policy.mostBytes == kUnbounded || memory.during(task) <= policy.mostBytes))
        best = task;
    }
    return best < 0 ? first : best;
  }

  void wait(int task) {
    now = std::max(now, doneAt[task]);
    waited[task] = true;
    steps.push_back({Step::Wait, task});
    memory.end(task);
  }

  void waitForEnded() {
    std::erase_if(underWay, [&](int task) {
      if (!waited[task] && doneAt[task] <= now)
        wait(task);
      return waited[task];
    });
  }

  void take(int task) {
    const Task &what = tasks[task];
    for (int operand : what.operands)
      if (tasks[operand].isCollective() && !waited[operand])
        wait(operand);
    memory.begin(task);
    if (what.isCollective()) {
      doneAt[task] = links.carry(what.links, what.seconds, now);
      now += what.own;
      steps.push_back({Step::Start, task});
      if (policy.waitsAtOnce)
        underWay.push_back(task);
      if (!policy.overlaps)
        wait(task);
    } else {
      now = links.beginOf(what.within, now) + what.seconds;
      links.release(what.within, now);
      steps.push_back({Step::Run, task});
      memory.end(task);
    }
    if (policy.waitsAtOnce)
      waitForEnded();
    taken[task] = true;
    ready.erase(task);
    for (int user : users[task])
      if (--missing[user] == 0)
        ready.insert(user);
  }

  llvm::ArrayRef<Task> tasks;
  const Policy policy;
  const int window;
  LiveMemory memory;
  std::vector<llvm::SmallVector<int, 4>> users;
  std::vector<int> missing;
  std::vector<double> remaining; // seconds of the longest path from here to the end
  std::vector<double> doneAt;
  std::vector<bool> waited, taken;
  std::set<int> ready;
  std::vector<int> underWay;
  std::vector<Step> steps;
  cost::LinkTimes links;
  double now = 0;
};

} // namespace

bool isBetter(const Rule &rule, const Timeline &a, const Timeline &b, int64_t usual) {
  auto excess = [](const Timeline &line, int64_t bound) {
    return std::max<int64_t>(0, line.peakBytes - bound);
  };
  int64_t most = rule.mostBytes.value_or(kUnbounded);
  if (excess(a, most) != excess(b, most))
    return excess(a, most) < excess(b, most);
  // A percent of memory above the usual has to save a percent of the time.
  bool hasPrice = rule.overlap != Overlap::On;
  usual = rule.usualBytes.value_or(usual);
  double all = static_cast<double>(std::max<int64_t>(1, usual + rule.otherBytes));
  auto price = [&](const Timeline &line) {
    double more = hasPrice ? static_cast<double>(excess(line, usual)) / all : 0;
    return (rule.otherSeconds + rule.times * line.seconds) * (1 + more);
  };
  double priceA = price(a), priceB = price(b);
  if (priceA != priceB)
    return priceA < priceB;
  return a.peakBytes < b.peakBytes;
}

namespace {

class Search {
public:
  Search(llvm::ArrayRef<Task> tasks, llvm::ArrayRef<Storage> storages, const Rule &rule,
         llvm::ArrayRef<Carry> carries)
      : tasks(tasks), storages(storages), rule(rule), carries(carries) {
    if (!carries.empty())
      inPlace = withoutCopies(tasks, storages.size(), carries);
  }

  Order run() {
    tryPolicies();
    int64_t most = rule.mostBytes.value_or(kUnbounded);
    if (best.order.timeline.peakBytes > most)
      for (const Candidate &from : {Candidate(best), Candidate(base)})
        keep(measured(withLowerPeak(from.tasks, storages, from.order.steps, most), from.tasks));
    return std::move(best.order);
  }

private:
  struct Candidate {
    Order order;
    llvm::ArrayRef<Task> tasks; // those whose operands it obeys
  };

  void tryPolicies() {
    // Without overlap nearly all orders take equally long, so the least memory counts.
    add({{Policy::BaseOrder, false, kUnbounded}, {Policy::LeastMemory, false, kUnbounded}});
    bool overlaps = llvm::any_of(tasks, [](const Task &task) { return task.isCollective(); });
    if (!overlaps || rule.overlap == Overlap::Off)
      return;
    least = best.order.timeline.peakBytes;
    int64_t usual = rule.usualBytes.value_or(least), most = rule.mostBytes.value_or(kUnbounded);
    std::vector<Policy> policies;
    for (Policy::Next next : {Policy::BaseOrder, Policy::LongestPath, Policy::LeastMemory})
      for (int64_t bound : {most, std::min(usual + usual / 8, most), std::min(usual, most)})
        policies.push_back({next, true, bound});
    add(policies);
    Candidate first = best, second = quickest;
    mirror(first);
    if (second.order.steps != first.order.steps)
      mirror(second);
  }

  // Each by itself, of many tasks on whichever of two cores is free: what is found is the same.
  void add(llvm::ArrayRef<Policy> policies) {
    constexpr size_t kMany = 2000; // that are worth a thread
    std::vector<std::vector<Candidate>> made(policies.size());
    auto make = [&](size_t i) { made[i] = ordersBy(policies[i]); };
    if (tasks.size() < kMany)
      llvm::for_each(llvm::seq(policies.size()), make);
    else
      runEach(policies.size(), make);
    for (std::vector<Candidate> &orders : made)
      for (Candidate &each : orders)
        keep(std::move(each));
  }

  std::vector<Candidate> ordersBy(const Policy &policy) const {
    std::vector<Candidate> orders;
    orders.push_back(measured(Scheduler(tasks, storages, rule.window, policy).run(), tasks));
    if (!inPlace.empty())
      orders.push_back(measured(Scheduler(inPlace, storages, rule.window, policy).run(), inPlace));
    return orders;
  }

  void mirror(const Candidate &candidate) {
    Mirror backward = mirrorOf(candidate.tasks, candidate.order.steps);
    Policy policy{Policy::BaseOrder, true, kUnbounded, true};
    std::vector<Step> made =
        forward(backward, Scheduler(backward.tasks, {}, rule.window, policy).run());
    std::vector<Step> early = made;
    startEarlier(tasks, storages, early);
    keep(measured(std::move(made), candidate.tasks));
    keep(measured(std::move(early), candidate.tasks));
  }

  Candidate measured(std::vector<Step> steps, llvm::ArrayRef<Task> obeyed) const {
    Candidate made{{std::move(steps), {}}, obeyed};
    Timeline &line = made.order.timeline;
    line = cost::simulate(tasks, storages, made.order.steps);
    double copies = copySeconds(tasks, storages.size(), made.order.steps, carries);
    line.seconds += copies;
    line.compute += copies;
    return made;
  }

  void keep(Candidate made) {
    const Timeline &line = made.order.timeline;
    if (best.order.steps.empty()) {
      least = line.peakBytes;
      base = made;
    }
    if (best.order.steps.empty() || isBetter(rule, line, best.order.timeline, least))
      best = made;
    if (quickest.order.steps.empty() || line.seconds < quickest.order.timeline.seconds)
      quickest = std::move(made);
  }

  llvm::ArrayRef<Task> tasks;
  llvm::ArrayRef<Storage> storages;
  const Rule &rule;
  llvm::ArrayRef<Carry> carries;
  std::vector<Task> inPlace; // what is carried is written after all who read it; or empty
  int64_t least = 0;         // of the best order without overlap
  Candidate base, best, quickest;
};

} // namespace

Order schedule(llvm::ArrayRef<Task> tasks, llvm::ArrayRef<Storage> storages, const Rule &rule,
               llvm::ArrayRef<Carry> carries) {
  return Search(tasks, storages, rule, carries).run();
}

std::vector<Step> overlapped(llvm::ArrayRef<Task> tasks, llvm::ArrayRef<Storage> storages,
                             const Rule &rule) {
  Policy policy{Policy::BaseOrder, true, rule.mostBytes.value_or(kUnbounded)};
  return Scheduler(tasks, storages, rule.window, policy).run();
}

} // namespace tessera::order
