#include "lib/cost/Remat.h"

#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <limits>
#include <numeric>

namespace tessera::cost {
namespace {

constexpr int kNever = std::numeric_limits<int>::max();
constexpr int kRounds = 120;  // at most
constexpr int kFailures = 24; // rounds that lower nothing
constexpr int kClosure = 16;  // tasks that one value may need computed again
constexpr int kPruned = 48;   // values that are tried to be kept again
constexpr double kShortest = 1e-9;

std::vector<int> writersOf(const RematBlock &block) {
  std::vector<int> writers(block.storages.size(), -1);
  for (auto [t, task] : llvm::enumerate(block.tasks))
    for (int storage : task.writes)
      writers[storage] = static_cast<int>(t);
  return writers;
}

std::vector<int> droppedAfter(const RematBlock &block, llvm::ArrayRef<Recompute> values) {
  std::vector<int> after(block.storages.size(), kNever);
  for (const Recompute &value : values)
    after[value.storage] = value.after;
  return after;
}

} // namespace

std::vector<RematStep> expand(const RematBlock &block, llvm::ArrayRef<Recompute> values) {
  std::vector<int> after = droppedAfter(block, values), writers = writersOf(block);
  std::vector<int> madeBy(block.storages.size(), -1);
  std::vector<RematStep> steps;
  auto add = [&](int task, int copyOf, int trigger) {
    RematStep step{task, copyOf, copyOf < 0 ? -1 : trigger, {}};
    for (int read : block.tasks[task].reads)
      if (trigger > after[read])
        step.from.push_back({read, madeBy[read]});
    if (copyOf >= 0)
      madeBy[copyOf] = static_cast<int>(steps.size());
    steps.push_back(std::move(step));
  };
  for (int t = 0; t < static_cast<int>(block.tasks.size()); ++t) {
    llvm::SmallVector<int, 16> work;
    auto need = [&](int reader) {
      size_t before = work.size();
      for (int read : block.tasks[reader].reads)
        if (t > after[read] && madeBy[read] < 0)
          work.push_back(read);
      return work.size() > before;
    };
    need(t);
    while (!work.empty()) {
      int storage = work.back();
      if (madeBy[storage] < 0 && need(writers[storage]))
        continue;
      work.pop_back();
      if (madeBy[storage] < 0)
        add(writers[storage], storage, t);
    }
    add(t, -1, t);
  }
  return steps;
}

namespace {

struct Choice { // of what is computed again
  std::vector<Recompute> values;
  std::vector<char> dropped; // by stack
};

// A block as a choice leaves it.
struct Replay {
  std::vector<RematStep> steps;
  std::vector<Task> tasks; // by step
  std::vector<Storage> storages;
  int64_t peak = 0;
  int peakStep = 0;
  double moreSeconds = 0;

  // The task of the block that is, or asks for, a step.
  int taskOf(int step) const {
    return steps[step].copyOf < 0 ? steps[step].task : steps[step].trigger;
  }
};

class Simulation {
public:
  explicit Simulation(const RematProgram &program)
      : program(program), children(program.blocks.size()) {
    for (auto [b, block] : llvm::enumerate(program.blocks)) {
      children[b].assign(block.tasks.size(), -1);
      if (block.parent >= 0)
        children[block.parent][block.loop] = static_cast<int>(b);
    }
  }

