#include "lib/cost/Remat.h"

#include "lib/cost/RematCandidates.h"
#include "lib/cost/RematChains.h"

#include "llvm/ADT/STLExtras.h"
#include <algorithm>

namespace tessera::cost {
namespace {

constexpr int kRounds = 120;  // at most
constexpr int kFailures = 24; // rounds that lower nothing
constexpr int kPruned = 48;   // values that are tried to be kept again
constexpr int kSettled = 12;  // peaks that stay, at most
constexpr double kShortest = 1e-9;

class Search {
public:
  Search(const RematProgram &program, const RematScope &scope)
      : program(program), scope(scope), simulation(program), whole(program), chains(program) {
    choice.dropped.assign(program.stacks.size(), 0);
    simulation.run(choice);
    highest = simulation.peak();
    points.push_back(planOf(choice));
  }

  void lowerTo(int64_t mostBytes) {
    int failures = 0;
    for (int round = 0; round < kRounds && failures < kFailures; ++round) {
      int64_t peak = simulation.peak();
      if (peak <= mostBytes)
        return;
      int64_t wanted = peak - std::max(mostBytes, peak - peak / 16);
      std::vector<RematCandidate> picked = pick(wanted);
      if (picked.empty() && !settle())
        return;
      if (picked.empty() || accept(picked))
        continue;
      ++failures;
      RematCandidate best = picked.front();
      if (picked.size() > 1 && accept({best}))
        continue;
      if (moved.empty())
        ban(best);
      else if (!settle())
        goBack();
    }
  }

  // Keeps what need not be computed again after all, the longest first.
  RematPlan prune(int64_t mostBytes) {
    const RematPlan *start = &points.front();
    for (const RematPlan &point : points) // the first that fits, or the lowest
      if (start->peakBytes > mostBytes && point.peakBytes < start->peakBytes)
        start = &point;
    RematChoice best = choiceOf(program, *start);
    simulation.run(best);
    int64_t most = std::max(mostBytes, simulation.peak());
    auto seconds = [&](const Recompute &value) {
      const RematBlock &block = program.blocks[value.block];
      return block.makers[value.storage].seconds * block.times;
    };
    std::vector<std::pair<double, Recompute>> byTime;
    for (const Recompute &value : best.values)
      byTime.push_back({seconds(value), value});
    llvm::stable_sort(byTime, [](const auto &a, const auto &b) { return a.first > b.first; });
    if (byTime.size() > kPruned)
      byTime.resize(kPruned);
    for (auto &[time, value] : byTime) {
      RematChoice less = best;
      llvm::erase(less.values, value);
      double before = simulation.seconds;
      simulation.run(less);
      if (simulation.peak() <= most && simulation.seconds <= before && isNoHigher(less))
        best = std::move(less);
      else
        simulation.run(best);
    }
    return planOf(best);
  }

private:
  RematPlan planOf(const RematChoice &of) const {
    RematPlan plan{of.values, {}, simulation.peak(), simulation.seconds};
    for (auto [s, dropped] : llvm::enumerate(of.dropped))
      if (dropped)
        plan.stacks.push_back(static_cast<int>(s));
    return plan;
  }

  double priceOf(const RematCandidate &candidate) const {
    double chain = 0;
    if (candidate.stack < 0)
      chain = static_cast<double>(chains.bytesAround(candidate.values.front()));
    auto bytes = static_cast<double>(candidate.bytes);
    return std::max(candidate.seconds, kShortest) / bytes * (1 + chain / bytes);
  }

  bool isBanned(const RematCandidate &candidate) const {
    if (candidate.stack >= 0)
      return llvm::is_contained(bannedStacks, candidate.stack);
    return llvm::is_contained(bannedValues, candidate.values.front());
  }

  void ban(const RematCandidate &candidate) {
    if (candidate.stack >= 0)
      bannedStacks.push_back(candidate.stack);
    else
      bannedValues.push_back(candidate.values.front());
  }

  std::vector<RematCandidate> pick(int64_t wanted) {
    std::vector<RematCandidate> all = candidatesAtPeak(simulation, choice, scope.makesLater);
    llvm::erase_if(all, [&](const RematCandidate &candidate) { return isBanned(candidate); });
    std::vector<std::pair<double, size_t>> byPrice;
    for (auto [i, candidate] : llvm::enumerate(all))
      byPrice.push_back({priceOf(candidate), i});
    llvm::sort(byPrice);
    std::vector<RematCandidate> picked;
    std::vector<char> before = chains.choices();
    int64_t bytes = 0;
    for (auto [price, i] : byPrice) {
      RematCandidate &candidate = all[i];
      // Together with others of this round it may be worth less: then it waits for the next.
      bool isWorse = !picked.empty() && priceOf(candidate) > 2 * price;
      bool isDouble = llvm::any_of(picked, [&](const RematCandidate &other) {
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
  bool accept(const std::vector<RematCandidate> &picked) {
    RematChoice next = choice;
    for (const RematCandidate &candidate : picked) {
      next.values.insert(next.values.end(), candidate.values.begin(), candidate.values.end());
      if (candidate.stack >= 0)
        next.dropped[candidate.stack] = 1;
    }
    int64_t peak = simulation.peak();
    std::vector<int> where = simulation.peakTasks();
    simulation.run(next);
    bool isLower =
        simulation.peak() < peak || (simulation.peak() == peak && simulation.peakTasks() != where);
    if (!isLower || !isNoHigher(next)) {
      simulation.run(choice);
      return false;
    }
    if (moved.empty())
      lowest = choice, chainsOfLowest = chains.choices();
    choice = std::move(next);
    for (const RematCandidate &candidate : picked)
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

  // The peak stays, and what is below it is lowered; whether there may be another such.
  bool settle() {
    if (!scope.goesBelowPeaks || settled == kSettled)
      return false;
    ++settled;
    simulation.settlePeak();
    simulation.run(choice);
    bannedValues.clear();
    bannedStacks.clear();
    moved.clear();
    points = {planOf(choice)};
    return true;
  }

  // With the peaks that stay.
  bool isNoHigher(const RematChoice &of) {
    if (settled == 0)
      return true;
    whole.run(of);
    return whole.peak() <= highest;
  }

  // What only moved the peak, and led to nothing, is not computed again.
  void goBack() {
    for (const RematCandidate &candidate : moved)
      ban(candidate);
    moved.clear();
    choice = lowest;
    chains.restore(chainsOfLowest);
    simulation.run(choice);
  }

  const RematProgram &program;
  const RematScope scope;
  Simulation simulation, whole; // the second with the peaks that stay
  RematChains chains;
  RematChoice choice;
  std::vector<RematPlan> points;
  std::vector<RematCandidate> moved; // since the last point: the peak is as high as there
  RematChoice lowest;                // before those
  std::vector<char> chainsOfLowest;
  int settled = 0; // peaks that stay
  int64_t highest = 0;
  std::vector<Recompute> bannedValues;
  std::vector<int> bannedStacks;
};

} // namespace

RematPlan planRemat(const RematProgram &program, int64_t mostBytes, const RematScope &scope) {
  Search search(program, scope);
  search.lowerTo(mostBytes);
  return search.prune(mostBytes);
}

int64_t peakOf(const RematProgram &program) {
  Simulation simulation(program);
  simulation.run(choiceOf(program, {}));
  return simulation.peak();
}

std::vector<std::pair<int, int>> liveAtPeak(const RematProgram &program, const RematPlan &plan) {
  Simulation simulation(program);
  simulation.run(choiceOf(program, plan));
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

} // namespace tessera::cost
