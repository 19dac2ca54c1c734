#include "lib/sharding/ReshardSearch.h"

#include "lib/sharding/AxisAtoms.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <map>
#include <queue>
#include <tuple>

namespace tessera::sharding {
namespace {

// A layout in atoms. Partial atoms are a set: their order means nothing.
struct State {
  llvm::SmallVector<Atoms, 4> dims;
  llvm::SmallVector<int64_t, 4> tiles;
  uint64_t partial = 0;
  bool operator==(const State &) const = default;
  bool operator<(const State &other) const {
    return std::tie(partial, tiles, dims) < std::tie(other.partial, other.tiles, other.dims);
  }
};

struct Move {
  ReshardKind kind;
  int32_t dim = -1, fromDim = -1;
  Atoms atoms;
};

constexpr double stepSeconds = 1e-9; // breaks ties towards fewer steps

// Of two equally dear ways that end with a reduce-scatter, the one is taken that scatters the last
// dimension first. A sum over two axes has other bits in the other order, and this is XLA's.
bool isBetterEnd(const Move &end, const Move &than) {
  return end.kind == ReshardKind::ReduceScatter && than.kind == ReshardKind::ReduceScatter &&
         end.dim < than.dim;
}

class Search {
public:
  Search(const Mesh &mesh, llvm::ArrayRef<int64_t> shape, int64_t elementBytes,
         const AxisAtoms &atoms, const State &start, const State &goal,
         const cost::Topology &topology)
      : mesh(mesh), shape(shape), elementBytes(elementBytes), atoms(atoms), start(start),
        goal(goal), topology(topology) {}

  struct Node {
    State state;
    int32_t parent;
    Move move;
    double seconds, wire;
  };

  // The cheapest path within `budget` expanded states, never dearer than gathering and slicing.
  std::vector<Node> run(int64_t budget);

private:
  double localBytes(const State &s) const {
    double n = elementBytes;
    for (int64_t tile : s.tiles)
      n *= tile;
    return n;
  }
  double gatherAndSlice(std::vector<Node> &path);
  void expand(int32_t from);
  void reductions(const State &s);
  void gathers(const State &s);
  void slices(const State &s);
  void allToAlls(const State &s);
  void permutes(const State &s);
  void retiles(const State &s);
  void add(State next, Move move);
  // The tile that leads to the goal's once `dim` has `shards` shards; 0 when nothing tells.
  int64_t neededTile(int32_t dim, int64_t shards) const;
  bool split(State &s, int32_t dim, llvm::ArrayRef<uint8_t> by) const;
  uint64_t used(const State &s) const;
  bool prefixOfGoal(const State &s, int32_t d) const {
    return s.dims[d].size() <= goal.dims[d].size() &&
           std::equal(s.dims[d].begin(), s.dims[d].end(), goal.dims[d].begin());
  }
  std::pair<double, double> costOf(const State &before, const State &after, const Move &m) const;

  const Mesh &mesh;
  llvm::ArrayRef<int64_t> shape;
  int64_t elementBytes;
  const AxisAtoms &atoms;
  const State &start, &goal;
  const cost::Topology &topology;