  void run(const Choice &choice) {
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

  // Blocks that are executed at the peak, outer ones first.
  std::vector<int> peakBlocks() const {
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

  int64_t peak() const { return replays.empty() ? 0 : replays[0].peak; }

  // What a node takes to be computed again, and all that it needs; negative where it cannot be.
  double secondsOfNodes(llvm::ArrayRef<int> roots, const std::vector<char> &dropped,
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

  double secondsOfStacks(const Choice &choice) const {
    std::vector<char> seen(program.nodes.size());
    double sum = 0;
    for (auto [s, stack] : llvm::enumerate(program.stacks))
      if (choice.dropped[s])
        sum += stack.times * secondsOfNodes({stack.node}, choice.dropped, seen);
    return sum;
  }

  const RematProgram &program;
  std::vector<Replay> replays;
  double seconds = 0; // more than the program as it is

private:
  void replay(int b, llvm::ArrayRef<Recompute> values, const Choice &choice) {
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
    std::vector<int> written(result.steps.size(), -1);
    for (auto [i, step] : llvm::enumerate(result.steps)) {
      Task task = block.tasks[step.task];
      task.operands.clear();
      auto renamed = [&](int storage) {
        for (auto [read, made] : step.from)
          if (read == storage)
            return written[made];
        return storage;
      };
      for (int &read : task.reads)
        read = renamed(read);
      if (step.copyOf >= 0) {
        written[i] = static_cast<int>(result.storages.size());
        result.storages.push_back({block.storages[step.copyOf].bytes});
        task.writes = {written[i]};
        task.inPlace.clear();
        result.moreSeconds += task.alone() * block.times;
      } else {
        for (auto &pair : task.inPlace)
          pair.second = renamed(pair.second);
        llvm::erase_if(task.writes, [&](int s) { return after[s] == step.task; });
        describeLoop(b, step.task, choice, task);
      }
      result.tasks.push_back(std::move(task));
    }
    measure(result);
  }

  void describeLoop(int b, int t, const Choice &choice, Task &task) const {
    int child = children[b][t];
    if (child < 0)
      return;
    int64_t inside = replays[child].peak;
    for (int storage : program.blocks[child].carried)
      inside -= replays[b].storages[storage].bytes;
    for (auto [s, stack] : llvm::enumerate(program.stacks))
      if (choice.dropped[s] && stack.block == b && stack.reader == t)
        inside += stack.slot;
    task.inside = std::max<int64_t>(0, inside);
  }

  static void measure(Replay &replay) {
    LiveMemory memory(replay.tasks, replay.storages);
    for (int i = 0; i < static_cast<int>(replay.tasks.size()); ++i) {
      int64_t before = memory.peak();
      memory.begin(i);
      memory.end(i);
      if (memory.peak() > before)
        replay.peakStep = i;
    }
    replay.peak = memory.peak();
  }

  std::vector<std::vector<int>> children; // by block and task: the body
};

// What can be computed again for the peak: a value with what it needs, or a stack.
struct Candidate {
  std::vector<Recompute> values;
  int stack = -1;
  int64_t bytes = 0; // that fewer are live at the peak
  double seconds = 0;
};

// The candidates of one block for its step at the peak.
class Gaps {
public:
  Gaps(const Simulation &simulation, const Choice &choice, int b)
      : block(simulation.program.blocks[b]), replay(simulation.replays[b]), b(b),
        writers(writersOf(block)), first(replay.storages.size(), kNever),
        last(replay.storages.size(), kNever), behind(replay.storages.size(), kNever),
        recomputed(block.storages.size()) {
    for (const Recompute &value : choice.values)
      if (value.block == b)
        recomputed[value.storage] = true;
    int peak = replay.peakStep;
    for (int i = 0; i < static_cast<int>(replay.tasks.size()); ++i) {
      auto use = [&](int storage) {
        if (first[storage] == kNever)
          first[storage] = i;
        if (i <= peak)
          last[storage] = i;
        else if (behind[storage] == kNever)
          behind[storage] = i;
      };
      llvm::for_each(replay.tasks[i].reads, use);
      llvm::for_each(replay.tasks[i].writes, use);
    }
  }

  void collect(std::vector<Candidate> &candidates) {
    for (int s = 0; s < static_cast<int>(block.storages.size()); ++s)
      if (mayBeDropped(s) && last[s] < replay.peakStep && behind[s] != kNever &&
          replay.taskOf(behind[s]) > replay.taskOf(last[s]))
        if (Candidate candidate = closure(s); candidate.bytes > 0)
          candidates.push_back(std::move(candidate));
  }

private:
  bool mayBeDropped(int s) const {
    return replay.storages[s].bytes > 0 && !block.storages[s].before && !recomputed[s] &&
           !block.storages[s].kept && writers[s] >= 0 && block.again[writers[s]] &&
           last[s] != kNever;
  }

  // Value s, and what has to be computed again with it, as it isn't there at the peak.
  Candidate closure(int s) const {
    Candidate result;
    result.bytes = replay.storages[s].bytes;
    llvm::SmallVector<int, 8> work{s};
    llvm::SmallVector<int, 16> seen{s};
    while (!work.empty()) {
      int x = work.pop_back_val();
      const Task &maker = block.tasks[writers[x]];
      result.values.push_back({b, x, replay.taskOf(last[x])});
      result.seconds += maker.alone() * block.times;
      for (int y : maker.reads) {
        bool isThere = recomputed[y] || replay.storages[y].bytes == 0 || block.storages[y].kept ||
                       behind[y] != kNever || last[y] == replay.peakStep;
        if (isThere || llvm::is_contained(seen, y))
          continue;
        seen.push_back(y);
        bool isSmall = replay.storages[y].bytes * 4 <= replay.storages[s].bytes;
        if (!isSmall && mayBeDropped(y) && last[y] < replay.peakStep &&
            static_cast<int>(seen.size()) < kClosure)
          work.push_back(y);
        else
          result.bytes -= replay.storages[y].bytes;
      }
    }
    return result;
  }

  const RematBlock &block;
  const Replay &replay;
  int b;
  std::vector<int> writers;
  std::vector<int> first, last,
      behind; // steps: the last one until the peak, the first one after it
  std::vector<char> recomputed;
};

// Values whose copies need one another are there at the same time: sets of those, with their bytes.
class Chains {
public:
  Chains(const RematProgram &program) : program(program), offsets{0} {
    for (const RematBlock &block : program.blocks)
      offsets.push_back(offsets.back() + static_cast<int>(block.storages.size()));
    chosen.assign(offsets.back(), 0);
    for (const RematBlock &block : program.blocks)
      writers.push_back(writersOf(block));
    readers.resize(offsets.back());
    for (auto [b, block] : llvm::enumerate(program.blocks))
      for (const Task &task : block.tasks)
        for (int read : task.reads)
          for (int write : task.writes)
            readers[offsets[b] + read].push_back(write);
  }

  void add(const Recompute &value) { chosen[offsets[value.block] + value.storage] = 1; }
  std::vector<char> choices() const { return chosen; }
  void restore(std::vector<char> choices) { chosen = std::move(choices); }

  // Of the chain that a value would be a part of, without it; up to a length.
  int64_t bytesAround(const Recompute &value) const {
    const RematBlock &block = program.blocks[value.block];
    int offset = offsets[value.block];
    llvm::SmallVector<int, 32> seen{value.storage};
    int64_t bytes = 0;
    auto visit = [&](int s) {
      if (!chosen[offset + s] || llvm::is_contained(seen, s))
        return;
      bytes += block.storages[s].bytes;
      seen.push_back(s);
    };
    for (size_t i = 0; i < seen.size() && seen.size() < 32; ++i) {
      if (int writer = writers[value.block][seen[i]]; writer >= 0)
        llvm::for_each(block.tasks[writer].reads, visit);
      llvm::for_each(readers[offset + seen[i]], visit);
    }
    return bytes;
  }

private:
  const RematProgram &program;
  std::vector<int> offsets;
  std::vector<char> chosen;
  std::vector<std::vector<int>> writers;
  std::vector<llvm::SmallVector<int, 2>> readers; // what is computed from it
};

class Search {
public:
  explicit Search(const RematProgram &program)
      : program(program), simulation(program), chains(program) {
    choice.dropped.assign(program.stacks.size(), 0);
    simulation.run(choice);
    points.push_back(planOf(choice));
  }

  void lowerTo(int64_t mostBytes) {
    int failures = 0;
    for (int round = 0; round < kRounds && failures < kFailures; ++round) {
      int64_t peak = simulation.peak();
      if (peak <= mostBytes)
        return;
      int64_t wanted = peak - std::max(mostBytes, peak - peak / 16);
      std::vector<Candidate> picked = pick(wanted);
      if (picked.empty())
        return;
      if (accept(picked))
        continue;
      ++failures;
      Candidate best = picked.front();
      if (picked.size() > 1 && accept({best}))
        continue;
      if (moved.empty())
        ban(best);
      else
        goBack();
    }
  }

  // Keeps what need not be computed again after all, the longest first.
  RematPlan prune(int64_t mostBytes) {
    const RematPlan *start = &points.front();
    for (const RematPlan &point : points) // the first that fits, or the lowest
      if (start->peakBytes > mostBytes && point.peakBytes < start->peakBytes)
        start = &point;
    Choice best{start->values, std::vector<char>(program.stacks.size(), 0)};
    for (int stack : start->stacks)
      best.dropped[stack] = 1;
    int64_t most = std::max(mostBytes, start->peakBytes);
    simulation.run(best);
    auto seconds = [&](const Recompute &value) {
      const RematBlock &block = program.blocks[value.block];
      for (const Task &task : block.tasks)
        if (llvm::is_contained(task.writes, value.storage))
          return task.alone() * block.times;
      return 0.0;
    };
    std::vector<std::pair<double, Recompute>> byTime;
    for (const Recompute &value : best.values)
      byTime.push_back({seconds(value), value});
    llvm::stable_sort(byTime, [](const auto &a, const auto &b) { return a.first > b.first; });
    if (byTime.size() > kPruned)
      byTime.resize(kPruned);
    for (auto &[time, value] : byTime) {
      Choice less = best;
      llvm::erase(less.values, value);
      double before = simulation.seconds;
      simulation.run(less);
      if (simulation.peak() <= most && simulation.seconds <= before)
        best = std::move(less);
      else
        simulation.run(best);
    }
    return planOf(best);
  }

  const std::vector<RematPlan> &frontier() const { return points; }

private:
  RematPlan planOf(const Choice &of) const {
    RematPlan plan{of.values, {}, simulation.peak(), simulation.seconds};
    for (auto [s, dropped] : llvm::enumerate(of.dropped))
      if (dropped)
        plan.stacks.push_back(static_cast<int>(s));
    return plan;
  }

  double priceOf(const Candidate &candidate) const {
    double chain = 0;
    if (candidate.stack < 0)
      chain = static_cast<double>(chains.bytesAround(candidate.values.front()));
    auto bytes = static_cast<double>(candidate.bytes);
    return std::max(candidate.seconds, kShortest) / bytes * (1 + chain / bytes);
  }

  bool isBanned(const Candidate &candidate) const {
    if (candidate.stack >= 0)
      return llvm::is_contained(bannedStacks, candidate.stack);
    return llvm::is_contained(bannedValues, candidate.values.front());
  }

  void ban(const Candidate &candidate) {
    if (candidate.stack >= 0)
      bannedStacks.push_back(candidate.stack);
    else
      bannedValues.push_back(candidate.values.front());
  }

  void collectStacks(int b, std::vector<Candidate> &candidates) const {
    const Replay &replay = simulation.replays[b];
    int at = replay.steps.empty() ? 0 : replay.taskOf(replay.peakStep);
    for (auto [s, stack] : llvm::enumerate(program.stacks)) {
      bool isLive = stack.block == b && !choice.dropped[s] && at <= stack.reader &&
                    at >= program.blocks[stack.filled].loop;
      if (!isLive)
        continue;
      std::vector<char> seen(program.nodes.size()), dropped = choice.dropped;
      for (auto [d, other] : llvm::enumerate(program.stacks)) // is computed there anyway
        if (dropped[d] && other.reader == stack.reader && other.block == b)
          simulation.secondsOfNodes({other.node}, dropped, seen);
      seen[stack.node] = 0;
      dropped[s] = 1;
      double seconds = simulation.secondsOfNodes({stack.node}, dropped, seen);
      int64_t bytes =
          program.blocks[b].storages[stack.storage].bytes - (at == stack.reader ? stack.slot : 0);
      if (seconds >= 0 && bytes > 0)
        candidates.push_back({{}, static_cast<int>(s), bytes, seconds * stack.times});
    }
  }

  std::vector<Candidate> pick(int64_t wanted) {
    std::vector<Candidate> all;
    for (int b : simulation.peakBlocks()) {
      Gaps(simulation, choice, b).collect(all);
      collectStacks(b, all);
    }
    llvm::erase_if(all, [&](const Candidate &candidate) { return isBanned(candidate); });
    std::vector<std::pair<double, size_t>> byPrice;
    for (auto [i, candidate] : llvm::enumerate(all))
      byPrice.push_back({priceOf(candidate), i});
    llvm::sort(byPrice);
    std::vector<Candidate> picked;
    std::vector<char> before = chains.choices();
    int64_t bytes = 0;
    for (auto [price, i] : byPrice) {
      Candidate &candidate = all[i];
      // Together with others of this round it may be worth less: then it waits for the next.
      bool isWorse = !picked.empty() && priceOf(candidate) > 2 * price;
      bool isDouble = llvm::any_of(picked, [&](const Candidate &other) {
        return llvm::any_of(candidate.values, [&](const Recompute &value) {
          return llvm::is_contained(other.values, value);
        });
      });
      if (isWorse || isDouble)
        continue;
      bytes += candidate.bytes;
      for (const Recompute &value : candidate.values)
        chains.add(value);
      picked.push_back(std::move(candidate));
      if (bytes >= wanted)
        break;
    }
    chains.restore(std::move(before));
    return picked;
  }

  // Whether the picked ones lower the peak, or move it away from an equal one.
  bool accept(const std::vector<Candidate> &picked) {
    Choice next = choice;
    for (const Candidate &candidate : picked) {
      next.values.insert(next.values.end(), candidate.values.begin(), candidate.values.end());
      if (candidate.stack >= 0)
        next.dropped[candidate.stack] = 1;
    }
    int64_t peak = simulation.peak();
    std::vector<int> where = whereIsThePeak();
    simulation.run(next);
    bool isLower =
        simulation.peak() < peak || (simulation.peak() == peak && whereIsThePeak() != where);
    if (!isLower) {
      simulation.run(choice);
      return false;
    }
    if (moved.empty())
      lowest = choice, chainsOfLowest = chains.choices();
    choice = std::move(next);
    for (const Candidate &candidate : picked)
      for (const Recompute &value : candidate.values)
        chains.add(value);
    if (simulation.peak() < points.back().peakBytes) {
      points.push_back(planOf(choice));
      moved.clear();
    } else {
      moved.insert(moved.end(), picked.begin(), picked.end());
    }
    return true;
  }

  // What only moved the peak, and led to nothing, is not computed again.
  void goBack() {
    for (const Candidate &candidate : moved)
      ban(candidate);
    moved.clear();
    choice = lowest;
    chains.restore(chainsOfLowest);
    simulation.run(choice);
  }

  // The task at the peak, in each block.
  std::vector<int> whereIsThePeak() const {
    std::vector<int> tasks;
    for (int b : simulation.peakBlocks()) {
      const Replay &replay = simulation.replays[b];
      if (!replay.steps.empty())
        tasks.push_back(replay.taskOf(replay.peakStep));
    }
    return tasks;
  }

  const RematProgram &program;
  Simulation simulation;
  Chains chains;
  Choice choice;
  std::vector<RematPlan> points;
  std::vector<Candidate> moved; // since the last point: the peak is as high as there
  Choice lowest;                // before those
  std::vector<char> chainsOfLowest;
  std::vector<Recompute> bannedValues;
  std::vector<int> bannedStacks;
};

} // namespace

RematPlan planRemat(const RematProgram &program, int64_t mostBytes) {
  Search search(program);
  search.lowerTo(mostBytes);
  return search.prune(mostBytes);
}

std::vector<std::pair<int, int>> liveAtPeak(const RematProgram &program, const RematPlan &plan) {
  Simulation simulation(program);
  Choice choice{plan.values, std::vector<char>(program.stacks.size(), 0)};
  for (int stack : plan.stacks)
    choice.dropped[stack] = 1;
  simulation.run(choice);
  std::vector<std::pair<int, int>> live;
  for (int b : simulation.peakBlocks()) {
    const Replay &replay = simulation.replays[b];
    std::vector<int> begin(replay.storages.size(), kNever), end(replay.storages.size(), -1);
    for (auto [s, storage] : llvm::enumerate(replay.storages)) {
      if (storage.before)
        begin[s] = 0;
      if (storage.kept)
        end[s] = kNever;
    }
    for (int i = 0; i < static_cast<int>(replay.tasks.size()); ++i)
      for (llvm::ArrayRef<int> used : {llvm::ArrayRef<int>(replay.tasks[i].reads),
                                       llvm::ArrayRef<int>(replay.tasks[i].writes)})
        for (int s : used) {
          begin[s] = std::min(begin[s], i);
          end[s] = std::max(end[s], i);
        }
    for (int s = 0; s < static_cast<int>(replay.storages.size()); ++s)
      if (begin[s] <= replay.peakStep && replay.peakStep <= end[s] && replay.storages[s].bytes > 0)
        live.push_back({b, s});
  }
  return live;
}

std::vector<RematPlan> rematFrontier(const RematProgram &program) {
  Search search(program);
  search.lowerTo(0);
  std::vector<RematPlan> points;
  for (const RematPlan &point : search.frontier()) {
    while (!points.empty() && points.back().seconds >= point.seconds)
      points.pop_back(); // needs more of both
    points.push_back(point);
  }
  return points;
}

} // namespace tessera::cost
