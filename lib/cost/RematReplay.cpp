#include "lib/cost/RematReplay.h"

#include "llvm/ADT/STLExtras.h"
#include <algorithm>

namespace tessera::cost {

std::vector<Maker> makersOf(llvm::ArrayRef<Task> tasks, size_t storages) {
  std::vector<Maker> makers(storages);
  for (auto [t, task] : llvm::enumerate(tasks))
    for (int storage : task.writes)
      makers[storage] = {static_cast<int>(t), task.alone(), task.reads, true, false};
  return makers;
}

RematChoice choiceOf(const RematProgram &program, const RematPlan &plan) {
  RematChoice choice{plan.values, std::vector<char>(program.stacks.size(), 0)};
  for (int stack : plan.stacks)
    choice.dropped[stack] = 1;
  return choice;
}

static std::vector<int> droppedAfter(const RematBlock &block, llvm::ArrayRef<Recompute> values) {
  std::vector<int> after(block.storages.size(), kNever);
  for (const Recompute &value : values)
    after[value.storage] = value.after;
  return after;
}

namespace {

// Puts copies among the tasks of a block.
class Expander {
public:
  Expander(const RematBlock &block, llvm::ArrayRef<Recompute> values)
      : block(block), after(droppedAfter(block, values)), madeBy(block.storages.size(), -1) {}

  std::vector<RematStep> run() {
    for (now = 0; now < static_cast<int>(block.tasks.size()); ++now) {
      makeCopies();
      add({now, -1, -1, false, {}});
      for (int storage : within) // each reader has its own
        if (steps[madeBy[storage]].isWithin)
          madeBy[storage] = -1;
      within.clear();
    }
    return std::move(steps);
  }

private:
  struct Wanted {
    int storage;
    bool isJoined; // its reader reads it element by element
  };

  bool isMissing(int storage) const { return now > after[storage] && madeBy[storage] < 0; }

  void makeCopies() {
    llvm::SmallVector<Wanted, 16> work;
    for (int read : block.tasks[now].reads)
      if (isMissing(read))
        work.push_back({read, !block.joins.empty() && llvm::is_contained(block.joins[now], read)});
    while (!work.empty()) {
      Wanted wanted = work.back();
      const Maker &maker = block.makers[wanted.storage];
      size_t before = work.size();
      if (madeBy[wanted.storage] < 0)
        for (int read : maker.reads)
          if (isMissing(read))
            work.push_back({read, maker.isElementwise});
      if (work.size() > before)
        continue;
      work.pop_back();
      if (madeBy[wanted.storage] >= 0)
        continue;
      bool isWithin = wanted.isJoined && maker.isElementwise;
      add({maker.task, wanted.storage, now, isWithin, {}});
      if (isWithin)
        within.push_back(wanted.storage);
    }
  }

  void add(RematStep step) {
    bool isElementwise = step.copyOf >= 0 && block.makers[step.copyOf].isElementwise;
    for (int read : step.readsIn(block)) {
      if (now <= after[read])
        continue;
      step.from.push_back({read, madeBy[read]});
      bool isJoined = step.copyOf >= 0 ? isElementwise
                                       : !block.joins.empty() &&
                                             llvm::is_contained(block.joins[step.task], read);
      if (!isJoined) // who reads it as an array makes it one
        steps[madeBy[read]].isWithin = false;
    }
    if (step.copyOf >= 0)
      madeBy[step.copyOf] = static_cast<int>(steps.size());
    steps.push_back(std::move(step));
  }

