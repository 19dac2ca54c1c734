#include "lib/plan/FewerLayers.h"

#include "lib/plan/Folded.h"
#include "llvm/ADT/STLExtras.h"

#include <map>
#include <numeric>

namespace tessera::plan {

namespace {

constexpr size_t kLeastDistance = 24; // ops of a layer
constexpr size_t kLeastRounds = 6;
constexpr int32_t kOfNone = -1, kOfSeveral = -2; // layers, by number otherwise

// Equal layers, one after another, of which each reads what the one before made.
struct Chain : Repeat {
  size_t from = 0;                 // the first op that is left out
  size_t earliest = 0, latest = 0; // that it can be, by the weights that layers read
  size_t length = 0;               // of what is left out
  bool leavesOut(size_t op) const { return op >= from && op < from + length; }
  size_t rounds() const { return (end - begin) / distance; }
};

class Layers {
public:
  explicit Layers(const Line &line)
      : line(line), definedBy(line.valueKinds.size(), -1), chainOf(line.ops.size(), -1) {
    for (auto [index, op] : llvm::enumerate(line.ops))
      for (int32_t result : op.results)
        definedBy[result] = int32_t(index);
  }

  // False where there are none.
  bool find() {
    std::vector<int32_t> kinds;
    for (const LineOp &op : llvm::ArrayRef(line.ops).drop_back())
      kinds.push_back(op.kind);
    for (const Repeat &repeat : repeatsIn(kinds, kLeastDistance))
      if (repeat.end - repeat.begin >= kLeastRounds * repeat.distance && isChain(repeat))
        chains.push_back({repeat});
    if (chains.empty())
      return false;
    auto length = [](const Chain &chain) { return chain.end - chain.begin; };
    llvm::stable_sort(chains,
                      [&](const Chain &a, const Chain &b) { return length(a) > length(b); });
    labelWeights();
    llvm::erase_if(chains, [&](const Chain &chain) { return !readsWeights(chain); });
    if (chains.empty())
      return false;
    for (auto [number, chain] : llvm::enumerate(chains))
      std::fill(chainOf.begin() + chain.begin, chainOf.begin() + chain.end, int32_t(number));
    return true;
  }

  size_t count() const { return chains.front().rounds(); }

  std::optional<FewerLayers> withLayers(size_t left) {
    if (count() < left + 2)
      return std::nullopt;
    size_t first = left / 2, end = first + count() - left;
    for (Chain &chain : chains)
      if (!cut(chain, int32_t(first), int32_t(end)))
        return std::nullopt;
    for (int round = 0; round < 2; ++round)
      for (Chain &chain : chains)
        moveToOthers(chain);
    FewerLayers fewer = allLayers();
    fewer.left = left;
    leaveOut(fewer, int32_t(first), int32_t(end));
    dropUnread(fewer);
    return fewer;
  }

  // But for what nothing reads.
  FewerLayers whole() const {
    FewerLayers all = allLayers();
    dropUnread(all);
    return all;
  }

private:
  FewerLayers allLayers() const {
    FewerLayers all;
    all.left = count();
    all.keeps.assign(line.ops.size(), true);
    all.takes.assign(line.arguments, true);
    all.instead.resize(definedBy.size());
    std::iota(all.instead.begin(), all.instead.end(), 0);
    return all;
  }

  // Whether values come from layers before, one after another.
  bool isChain(const Repeat &repeat) const {
    std::vector<size_t> reach(repeat.end - repeat.begin);
    for (size_t i = repeat.begin; i < repeat.end; ++i) {
      size_t &first = reach[i - repeat.begin] = i;
      for (int32_t v : line.ops[i].operands)
        if (int32_t by = definedBy[v]; by >= int32_t(repeat.begin) && by < int32_t(i))
          first = std::min(first, reach[by - repeat.begin]);
      if (first + 3 * repeat.distance <= i)
        return true;
    }
    return false;
  }

  // A round is to have all that reads a weight: it begins where the fewest are read before and behind.
  void alignRounds(Chain &chain, const std::vector<bool> &isGiven) const {
    std::map<int32_t, std::pair<size_t, size_t>> reads; // the first and the last
    for (size_t i = chain.begin; i < chain.end; ++i)
      for (int32_t v : line.ops[i].operands)
        if (isGiven[v])
          reads.try_emplace(v, i, i).first->second.second = i;
    std::vector<size_t> parted(chain.distance); // by beginning there
    for (const auto &[v, range] : reads)
      if (range.second - range.first < chain.distance)
        for (size_t i = range.first + 1; i <= range.second; ++i)
          ++parted[(i - chain.begin) % chain.distance];
    chain.begin += size_t(std::min_element(parted.begin(), parted.end()) - parted.begin());
  }

  static int32_t joined(int32_t a, int32_t b) {
    return a == kOfNone || a == b ? b : b == kOfNone ? a : kOfSeveral;
  }