  std::vector<Node> nodes;
  std::map<State, int32_t> best; // the node that reaches a state at least cost
  using Entry = std::pair<double, int32_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open;
  int32_t current = -1;
  double bound = 0;
};

uint64_t Search::used(const State &s) const {
  uint64_t mask = s.partial;
  for (const Atoms &dim : s.dims)
    for (uint8_t atom : dim)
      mask |= uint64_t(1) << atom;
  return mask;
}

int64_t Search::neededTile(int32_t dim, int64_t shards) const {
  int64_t wanted = atoms.shards(goal.dims[dim]);
  if (wanted % shards == 0)
    return goal.tiles[dim] * (wanted / shards);
  if (shards % wanted == 0 && goal.tiles[dim] % (shards / wanted) == 0)
    return goal.tiles[dim] / (shards / wanted);
  return 0;
}

// Appends `by` to the axes of `dim` and divides its tile. An unsharded dimension may be padded to
// fit.
bool Search::split(State &s, int32_t dim, llvm::ArrayRef<uint8_t> by) const {
  int64_t k = atoms.shards(by);
  int64_t &tile = s.tiles[dim];
  if (s.dims[dim].empty()) {
    int64_t needed = neededTile(dim, k);
    tile = needed && needed * k >= tile ? needed : llvm::divideCeil(tile, k);
  } else {
    if (tile % k != 0)
      return false;
    tile /= k;
  }
  s.dims[dim].append(by.begin(), by.end());
  return true;
}

std::pair<double, double> Search::costOf(const State &before, const State &after,
                                         const Move &m) const {
  auto kind = cost::CollectiveKind::AllGather;
  double bytes = localBytes(before);
  switch (m.kind) {
  case ReshardKind::Slice:
    return {stepSeconds, 0};
  case ReshardKind::Retile: {
    const Atoms &dim = before.dims[m.dim];
    if (dim.empty())
      return {stepSeconds, 0};
    double seconds = stepSeconds, wire = 0;
    for (RetileShift shift :
         retileShifts(shape[m.dim], atoms.shards(dim), before.tiles[m.dim], after.tiles[m.dim])) {
      if (shift.distance == 0)
        continue;
      double moved = bytes / before.tiles[m.dim] * shift.rows;
      seconds += cost::collectiveSeconds(topology, mesh, cost::CollectiveKind::Permute, moved,
                                         atoms.refs(dim));
      wire += moved;
    }
    return {seconds, wire};
  }
  case ReshardKind::Broadcast:
    kind = cost::CollectiveKind::Broadcast;
    break;
  case ReshardKind::AllGather:
    bytes = localBytes(after);
    break;
  case ReshardKind::AllToAll: // padding travels, too
    kind = cost::CollectiveKind::AllToAll;
    bytes = std::max(bytes, localBytes(after));
    break;
  case ReshardKind::Permute:
    kind = cost::CollectiveKind::Permute;
    break;
  case ReshardKind::AllReduce:
    kind = cost::CollectiveKind::AllReduce;
    break;
  case ReshardKind::ReduceScatter:
    kind = cost::CollectiveKind::ReduceScatter;
    bytes = std::max(bytes, localBytes(after) * atoms.shards(m.atoms));
    break;
  }
  AxisRefs group = atoms.refs(m.atoms);
  return {stepSeconds + cost::collectiveSeconds(topology, mesh, kind, bytes, group),
          cost::wireBytes(kind, bytes, atoms.shards(m.atoms))};
}

void Search::add(State next, Move move) {
  const Node &from = nodes[current];
  auto [seconds, wire] = costOf(from.state, next, move);
  double total = from.seconds + seconds;
  if (total > bound)
    return;
  auto [it, fresh] = best.try_emplace(next, int32_t(nodes.size()));
  if (!fresh) {
    const Node &rival = nodes[it->second];
    if (total > rival.seconds * (1 + 1e-9))
      return;
    if (total >= rival.seconds * (1 - 1e-9)) {
      if (!isBetterEnd(move, rival.move))
        return;
      total = rival.seconds; // ahead of what is open
    }
    it->second = int32_t(nodes.size());
  }
  double wireTotal = from.wire + wire; // `from` dangles after the push
  nodes.push_back({std::move(next), current, std::move(move), total, wireTotal});
  open.push({total, int32_t(nodes.size() - 1)});
}

void Search::reductions(const State &s) {
  uint64_t due = s.partial & ~goal.partial;
  if (!due)
    return;
  Atoms all, elsewhere;
  for (uint8_t atom = 0; atom < atoms.count(); ++atom)
    if (due >> atom & 1) {
      all.push_back(atom);
      if (llvm::none_of(goal.dims, [&](const Atoms &dim) { return llvm::is_contained(dim, atom); }))
        elsewhere.push_back(atom);
    }
  auto without = [&](llvm::ArrayRef<uint8_t> gone) {
    State next = s;
    for (uint8_t atom : gone)
      next.partial &= ~(uint64_t(1) << atom);
    return next;
  };
  add(without(all), {ReshardKind::AllReduce, -1, -1, all});
  if (!elsewhere.empty() && elsewhere.size() < all.size())
    add(without(elsewhere), {ReshardKind::AllReduce, -1, -1, elsewhere});
  auto scatter = [&](int32_t d, const Atoms &by) {
    State next = without(by);
    if (split(next, d, by))
      add(std::move(next), {ReshardKind::ReduceScatter, d, -1, by});
  };
  for (int32_t d = 0; d < int32_t(s.dims.size()); ++d) {
    Atoms run;
    if (prefixOfGoal(s, d))
      for (size_t i = s.dims[d].size(); i < goal.dims[d].size() && (due >> goal.dims[d][i] & 1);
           ++i) {
        run.push_back(goal.dims[d][i]);
        scatter(d, run);
      }
    for (uint8_t atom : all)
      if (run.empty() || run.front() != atom)
        scatter(d, {atom});
  }
}

void Search::gathers(const State &s) {
  for (int32_t d = 0; d < int32_t(s.dims.size()); ++d) {
    if (prefixOfGoal(s, d) && neededTile(d, atoms.shards(s.dims[d])) == s.tiles[d])
      continue;
    if (!s.dims[d].empty() && s.tiles[d] >= shape[d]) {
      State next = s;
      next.dims[d].clear();
      add(std::move(next), {ReshardKind::Broadcast, d, -1, s.dims[d]});
    }
    for (size_t keep = s.dims[d].size(); keep-- > 0;) {
      State next = s;
      Atoms gone(s.dims[d].begin() + keep, s.dims[d].end());
      next.dims[d].truncate(keep);
      next.tiles[d] *= atoms.shards(gone);
      add(std::move(next), {ReshardKind::AllGather, d, -1, gone});
    }
  }
}

void Search::slices(const State &s) {
  uint64_t busy = used(s);
  auto slice = [&](int32_t d, const Atoms &by) {
    State next = s;
    if (split(next, d, by))
      add(std::move(next), {ReshardKind::Slice, d, -1, by});
  };
  for (int32_t d = 0; d < int32_t(s.dims.size()); ++d) {
    Atoms run;
    if (prefixOfGoal(s, d))
      for (size_t i = s.dims[d].size(); i < goal.dims[d].size() && !(busy >> goal.dims[d][i] & 1);
           ++i) {
        run.push_back(goal.dims[d][i]);
        slice(d, run);
      }
    for (uint8_t atom : goal.dims[d])
      if (!(busy >> atom & 1) && (run.empty() || run.front() != atom))
        slice(d, {atom});
  }
}

void Search::allToAlls(const State &s) {
  for (int32_t from = 0; from < int32_t(s.dims.size()); ++from) {
    if (prefixOfGoal(s, from) && neededTile(from, atoms.shards(s.dims[from])) == s.tiles[from])
      continue;
    for (size_t keep = s.dims[from].size(); keep-- > 0;) {
      Atoms moved(s.dims[from].begin() + keep, s.dims[from].end());
      int64_t k = atoms.shards(moved);
      for (int32_t to = 0; to < int32_t(s.dims.size()); ++to) {
        bool wanted = atoms.shards(goal.dims[to]) % (atoms.shards(s.dims[to]) * k) == 0 ||
                      llvm::all_of(moved, [&](uint8_t atom) {
                        return llvm::is_contained(goal.dims[to], atom);
                      });
        if (to == from || !wanted)
          continue;
        State next = s;
        next.dims[from].truncate(keep);
        next.tiles[from] *= k;
        if (split(next, to, moved))
          add(std::move(next), {ReshardKind::AllToAll, to, from, moved});
      }
    }
  }
}

// Two kinds: atoms replaced by the goal's of equal size at the same place; and, in one dimension,
// the goal's atoms put first so that the others can be gathered.
void Search::permutes(const State &s) {
  auto permute = [&](State next) {
    Atoms group;
    for (size_t d = 0; d < s.dims.size(); ++d)
      if (next.dims[d] != s.dims[d]) {
        group.append(s.dims[d].begin(), s.dims[d].end());
        group.append(next.dims[d].begin(), next.dims[d].end());
      }
    llvm::sort(group);
    group.erase(llvm::unique(group), group.end());
    if (!group.empty())
      add(std::move(next), {ReshardKind::Permute, -1, -1, group});
  };

  State next = s;
  uint64_t taken = s.partial;
  llvm::SmallVector<llvm::SmallVector<bool, 4>, 4> set(s.dims.size());
  for (size_t d = 0; d < s.dims.size(); ++d) {
    set[d].assign(s.dims[d].size(), false);
    for (size_t i = 0; i < s.dims[d].size() && i < goal.dims[d].size(); ++i) {
      uint8_t want = goal.dims[d][i];
      if (atoms.size(want) != atoms.size(s.dims[d][i]))
        break;
      if (taken >> want & 1)
        continue;
      next.dims[d][i] = want;
      set[d][i] = true;
      taken |= uint64_t(1) << want;
    }
  }
  bool fits = true;
  for (int pass = 0; pass < 2; ++pass) // first those that can stay, then the displaced
    for (size_t d = 0; d < s.dims.size(); ++d)
      for (size_t i = 0; i < s.dims[d].size(); ++i) {
        if (set[d][i])
          continue;
        uint8_t own = s.dims[d][i];
        if (pass == 0 && !(taken >> own & 1)) {
          taken |= uint64_t(1) << own;
          set[d][i] = true;
        } else if (pass == 1) {
          uint8_t other = 0;
          while (other < atoms.count() &&
                 ((taken >> other & 1) || atoms.size(other) != atoms.size(own)))
            ++other;
          if (other == atoms.count()) {
            fits = false;
          } else {
            next.dims[d][i] = other;
            taken |= uint64_t(1) << other;
          }
        }
      }
  if (fits)
    permute(std::move(next));

  for (size_t d = 0; d < s.dims.size(); ++d) {
    if (s.dims[d].size() < 2)
      continue;
    State first = s;
    Atoms &order = first.dims[d];
    order.clear();
    for (uint8_t atom : goal.dims[d])
      if (llvm::is_contained(s.dims[d], atom))
        order.push_back(atom);
    for (uint8_t atom : s.dims[d])
      if (!llvm::is_contained(order, atom))
        order.push_back(atom);
    permute(std::move(first));
  }
}

void Search::retiles(const State &s) {
  for (int32_t d = 0; d < int32_t(s.dims.size()); ++d) {
    int64_t needed = neededTile(d, atoms.shards(s.dims[d]));
    auto retile = [&](int64_t tile) {
      if (!tile || tile == s.tiles[d] || tile * atoms.shards(s.dims[d]) < shape[d])
        return;
      State next = s;
      next.tiles[d] = tile;
      add(std::move(next), {ReshardKind::Retile, d, -1, {}});
    };
    retile(needed);
    if (s.dims[d].empty())
      retile(shape[d]);
  }
}

void Search::expand(int32_t from) {
  current = from;
  State s = nodes[from].state;
  slices(s);
  reductions(s);
  gathers(s);
  allToAlls(s);
  permutes(s);
  retiles(s);
}

// What always works: reduce, gather every dimension that is not right, slice it again.
double Search::gatherAndSlice(std::vector<Node> &path) {
  path.assign(1, {start, -1, {}, 0, 0});
  auto step = [&](State next, Move move) {
    auto [seconds, wire] = costOf(path.back().state, next, move);
    path.push_back({std::move(next), int32_t(path.size() - 1), std::move(move),
                    path.back().seconds + seconds, path.back().wire + wire});
  };
  if (uint64_t due = start.partial & ~goal.partial) {
    Atoms all;
    for (uint8_t atom = 0; atom < atoms.count(); ++atom)
      if (due >> atom & 1)
        all.push_back(atom);
    State next = start;
    next.partial = goal.partial;
    step(std::move(next), {ReshardKind::AllReduce, -1, -1, all});
  }
  auto right = [&](size_t d) {
    return start.dims[d] == goal.dims[d] && start.tiles[d] == goal.tiles[d];
  };
  for (int32_t d = 0; d < int32_t(shape.size()); ++d) {
    if (right(d))
      continue;
    State next = path.back().state;
    Atoms gone = next.dims[d];
    if (!gone.empty()) {
      next.dims[d].clear();
      next.tiles[d] *= atoms.shards(gone);
      step(next, {ReshardKind::AllGather, d, -1, gone});
    }
    if (next.tiles[d] != shape[d]) {
      next.tiles[d] = shape[d];
      step(std::move(next), {ReshardKind::Retile, d, -1, {}});
    }
  }
  for (int32_t d = 0; d < int32_t(shape.size()); ++d) {
    if (right(d))
      continue;
    State next = path.back().state;
    if (!goal.dims[d].empty()) {
      next.dims[d] = goal.dims[d];
      next.tiles[d] = goal.tiles[d];
      step(std::move(next), {ReshardKind::Slice, d, -1, goal.dims[d]});
    } else if (next.tiles[d] != goal.tiles[d]) {
      next.tiles[d] = goal.tiles[d];
      step(std::move(next), {ReshardKind::Retile, d, -1, {}});
    }
  }
  return path.back().seconds;
}

std::vector<Search::Node> Search::run(int64_t budget) {
  std::vector<Node> path;
  bound = gatherAndSlice(path);
  nodes.push_back({start, -1, {}, 0, 0});
  best[start] = 0; // the node above
  open.push({0, 0});
  while (!open.empty() && budget-- > 0) {
    int32_t at = open.top().second;
    open.pop();
    if (best[nodes[at].state] != at)
      continue;
    if (nodes[at].state == goal) {
      path.clear();
      for (int32_t i = at; i >= 0; i = nodes[i].parent)
        path.push_back(nodes[i]);
      std::reverse(path.begin(), path.end());
      return path;
    }
    expand(at);
  }
  return path;
}

State toState(const LocalLayout &layout, const AxisAtoms &atoms) {
  State s;
  for (const DimLayout &dim : layout.dims) {
    s.dims.push_back(atoms.cut(dim.axes));
    s.tiles.push_back(dim.tile);
  }
  for (uint8_t atom : atoms.cut(layout.partial))
    s.partial |= uint64_t(1) << atom;
  return s;
}

LocalLayout toLayout(const State &s, const AxisAtoms &atoms, ReductionKind reduction) {
  LocalLayout layout;
  layout.reduction = reduction;
  for (auto [axes, tile] : llvm::zip_equal(s.dims, s.tiles))
    layout.dims.push_back({atoms.refs(axes), tile});
  Atoms partial;
  for (uint8_t atom = 0; atom < atoms.count(); ++atom)
    if (s.partial >> atom & 1)
      partial.push_back(atom);
  layout.partial = atoms.refs(partial);
  return layout;
}

llvm::SmallVector<AxisRef> allRefs(const LocalLayout &a, const LocalLayout &b) {
  llvm::SmallVector<AxisRef> refs;
  for (const LocalLayout *layout : {&a, &b}) {
    for (const DimLayout &dim : layout->dims)
      refs.append(dim.axes.begin(), dim.axes.end());
    refs.append(layout->partial.begin(), layout->partial.end());
  }
  return refs;
}

} // namespace

ReshardPlan planReshard(const Mesh &mesh, llvm::ArrayRef<int64_t> globalShape, int64_t elementBytes,
                        const LocalLayout &from, const LocalLayout &to,
                        const cost::Topology &topology) {
  ReshardPlan plan;
  if (from == to)
    return plan;
  llvm::SmallVector<AxisRef> refs = allRefs(from, to);
  AxisAtoms whole(mesh, refs, /*primes=*/false);
  if (!whole.valid() ||
      whole.count() > 60) { // parts that do not divide one another: through whole dimensions
    LocalLayout between = to;
    for (size_t d = 0; d < globalShape.size(); ++d)
      between.dims[d] = {{}, globalShape[d]};
    between.reduction = from.reduction;
    plan = planReshard(mesh, globalShape, elementBytes, from, between, topology);
    ReshardPlan rest = planReshard(mesh, globalShape, elementBytes, between, to, topology);
    plan.steps.insert(plan.steps.end(), rest.steps.begin(), rest.steps.end());
    plan.seconds += rest.seconds;
    plan.wireBytes += rest.wireBytes;
    return plan;
  }
  State start = toState(from, whole), goal = toState(to, whole);
  const AxisAtoms *cut = &whole;
  auto path = Search(mesh, globalShape, elementBytes, whole, start, goal, topology).run(2000);

  // Finer parts only help where a dimension's shards change by a part of an axis.
  AxisAtoms fine(mesh, refs, /*primes=*/true);
  if (path.back().wire > 0 && fine.count() > whole.count() && fine.count() <= 8) {
    State fineStart = toState(from, fine), fineGoal = toState(to, fine);
    auto finer =
        Search(mesh, globalShape, elementBytes, fine, fineStart, fineGoal, topology).run(300);
    if (finer.back().seconds < path.back().seconds) {
      path = std::move(finer);
      cut = &fine;
    }
  }
  plan.seconds = path.back().seconds;
  plan.wireBytes = path.back().wire;
  for (auto &node : llvm::drop_begin(path))
    plan.steps.push_back({node.move.kind, node.move.dim, node.move.fromDim,
                          cut->refs(node.move.atoms), toLayout(node.state, *cut, from.reduction)});
  return plan;
}

llvm::SmallVector<RetileShift> retileShifts(int64_t size, int64_t shards, int64_t fromTile,
                                            int64_t toTile) {
  std::map<int64_t, int64_t> rows;
  for (int64_t i = 0; i < shards; ++i) {
    int64_t begin = i * toTile, end = std::min(size, begin + toTile);
    for (int64_t at = begin; at < end;) {
      int64_t source = at / fromTile;
      int64_t upto = std::min(end, (source + 1) * fromTile);
      rows[source - i] = std::max(rows[source - i], upto - at);
      at = upto;
    }
  }
  llvm::SmallVector<RetileShift> shifts;
  for (auto [distance, count] : rows)
    shifts.push_back({distance, count});
  return shifts;
}

llvm::SmallVector<std::pair<int64_t, int64_t>> permutePairs(const Mesh &mesh,
                                                            const LocalLayout &from,
                                                            const LocalLayout &to,
                                                            llvm::ArrayRef<AxisRef> axes) {
  llvm::SmallVector<AxisRef> refs = allRefs(from, to);
  refs.append(axes.begin(), axes.end());
  AxisAtoms atoms(mesh, refs, /*primes=*/false);
  Atoms group = atoms.cut(axes);
  int64_t ranks = atoms.shards(group);
  llvm::SmallVector<int64_t> coordinate(atoms.count(), 0);
  auto blockOf = [&](const LocalLayout &layout) {
    llvm::SmallVector<int64_t, 4> block;
    for (const DimLayout &dim : layout.dims) {
      int64_t index = 0;
      for (uint8_t atom : atoms.cut(dim.axes))
        index = index * atoms.size(atom) + coordinate[atom];
      block.push_back(index);
    }
    return std::vector<int64_t>(block.begin(), block.end());
  };
  std::vector<std::vector<int64_t>> held(ranks), needed(ranks);
  std::map<std::vector<int64_t>, llvm::SmallVector<int64_t, 2>> holders;
  for (int64_t rank = 0; rank < ranks; ++rank) {
    int64_t rest = rank;
    for (uint8_t atom : llvm::reverse(group)) {
      coordinate[atom] = rest % atoms.size(atom);
      rest /= atoms.size(atom);
    }
    held[rank] = blockOf(from);
    needed[rank] = blockOf(to);
    if (held[rank] != needed[rank])
      holders[held[rank]].push_back(rank);
  }
  llvm::SmallVector<std::pair<int64_t, int64_t>> pairs;
  for (int64_t rank = 0; rank < ranks; ++rank) {
    if (held[rank] == needed[rank]) {
      pairs.push_back({rank, rank});
      continue;
    }
    auto &sources = holders[needed[rank]];
    assert(!sources.empty() && "as many devices hold a block as need it");
    pairs.push_back({sources.pop_back_val(), rank});
  }
  return pairs;
}

const ReshardPlan &ReshardPlanner::plan(llvm::ArrayRef<int64_t> globalShape, int64_t elementBytes,
                                        const LocalLayout &from, const LocalLayout &to) {
  std::string key;
  auto number = [&](int64_t n) { key.append(reinterpret_cast<const char *>(&n), sizeof n); };
  auto axesKey = [&](llvm::ArrayRef<AxisRef> axes) {
    number(axes.size());
    for (const AxisRef &axis : axes) {
      number(axis.axis);
      number(axis.preSize);
      number(axis.size);
    }
  };
  number(elementBytes);
  for (int64_t n : globalShape)
    number(n);
  for (const LocalLayout *layout : {&from, &to}) {
    for (const DimLayout &dim : layout->dims) {
      number(dim.tile);
      axesKey(dim.axes);
    }
    axesKey(layout->partial);
    number(int64_t(layout->reduction));
  }
  auto [it, fresh] = plans.try_emplace(std::move(key));
  if (fresh)
    it->second = planReshard(mesh, globalShape, elementBytes, from, to, topology);
  return it->second;
}

} // namespace tessera::sharding