  const RematBlock &block;
  std::vector<int> after, madeBy;
  std::vector<RematStep> steps;
  std::vector<int> within; // what has a copy within the task at hand
  int now = 0;
};

} // namespace

std::vector<RematStep> expand(const RematBlock &block, llvm::ArrayRef<Recompute> values) {
  return Expander(block, values).run();
}

Simulation::Simulation(const RematProgram &program)
    : program(program), children(program.blocks.size()) {
  for (auto [b, block] : llvm::enumerate(program.blocks)) {
    children[b].assign(block.tasks.size(), -1);
    if (block.parent >= 0)
      children[block.parent][block.loop] = static_cast<int>(b);
  }
}

void Simulation::run(const RematChoice &choice) {
  size_t count = program.blocks.size();
  std::vector<std::vector<Recompute>> values(count);
  for (const Recompute &value : choice.values)
    values[value.block].push_back(value);
  replays.assign(count, {});
  for (size_t b = count; b-- > 0;)
    replay(static_cast<int>(b), values[b], choice);
  seconds = secondsOfStacks(choice);
  for (const Replay &replay : replays)
    seconds += replay.moreSeconds;
}

std::vector<int> Simulation::peakBlocks() const {
  std::vector<int> path{0};
  while (true) {
    int b = path.back();
    const Replay &replay = replays[b];
    if (replay.steps.empty())
      return path;
    const RematStep &step = replay.steps[replay.peakStep];
    int child = step.copyOf < 0 ? children[b][step.task] : -1;
    if (child < 0 || replay.tasks[replay.peakStep].inside == 0)
      return path;
    path.push_back(child);
  }
}

std::vector<int> Simulation::peakTasks() const {
  std::vector<int> tasks;
  for (int b : peakBlocks())
    if (const Replay &replay = replays[b]; !replay.steps.empty())
      tasks.push_back(replay.taskOf(replay.peakStep));
  return tasks;
}

void Simulation::settlePeak() { settled.push_back({peakBlocks().back(), peakTasks().back()}); }

bool Simulation::isSettled(int b, int task) const {
  return llvm::is_contained(settled, std::pair(b, task));
}

double Simulation::secondsOfNodes(llvm::ArrayRef<int> roots, const std::vector<char> &dropped,
                                  std::vector<char> &seen) const {
  double sum = 0;
  llvm::SmallVector<int, 16> work(roots.begin(), roots.end());
  while (!work.empty()) {
    int n = work.pop_back_val();
    if (std::exchange(seen[n], 1))
      continue;
    const TripNode &node = program.nodes[n];
    if (!node.again)
      return -1;
    sum += node.seconds;
    for (int operand : node.operands) {
      int stack = program.nodes[operand].stack;
      if (stack < 0 || dropped[stack])
        work.push_back(operand);
    }
  }
  return sum;
}

double Simulation::secondsOfStacks(const RematChoice &choice) const {
  std::vector<char> seen(program.nodes.size());
  double sum = 0;
  for (auto [s, stack] : llvm::enumerate(program.stacks))
    if (choice.dropped[s])
      sum += stack.times * secondsOfNodes({stack.node}, choice.dropped, seen);
  return sum;
}

void Simulation::replay(int b, llvm::ArrayRef<Recompute> values, const RematChoice &choice) {
  const RematBlock &block = program.blocks[b];
  Replay &result = replays[b];
  result.steps = expand(block, values);
  result.storages = block.storages;
  for (auto [s, stack] : llvm::enumerate(program.stacks))
    if (choice.dropped[s]) {
      if (stack.block == b)
        for (int own : {stack.storage, stack.start})
          if (own >= 0)
            result.storages[own].bytes = 0;
      if (stack.filled == b)
        for (int inside : stack.inside)
          result.storages[inside].bytes = 0;
    }
  std::vector<int> after = droppedAfter(block, values);
  for (auto [i, step] : llvm::enumerate(result.steps)) {
    Task task = taskOf(b, static_cast<int>(i), choice);
    if (step.copyOf >= 0)
      result.moreSeconds += task.seconds * block.times;
    else
      llvm::erase_if(task.writes, [&, at = step.task](int s) { return after[s] == at; });
    result.tasks.push_back(std::move(task));
  }
  std::vector<Step> inOrder;
  for (int t = 0; t < static_cast<int>(result.tasks.size()); ++t)
    inOrder.push_back({Step::Run, t});
  Timeline line = simulate(result.tasks, result.storages, inOrder);
  if (llvm::any_of(settled, [b](const auto &at) { return at.first == b; })) {
    line.peakBytes = 0;
    LiveMemory memory(result.tasks, result.storages);
    for (int t = 0; t < static_cast<int>(result.tasks.size()); ++t) {
      int64_t live = isSettled(b, result.taskOf(t)) ? 0 : memory.during(t);
      if (live > line.peakBytes)
        line.peakBytes = live, line.peakStep = t;
      memory.begin(t);
      memory.end(t);
    }
  }
  result.peak = line.peakBytes;
  result.peakStep = static_cast<int>(line.peakStep);
  if (block.parent >= 0)
    result.arraysAtPeak = arraysAtPeak(result.tasks, result.storages, inOrder, line);
}

// A step as a task: what it reads of copies, instead of what they are copies of; and of those that
// are a part of it, what they read.
Task Simulation::taskOf(int b, int at, const RematChoice &choice) {
  const RematBlock &block = program.blocks[b];
  Replay &result = replays[b];
  const RematStep &step = result.steps[at];
  Task task = block.tasks[step.task];
  task.operands.clear();
  task.reads.assign(step.readsIn(block).begin(), step.readsIn(block).end());
  if (step.copyOf >= 0) {
    task.seconds = block.makers[step.copyOf].seconds;
    task.inPlace.clear();
    if (step.isWithin) { // what a kernel takes beside arrays its reader's takes
      task.inside = 0;
      task.insideArrays.clear();
    }
  }
  auto replace = [&](int storage, int made) {
    int copy = result.tasks[made].writes.front();
    for (int &read : task.reads)
      if (read == storage)
        read = copy;
    size_t pairs = task.inPlace.size();
    for (size_t i = 0; i < pairs; ++i) {
      if (task.inPlace[i].second != storage)
        continue;
      int written = task.inPlace[i].first;
      task.inPlace[i].second = copy;
      if (result.steps[made].isWithin)
        for (int through : result.tasks[made].reads)
          task.inPlace.push_back({written, through});
    }
    if (result.steps[made].isWithin)
      for (int through : result.tasks[made].reads)
        if (!llvm::is_contained(task.reads, through))
          task.reads.push_back(through);
  };
  for (auto [storage, made] : step.from)
    replace(storage, made);
  if (step.copyOf >= 0) {
    task.writes = {static_cast<int>(result.storages.size())};
    result.storages.push_back({step.isWithin ? 0 : block.storages[step.copyOf].bytes});
  } else {
    describeLoop(b, step.task, choice, task);
  }
  return task;
}

void Simulation::describeLoop(int b, int t, const RematChoice &choice, Task &task) const {
  int child = children[b][t];
  if (child < 0)
    return;
  int64_t inside = replays[child].peak;
  task.insideArrays = replays[child].arraysAtPeak;
  for (int storage : program.blocks[child].carried) {
    int64_t bytes = replays[b].storages[storage].bytes;
    inside -= bytes;
    if (auto same = llvm::find(task.insideArrays, bytes); same != task.insideArrays.end())
      task.insideArrays.erase(same);
  }
  for (auto [s, stack] : llvm::enumerate(program.stacks))
    if (choice.dropped[s] && stack.block == b && stack.reader == t) {
      inside += stack.slot;
      task.insideArrays.push_back(stack.slot);
    }
  task.inside = std::max<int64_t>(0, inside);
}

} // namespace tessera::cost