  // Of arguments, and of what is computed from one of them alone, the layer of the longest chain that reads them.
  void labelWeights() {
    Chain &chain = chains.front();
    std::vector<int32_t> argument(definedBy.size(), kOfNone); // that a value is made of
    std::iota(argument.begin(), argument.begin() + line.arguments, 0);
    for (const LineOp &op : line.ops) {
      int32_t from = kOfNone;
      for (int32_t v : op.operands)
        from = joined(from, argument[v]);
      for (int32_t result : op.results)
        argument[result] = from;
    }
    std::vector<bool> isGiven(definedBy.size());
    for (size_t v = 0; v < isGiven.size(); ++v)
      isGiven[v] = argument[v] >= 0;
    alignRounds(chain, isGiven);
    layerOf.assign(definedBy.size(), kOfNone);
    for (size_t i = chain.begin; i < chain.end; ++i)
      for (int32_t v : line.ops[i].operands)
        if (isGiven[v])
          layerOf[v] = joined(layerOf[v], int32_t((i - chain.begin) / chain.distance));
    auto given = [&](const LineOp &op) { return !op.results.empty() && isGiven[op.results[0]]; };
    for (const LineOp &op : llvm::reverse(line.ops))
      if (given(op))
        for (int32_t v : op.operands)
          layerOf[v] = joined(layerOf[v], layerOf[op.results[0]]);
    for (const LineOp &op : line.ops)
      if (given(op))
        for (int32_t v : op.operands)
          if (layerOf[op.results[0]] == kOfNone)
            layerOf[op.results[0]] = layerOf[v];
  }

  int32_t layerReadBy(const LineOp &op) const {
    int32_t layer = kOfNone;
    for (int32_t v : op.operands)
      if (layerOf[v] >= 0)
        layer = joined(layer, layerOf[v]);
    return layer;
  }

  bool readsWeights(const Chain &chain) const {
    for (size_t i = chain.begin; i < chain.end; ++i)
      if (layerReadBy(line.ops[i]) >= 0)
        return true;
    return false;
  }

  // Finds where in the chain the layers are that are left out, by the weights that they read.
  bool cut(Chain &chain, int32_t first, int32_t end) {
    size_t length = size_t(end - first) * chain.distance;
    std::optional<size_t> firstOut, lastOut, keptBefore, keptBehind;
    for (size_t i = chain.begin; i < chain.end; ++i) {
      int32_t layer = layerReadBy(line.ops[i]);
      if (layer < 0)
        continue;
      if (layer < first || layer >= end) {
        if (!firstOut)
          keptBefore = i;
        else if (!keptBehind)
          keptBehind = i;
        continue;
      }
      if (keptBehind)
        return false; // not one after another
      if (!firstOut)
        firstOut = i;
      lastOut = i;
    }
    if (!firstOut || !keptBefore || !keptBehind || *keptBehind < length)
      return false;
    chain.length = length;
    chain.latest = chain.from = std::min(*firstOut, *keptBehind - length);
    chain.earliest = std::max(
        {*keptBefore + 1, *lastOut + 1 - std::min(*lastOut, length), chain.begin + chain.distance});
    return chain.earliest <= chain.latest && chain.latest + length <= chain.end;
  }

  // Ops between those that read weights are of the layer whose values in other chains they read, and which
  // others read of them.
  void moveToOthers(Chain &chain) const {
    std::vector<std::pair<size_t, bool>> edges; // an op of it, and whether the other is left out
    auto isNear = [&](size_t op) {
      return op + chain.distance >= chain.earliest && op < chain.latest + chain.distance;
    };
    int32_t own = chainOf[chain.begin];
    for (size_t i = 0; i + 1 < line.ops.size(); ++i)
      for (int32_t v : line.ops[i].operands) {
        int32_t by = definedBy[v];
        if (by < 0 || chainOf[i] < 0 || chainOf[by] < 0 ||
            (chainOf[i] == own) == (chainOf[by] == own))
          continue;
        size_t mine = size_t(by), other = i;
        if (chainOf[i] == own)
          std::swap(mine, other);
        if (isNear(mine))
          edges.push_back({mine, chains[chainOf[other]].leavesOut(other)});
      }
    size_t least = edges.size() + 1;
    for (size_t from = chain.latest + 1; from-- > chain.earliest;) {
      size_t parted = size_t(llvm::count_if(
          edges, [&](const auto &edge) { return edge.second != (edge.first >= from); }));
      if (parted < least) {
        least = parted;
        chain.from = from;
      }
    }
  }

