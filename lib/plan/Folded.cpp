#include "lib/plan/Folded.h"

#include "lib/plan/Layouts.h"
#include "llvm/ADT/STLExtras.h"

#include <limits>
#include <map>
#include <numeric>
#include <unordered_map>

namespace tessera::plan {

using sharding::PropagatedOp;
using sharding::PropagatedValue;

namespace {

constexpr size_t kLeastDistance = 24; // ops: in fewer, what is alike may well lie otherwise, as
                                      // columns and rows of a chain of products in turn
constexpr size_t kMostDistances = 32; // that are looked at
constexpr size_t kMostRepeats = 64;

std::vector<size_t> distancesIn(llvm::ArrayRef<int32_t> numbers, size_t least) {
  std::unordered_map<int32_t, size_t> last;
  std::map<size_t, size_t> counts;
  for (auto [i, number] : llvm::enumerate(numbers)) {
    auto [it, isNew] = last.try_emplace(number, i);
    if (!isNew) {
      size_t distance = i - it->second;
      ++counts[(least + distance - 1) / distance * distance];
      it->second = i;
    }
  }
  std::vector<std::pair<size_t, size_t>> often; // count, distance
  for (auto [distance, count] : counts)
    often.push_back({count, distance});
  llvm::stable_sort(often, [](const auto &a, const auto &b) { return a.first > b.first; });
  std::vector<size_t> distances;
  for (auto [count, distance] : llvm::ArrayRef(often).take_front(kMostDistances))
    distances.push_back(distance);
  return distances;
}

size_t saved(const Repeat &run) { return run.end - run.begin - run.distance; }

} // namespace

// Of runs in which every op is what it is `distance` before, outside of what is taken, the first that saves
// most; without a distance: none.
static Repeat longestRun(llvm::ArrayRef<int32_t> numbers, size_t distance,
                         const std::vector<bool> &taken) {
  Repeat best{0, 0, 0}, run{0, 0, distance};
  auto finish = [&](size_t end) {
    run.end = end;
    if (end >= run.begin + 2 * distance && (!best.distance || saved(run) > saved(best)))
      best = run;
  };
  for (size_t i = 0; i < numbers.size(); ++i) {
    bool alone = taken[i];
    if (!alone && (i < run.begin + distance || numbers[i] == numbers[i - distance]))
      continue;
    finish(i);
    // The next run begins behind what is taken, or a distance before what differs.
    run.begin = alone ? i + 1 : i + 1 - distance;
  }
  finish(numbers.size());
  return best;
}

std::vector<Repeat> repeatsIn(llvm::ArrayRef<int32_t> numbers, size_t least) {
  std::vector<size_t> distances = distancesIn(numbers, least);
  std::vector<bool> taken(numbers.size());
  std::vector<Repeat> repeats;
  // What the best run of each distance saves, or did when less was taken: never less than now.
  std::vector<size_t> most(distances.size(), std::numeric_limits<size_t>::max());
  while (repeats.size() < kMostRepeats) {
    Repeat best{0, 0, 0};
    size_t bestAt = 0;
    std::vector<size_t> order(distances.size());
    std::iota(order.begin(), order.end(), 0);
    llvm::stable_sort(order, [&](size_t a, size_t b) { return most[a] > most[b]; });
    auto isBetter = [&](size_t saves, size_t at) {
      return !best.distance || saves > saved(best) || (saves == saved(best) && at < bestAt);
    };
    for (size_t at : order) {
      if (most[at] == 0 || !isBetter(most[at], at))
        continue;
      Repeat run = longestRun(numbers, distances[at], taken);
      most[at] = run.distance ? saved(run) : 0;
      if (run.distance && isBetter(most[at], at)) {
        best = run;
        bestAt = at;
      }
    }
    if (!best.distance)
      break;
    std::fill(taken.begin() + best.begin, taken.begin() + best.end, true);
    repeats.push_back(best);
  }
  return repeats;
}

namespace {

class Folding {
public:
  explicit Folding(const Program &whole) : whole(whole), parent(whole.values.size()) {
    std::iota(parent.begin(), parent.end(), 0);
  }

