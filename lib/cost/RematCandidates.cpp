#include "lib/cost/RematCandidates.h"

#include "llvm/ADT/STLExtras.h"

namespace tessera::cost {
namespace {

constexpr int kClosure = 16; // tasks that one value may need computed again

// The values of one block that are not needed while its step at the peak runs, that this step can
// compute itself, or that it makes for others.
class Gaps {
public:
  Gaps(const Simulation &simulation, const RematChoice &choice, bool makesLater, int b)
      : block(simulation.program.blocks[b]), replay(simulation.replays[b]), makesLater(makesLater),
        b(b), last(replay.storages.size(), kNever), behind(replay.storages.size(), kNever),
        isAtPeak(replay.storages.size()), recomputed(block.storages.size()) {
    for (const Recompute &value : choice.values)
      if (value.block == b)
        recomputed[value.storage] = true;
    int peak = replay.peakStep;
    for (int i = 0; i < static_cast<int>(replay.tasks.size()); ++i) {
      auto use = [&](int storage) {
        if (i < peak)
          last[storage] = i;
        else if (i == peak)
          isAtPeak[storage] = true;
        else if (behind[storage] == kNever)
          behind[storage] = i;
      };
      llvm::for_each(replay.tasks[i].reads, use);
      llvm::for_each(replay.tasks[i].writes, use);
    }
  }

  void collect(std::vector<RematCandidate> &candidates) const {
    for (int s = 0; s < static_cast<int>(block.storages.size()); ++s)
      if (mayBeDropped(s) && (isInGap(s) || joinsThePeak(s) || isOverwritten(s) || isMadeAtPeak(s)))
        for (bool keepsOperands : {false, true})
          if (RematCandidate candidate = closure(s, keepsOperands); candidate.bytes > 0)
            candidates.push_back(std::move(candidate));
  }

private:
  bool mayBeDropped(int s) const {
    return replay.storages[s].bytes > 0 && !block.storages[s].before && !recomputed[s] &&
           !block.storages[s].kept && block.makers[s].again &&
           (last[s] != kNever || isMadeAtPeak(s));
  }

  // By the step at the peak, for others: where they make it themselves, that step need not.
  bool isMadeAtPeak(int s) const {
    const RematStep &step = replay.steps[replay.peakStep];
    return makesLater && step.copyOf < 0 && behind[s] != kNever &&
           llvm::is_contained(replay.tasks[replay.peakStep].writes, s);
  }

  bool isInGap(int s) const {
    return !isAtPeak[s] && behind[s] != kNever && replay.taskOf(behind[s]) > replay.taskOf(last[s]);
  }

  bool joinsThePeak(int s) const {
    const RematStep &step = replay.steps[replay.peakStep];
    return isAtPeak[s] && last[s] != kNever && step.copyOf < 0 && block.makers[s].isElementwise &&
           !block.joins.empty() && llvm::is_contained(block.joins[step.task], s) &&
           replay.taskOf(last[s]) < step.task;
  }

  // What the step at the peak writes could take over its array, were it not read later.
  bool isOverwritten(int s) const {
    const RematStep &step = replay.steps[replay.peakStep];
    return step.copyOf < 0 && isAtPeak[s] && behind[s] != kNever &&
           replay.taskOf(behind[s]) > step.task &&
           llvm::any_of(replay.tasks[replay.peakStep].inPlace, [&](const auto &pair) {
             return pair.second == s &&
                    replay.storages[pair.first].bytes <= replay.storages[s].bytes;
           });
  }

  // The last task before the gap.
  int taskBefore(int s) const {
    return joinsThePeak(s) || !isAtPeak[s] ? replay.taskOf(last[s])
                                           : replay.taskOf(replay.peakStep);
  }

  // Value s, and what has to be computed again with it, as it isn't there at the peak. What the
  // step at the peak computes itself, it needs the operands of.
  RematCandidate closure(int s, bool keepsOperands) const {
    RematCandidate result;
    bool isJoined = joinsThePeak(s);
    result.bytes = replay.storages[s].bytes;
    llvm::SmallVector<int, 8> work{s};
    llvm::SmallVector<int, 16> seen{s};
    while (!work.empty()) {
      int x = work.pop_back_val();
      const Maker &maker = block.makers[x];
      result.values.push_back({b, x, taskBefore(x)});
      result.seconds += maker.seconds * block.times;
      for (int y : maker.reads) {
        bool isThere = recomputed[y] || replay.storages[y].bytes == 0 || block.storages[y].kept ||
                       behind[y] != kNever || isAtPeak[y];
        if (isThere || llvm::is_contained(seen, y))
          continue;
        seen.push_back(y);
        bool isSmall = replay.storages[y].bytes * 4 <= replay.storages[s].bytes;
        bool helps = !isJoined || block.makers[y].isElementwise;
        if (!keepsOperands && !isSmall && helps && mayBeDropped(y) &&
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
  bool makesLater;
  int b;
  std::vector<int> last, behind; // steps: the last one before the peak, the first one after it
  std::vector<char> isAtPeak, recomputed;
};

void collectStacks(const Simulation &simulation, const RematChoice &choice, int b,
                   std::vector<RematCandidate> &candidates) {
  const RematProgram &program = simulation.program;
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

} // namespace

std::vector<RematCandidate> candidatesAtPeak(const Simulation &simulation,
                                             const RematChoice &choice, bool makesLater) {
  std::vector<RematCandidate> candidates;
  for (int b : simulation.peakBlocks()) {
    Gaps(simulation, choice, makesLater, b).collect(candidates);
    collectStacks(simulation, choice, b, candidates);
  }
  return candidates;
}

} // namespace tessera::cost