  void leaveOut(FewerLayers &fewer, int32_t first, int32_t end) const {
    std::vector<bool> isOut(definedBy.size()); // for readers that are in no layer
    for (int32_t v = 0; v < line.arguments; ++v)
      if (layerOf[v] >= first && layerOf[v] < end) {
        fewer.instead[v] = -1;
        isOut[v] = true;
      }
    for (const Chain &chain : chains) {
      for (size_t i = chain.from; i < chain.from + chain.length; ++i) {
        fewer.keeps[i] = false;
        for (auto [number, v] : llvm::enumerate(line.ops[i].results)) {
          fewer.instead[v] =
              i >= chain.begin + chain.length ? line.ops[i - chain.length].results[number] : -1;
          isOut[v] = true;
        }
      }
    }
    for (size_t i = 0; i + 1 < line.ops.size(); ++i) {
      const LineOp &op = line.ops[i];
      if (!fewer.keeps[i])
        continue;
      auto lacks = [&](int32_t v) { return isOut[v] && (chainOf[i] < 0 || fewer.instead[v] < 0); };
      if (llvm::none_of(op.operands, lacks))
        continue;
      fewer.keeps[i] = false;
      int32_t other = -1;
      if (op.joinsScalars && lacks(op.operands[0]) != lacks(op.operands[1]))
        other = fewer.instead[op.operands[lacks(op.operands[0]) ? 1 : 0]];
      for (int32_t v : op.results) {
        fewer.instead[v] = other;
        isOut[v] = other < 0;
      }
    }
    for (int32_t v : line.ops.back().operands)
      if (isOut[v])
        fewer.instead[v] = -1;
  }

  // Ops and arguments that nothing reads any more.
  void dropUnread(FewerLayers &fewer) const {
    std::vector<bool> isRead(definedBy.size()), wasRead(definedBy.size());
    for (size_t i = line.ops.size(); i-- > 0;) {
      const LineOp &op = line.ops[i];
      auto reads = [&](int32_t v) { return bool(isRead[v]); };
      for (int32_t v : op.operands)
        wasRead[v] = true;
      fewer.keeps[i] = fewer.keeps[i] && (op.results.empty() || llvm::any_of(op.results, reads));
      if (fewer.keeps[i])
        for (int32_t v : op.operands)
          if (fewer.instead[v] >= 0)
            isRead[fewer.instead[v]] = true;
    }
    for (int32_t v = 0; v < line.arguments; ++v)
      fewer.takes[v] = isRead[v] || !wasRead[v];
  }

  const Line &line;
  std::vector<int32_t> definedBy, chainOf; // of values; of ops
  std::vector<Chain> chains;               // the longest first
  std::vector<int32_t> layerOf;            // of values
};

// How many there are of each kind of op and argument, and of results.
std::map<std::pair<bool, int32_t>, int64_t> census(const Line &line, const FewerLayers &fewer) {
  std::map<std::pair<bool, int32_t>, int64_t> counts;
  for (auto [i, op] : llvm::enumerate(line.ops))
    counts[{true, op.kind}] += fewer.keeps[i];
  for (int32_t v = 0; v < line.arguments; ++v)
    counts[{false, line.valueKinds[v]}] += fewer.takes[v];
  for (int32_t v : line.ops.back().operands)
    counts[{false, -1}] += fewer.instead[v] >= 0;
  return counts;
}

// Whether all that is kept reads what is there, of the types that it read.
bool isWhole(const Line &line, const FewerLayers &fewer) {
  std::vector<bool> isThere(line.valueKinds.size());
  std::copy(fewer.takes.begin(), fewer.takes.end(), isThere.begin());
  for (auto [i, op] : llvm::enumerate(line.ops)) {
    if (!fewer.keeps[i])
      continue;
    for (int32_t v : op.operands) {
      int32_t read = fewer.instead[v];
      bool isResult = i + 1 == line.ops.size();
      if (read < 0 ? !isResult
                   : !isThere[read] || (!isResult && read >= line.arguments &&
                                        line.valueKinds[read] != line.valueKinds[v]))
        return false;
    }
    for (int32_t v : op.results)
      isThere[v] = true;
  }
  return true;
}

} // namespace

std::optional<LayersOf> withFewerLayers(const Line &line, llvm::ArrayRef<size_t> left) {
  Layers layers(line);
  if (!layers.find())
    return std::nullopt;
  LayersOf all;
  all.layers = layers.count();
  auto whole = census(line, layers.whole());
  std::map<std::pair<bool, int32_t>, int64_t> perLayer;
  for (size_t each : left) {
    std::optional<FewerLayers> fewer = layers.withLayers(each);
    if (!fewer || !isWhole(line, *fewer))
      return std::nullopt;
    int64_t out = int64_t(all.layers - each);
    for (auto [kind, count] : census(line, *fewer)) {
      int64_t difference = whole.at(kind) - count;
      if (difference % out)
        return std::nullopt;
      if (perLayer.try_emplace(kind, difference / out).first->second != difference / out)
        return std::nullopt;
    }
    all.fewer.push_back(std::move(*fewer));
  }
  return all;
}

} // namespace tessera::plan