  Folded run() {
    numberValues();
    numberOps();
    for (const Repeat &repeat : repeatsIn(unformedKinds, kLeastDistance))
      for (size_t i = repeat.begin + repeat.distance; i < repeat.end; ++i)
        joinTensors(whole.graph.ops[i - repeat.distance], whole.graph.ops[i]);
    joinResults();
    return fold();
  }

private:
  // Values of one kind may lie alike.
  void numberValues() {
    std::map<std::string, int32_t> kinds;
    for (auto [v, value] : llvm::enumerate(whole.graph.values)) {
      const ValueFacts &facts = whole.values[v];
      std::string key;
      appendKey(key, int64_t(value.group < 0 ? -1 : int64_t(v))); // a group has its own members
      for (int64_t size : value.shape)
        appendKey(key, size);
      appendKey(key, value.elementBytes);
      appendKey(key, value.mesh);
      if (value.mesh >= 0) {
        appendKey(key, value.sharding);
        for (const sharding::DimSharding &dim : value.sharding.dims)
          appendKey(key, int64_t(dim.closed) | int64_t(dim.priority.value_or(-1)) << 1);
      }
      for (bool is : {value.free, facts.argument >= 0, facts.result >= 0, facts.donatedTo >= 0,
                      facts.donated})
        key += char(is);
      appendKey(key, facts.times);
      appendKey(key, facts.wholeTimes);
      valueKinds.push_back(kinds.try_emplace(std::move(key), int32_t(kinds.size())).first->second);
    }
  }

  // Which kernels ops are in does not say how their tensors lie: from some layer on, a value may be computed in
  // other kernels than before.
  void numberOps() {
    std::map<std::string, int32_t> kinds, unformed;
    for (auto [op, facts] : llvm::zip_equal(whole.graph.ops, whole.ops)) {
      std::string key;
      appendKey(key, op.rule);
      appendKey(key, int64_t(op.opClass));
      appendKey(key, int64_t(facts.moves));
      appendKey(key, int64_t(facts.isProduct));
      for (double each : {op.flops, facts.times})
        appendKey(key, each);
      for (int32_t factor : op.blocked)
        appendKey(key, factor);
      for (const auto *side : {&op.operands, &op.results})
        for (int32_t v : *side) {
          appendKey(key, valueKinds[v]);
          appendKey(key, int64_t(llvm::find(op.operands, v) - op.operands.begin())); // x * x
        }
      key += facts.elementType;
      unformedKinds.push_back(unformed.try_emplace(key, int32_t(unformed.size())).first->second);
      for (const KernelPart &part : facts.parts)
        for (double each : {whole.kernels[part.kernel].flops, whole.kernels[part.kernel].bytes})
          appendKey(key, each);
      for (const auto *each : {&facts.operandTimes, &facts.reads})
        for (double number : *each)
          appendKey(key, number);
      for (double write : facts.writes)
        appendKey(key, write);
      appendKey(key, facts.flops);
      opKinds.push_back(kinds.try_emplace(std::move(key), int32_t(kinds.size())).first->second);
    }
  }

  int32_t find(int32_t value) {
    while (parent[value] != value)
      value = parent[value] = parent[parent[value]];
    return value;
  }

  bool join(int32_t a, int32_t b) { // of one kind
    a = find(a), b = find(b);
    parent[std::max(a, b)] = std::min(a, b);
    return a != b;
  }

  void joinTensors(const PropagatedOp &a, const PropagatedOp &b) {
    for (auto [v, w] : llvm::zip_equal(a.operands, b.operands))
      join(v, w);
    for (auto [v, w] : llvm::zip_equal(a.results, b.results))
      join(v, w);
  }

  std::vector<int32_t> keyOf(size_t index, bool withResults) {
    const PropagatedOp &op = whole.graph.ops[index];
    std::vector<int32_t> key{opKinds[index]};
    for (int32_t v : op.operands)
      key.push_back(find(v));
    if (withResults)
      for (int32_t v : op.results)
        key.push_back(find(v));
    return key;
  }

  // Equal ops of values that lie alike make such.
  void joinResults() {
    for (bool more = true; more;) {
      more = false;
      std::map<std::vector<int32_t>, size_t> first;
      for (size_t index = 0; index < whole.graph.ops.size(); ++index) {
        auto [it, isNew] = first.try_emplace(keyOf(index, /*withResults=*/false), index);
        if (!isNew)
          for (auto [v, w] :
               llvm::zip_equal(whole.graph.ops[it->second].results, whole.graph.ops[index].results))
            more |= join(v, w);
      }
    }
  }

  Folded fold() {
    Folded folded;
    folded.program.graph.rules = whole.graph.rules;
    folded.program.blockAround = whole.blockAround;
    folded.program.launches = whole.launches;
    foldValues(folded);
    foldOps(folded);
    for (auto [number, op] : llvm::enumerate(folded.program.graph.ops))
      for (const auto *side : {&op.operands, &op.results})
        for (int32_t v : *side)
          if (auto &ops = folded.program.graph.values[v].ops;
              ops.empty() || ops.back() != int32_t(number))
            ops.push_back(int32_t(number));
    keepFirst(folded.program);
    return folded;
  }

  // Of ops that are folded others may be the first to read a value.
  static void keepFirst(Program &program) {
    std::vector<bool> isRead(program.values.size());
    for (auto [op, facts] : llvm::zip_equal(program.graph.ops, program.ops)) {
      for (size_t i = 0; i < facts.readsFirst.size(); ++i)
        facts.readsFirst[i] &= !isRead[op.operands[i]];
      for (int32_t v : op.operands)
        isRead[v] = true;
    }
  }

  void foldValues(Folded &folded) {
    std::vector<int32_t> numbers(parent.size(), -1);
    std::map<int32_t, int32_t> resultOf; // what stands for a result, by number
    for (size_t v = 0; v < parent.size(); ++v) {
      const ValueFacts &facts = whole.values[v];
      int32_t &number = numbers[find(int32_t(v))];
      if (number < 0) {
        number = int32_t(folded.program.values.size());
        folded.program.graph.values.push_back(whole.graph.values[v]);
        folded.program.graph.values.back().ops.clear();
        folded.program.values.push_back(facts);
      } else {
        ValueFacts &into = folded.program.values[number];
        into.others.push_back({facts.first, facts.last, facts.stored});
        into.wholeTimes += facts.wholeTimes;
        into.secondsBeside = std::max(into.secondsBeside, facts.secondsBeside);
        into.secondsBesideRead = std::max(into.secondsBesideRead, facts.secondsBesideRead);
      }
      if (facts.result >= 0)
        resultOf[facts.result] = folded.program.values[number].result;
      folded.valueOf.push_back(number);
    }
    for (ValueFacts &facts : folded.program.values)
      if (facts.donatedTo >= 0)
        facts.donatedTo = resultOf.at(facts.donatedTo);
  }

  void foldOps(Folded &folded) {
    std::map<std::vector<int32_t>, int32_t> numbers;
    std::vector<std::vector<size_t>> members;
    std::map<int32_t, int32_t> kernels; // those of ops that stand for others
    for (size_t index = 0; index < whole.graph.ops.size(); ++index) {
      auto [it, isNew] =
          numbers.try_emplace(keyOf(index, /*withResults=*/true), int32_t(members.size()));
      if (isNew)
        members.emplace_back();
      members[it->second].push_back(index);
    }
    for (const std::vector<size_t> &equal : members) {
      PropagatedOp op = whole.graph.ops[equal.front()];
      OpFacts facts = whole.ops[equal.front()];
      facts.times *= double(equal.size());
      facts.launches = 0;
      for (size_t index : equal)
        facts.launches += whole.ops[index].launches / double(equal.size());
      for (size_t index : llvm::drop_begin(equal))
        llvm::append_range(facts.turns, whole.ops[index].turns);
      // What all of them read is brought there once.
      for (size_t i = 0; i < op.operands.size(); ++i) {
        std::vector<int32_t> read;
        for (size_t index : equal)
          read.push_back(whole.graph.ops[index].operands[i]);
        llvm::sort(read);
        facts.operandTimes[i] *= double(std::unique(read.begin(), read.end()) - read.begin());
      }
      for (KernelPart &part : facts.parts) {
        auto [it, isNew] = kernels.try_emplace(part.kernel, int32_t(folded.program.kernels.size()));
        if (isNew)
          folded.program.kernels.push_back(whole.kernels[part.kernel]);
        part.kernel = it->second;
      }
      for (auto *side : {&op.operands, &op.results})
        for (int32_t &v : *side)
          v = folded.valueOf[v];
      folded.program.graph.ops.push_back(std::move(op));
      folded.program.ops.push_back(std::move(facts));
    }
  }

  const Program &whole;
  std::vector<int32_t> parent, valueKinds, opKinds, unformedKinds;
};

bool canFold(const Program &whole) {
  return whole.graph.ops.size() > kMostUnfolded &&
         llvm::none_of(whole.graph.ops, [](const PropagatedOp &op) { return op.viewed >= 0; });
}

} // namespace

Folded foldedProgram(const Program &whole) {
  if (canFold(whole))
    return Folding(whole).run();
  Folded same{whole, std::vector<int32_t>(whole.values.size())};
  std::iota(same.valueOf.begin(), same.valueOf.end(), 0);
  return same;
}

Assignment Folded::unfolded(const Assignment &folded) const {
  Assignment whole;
  whole.reserve(valueOf.size());
  for (int32_t value : valueOf)
    whole.push_back(folded[value]);
  return whole;
}

} // namespace tessera::plan
