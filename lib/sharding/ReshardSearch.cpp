#include "lib/sharding/ReshardSearch.h"

#include "lib/sharding/ContentKey.h"
#include "lib/sharding/ReshardDigits.h"
#include "lib/sharding/ReshardExchange.h"
#include "lib/sharding/ReshardMoves.h"
#include "lib/sharding/ReshardPrice.h"
#include "lib/sharding/ReshardRest.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <queue>
#include <unordered_set>

namespace tessera::sharding {
namespace {

size_t hashOf(const ReshardState &state) {
  uint64_t hash = state.partial;
  auto add = [&](uint64_t what) {
    hash = (hash ^ what) * 0x9e3779b97f4a7c15;
    hash ^= hash >> 29;
  };
  for (int64_t tile : state.tiles)
    add(uint64_t(tile));
  for (const AtomList &dim : state.dims) {
    add(dim.size());
    for (uint8_t atom : dim)
      add(atom);
  }
  return hash;
}

class Search {
public:
  Search(const Mesh &mesh, llvm::ArrayRef<int64_t> shape, int64_t elementBytes,
         const AxisAtoms &atoms, const ReshardState &start, const ReshardState &goal,
         const cost::Topology &topology)
      : mesh(mesh), shape(shape), elementBytes(elementBytes), atoms(atoms), start(start),
        goal(goal), topology(topology), moves(shape, atoms, goal),
        rest(mesh, shape, elementBytes, atoms, goal, topology) {}

  struct Node {
    ReshardState state;
    int32_t parent;
    ReshardMove move;
    double seconds, wire;
  };

  // The cheapest path within `budget` expanded states that takes no more than `limit`, never more expensive
  // than gathering and slicing.
  std::vector<Node> run(int64_t budget, double limit);

private:
  double localBytes(const ReshardState &s) const {
    double n = elementBytes;
    for (int64_t tile : s.tiles)
      n *= tile;
    return n;
  }
  double gatherAndSlice(std::vector<Node> &path);
  void expand(int32_t from);
  void add(const ReshardState &next, const ReshardMove &move);
  StepPrice costOf(const ReshardState &before, const ReshardState &after, const ReshardMove &m);

  // Atoms along which collectives go, and what those take that were asked for: mostly of few sizes.
  struct Along {
    struct Priced {
      ReshardKind kind;
      double before, after; // bytes
      StepPrice price;
    };
    AtomList atoms;
    cost::CollectiveGroup group;
    llvm::SmallVector<Priced, 0> known;
  };
  Along &along(const AtomList &some);

  const Mesh &mesh;
  llvm::ArrayRef<int64_t> shape;
  int64_t elementBytes;
  const AxisAtoms &atoms;
  const ReshardState &start, &goal;
  const cost::Topology &topology;
  ReshardMoves moves;
  ReshardRest rest;

  std::vector<Node> nodes;
  std::deque<Along> alongs; // few
  // The nodes that reach their states at least cost, found by the state.
  struct ByState {
    const std::vector<Node> *nodes;
    size_t operator()(int32_t node) const { return hashOf((*nodes)[node].state); }
    bool operator()(int32_t a, int32_t b) const { return (*nodes)[a].state == (*nodes)[b].state; }
  };
  std::unordered_set<int32_t, ByState, ByState> best{64, ByState{&nodes}, ByState{&nodes}};
  using Entry = std::pair<double, int32_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open;
  int32_t current = -1;
  double bound = 0;
};

Search::Along &Search::along(const AtomList &some) {
  for (Along &each : alongs)
    if (each.atoms == some)
      return each;
  return alongs.emplace_back(
      Along{some, cost::collectiveGroup(topology, mesh, atoms.refs(some)), {}});
}

StepPrice Search::costOf(const ReshardState &before, const ReshardState &after,
                         const ReshardMove &m) {
  constexpr size_t kMost = 32; // that are kept
  if (m.kind == ReshardKind::Slice)
    return kLocalStep;
  double bytes = localBytes(before), left = localBytes(after);
  if (m.kind == ReshardKind::Retile)
    return retilePrice(shape[m.dim], before.tiles[m.dim], after.tiles[m.dim], bytes,
                       atoms.refs(before.dims[m.dim]), mesh, topology);
  Along &way = along(m.atoms);
  for (const Along::Priced &each : way.known)
    if (each.kind == m.kind && each.before == bytes && each.after == left)
      return each.price;
  StepPrice price = priceOf(m.kind, bytes, left, way.group, mesh, topology);
  if (way.known.size() < kMost)
    way.known.push_back({m.kind, bytes, left, price});
  return price;
}

void Search::add(const ReshardState &next, const ReshardMove &move) {
  const Node &from = nodes[current];
  double left = rest.least(next);
  if (from.seconds + left > bound)
    return;
  StepPrice price = costOf(from.state, next, move);
  double total = from.seconds + price.seconds;
  if (total + left > bound)
    return;
  double wireTotal = from.wire + price.wireBytes; // `from` dangles after the push
  nodes.push_back({next, current, move, total, wireTotal});
  auto number = int32_t(nodes.size() - 1);
  auto [it, fresh] = best.insert(number);
  if (!fresh) {
    if (total >= nodes[*it].seconds * (1 - 1e-12)) {
      nodes.pop_back();
      return;
    }
    best.erase(it);
    best.insert(number);
  }
  if (left == 0 && next == goal)
    bound = total; // no path that takes longer matters any more
  open.push({total, number});
}

void Search::expand(int32_t from) {
  current = from;
  ReshardState state = nodes[from].state; // `nodes` grows meanwhile
  moves.from(state, [&](const ReshardState &next, const ReshardMove &move) { add(next, move); });
}

// What always works: reduce, gather every dimension that is not right, slice it again.
double Search::gatherAndSlice(std::vector<Node> &path) {
  path.assign(1, {start, -1, {}, 0, 0});
  auto step = [&](ReshardState next, ReshardMove move) {
    StepPrice price = costOf(path.back().state, next, move);
    path.push_back({std::move(next), int32_t(path.size() - 1), std::move(move),
                    path.back().seconds + price.seconds, path.back().wire + price.wireBytes});
  };
  if (uint64_t due = start.partial & ~goal.partial) {
    AtomList all;
    for (uint8_t atom = 0; atom < atoms.count(); ++atom)
      if (due >> atom & 1)
        all.push_back(atom);
    ReshardState next = start;
    next.partial = goal.partial;
    step(std::move(next), {ReshardKind::AllReduce, -1, -1, all});
  }
  auto right = [&](size_t d) {
    return start.dims[d] == goal.dims[d] && start.tiles[d] == goal.tiles[d];
  };
  for (int32_t d = 0; d < int32_t(shape.size()); ++d) {
    if (right(d))
      continue;
    ReshardState next = path.back().state;
    AtomList gone = next.dims[d];
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
    ReshardState next = path.back().state;
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

std::vector<Search::Node> Search::run(int64_t budget, double limit) {
  std::vector<Node> path;
  bound = std::min(gatherAndSlice(path), limit);
  nodes.push_back({start, -1, {}, 0, 0});
  best.insert(0); // the node above
  open.push({0, 0});
  while (!open.empty() && budget-- > 0) {
    int32_t at = open.top().second;
    open.pop();
    if (*best.find(at) != at)
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

} // namespace

// The cheapest sequence of moves between layouts; at most `limit` where there is one.
static ReshardPlan searchLayouts(const Mesh &mesh, llvm::ArrayRef<int64_t> shape,
                                 int64_t elementBytes, const LocalLayout &from,
                                 const LocalLayout &to, const cost::Topology &topology,
                                 std::optional<double> limit) {
  llvm::SmallVector<AxisRef> refs = allRefs(from, to);
  AxisAtoms whole(mesh, refs, /*primes=*/false), fine(mesh, refs, /*primes=*/true);
  auto search = [&](const AxisAtoms &atoms, int64_t budget, double most) {
    ReshardState start = toState(from, atoms), goal = toState(to, atoms);
    return Search(mesh, shape, elementBytes, atoms, start, goal, topology).run(budget, most);
  };
  const AxisAtoms *cut = &whole;
  auto path = search(whole, 2000, limit.value_or(std::numeric_limits<double>::infinity()));
  // Finer parts only help where a dimension's shards change by a part of an axis.
  if (!limit && path.back().wire > 0 && fine.count() > whole.count() && fine.count() <= 8) {
    auto finer = search(fine, 300, std::nextafter(path.back().seconds, 0));
    if (finer.back().seconds < path.back().seconds) {
      path = std::move(finer);
      cut = &fine;
    }
  }
  ReshardPlan plan;
  plan.seconds = path.back().seconds;
  plan.wireBytes = path.back().wire;
  for (auto &node : llvm::drop_begin(path)) {
    ReshardStep step;
    step.kind = node.move.kind;
    step.dim = node.move.dim;
    step.fromDim = node.move.fromDim;
    step.axes = cut->refs(node.move.atoms);
    step.after = toLayout(node.state, *cut, from.reduction);
    plan.steps.push_back(std::move(step));
  }
  return plan;
}

ReshardPlan planReshard(const Mesh &mesh, llvm::ArrayRef<int64_t> shape, int64_t elementBytes,
                        const LocalLayout &from, const LocalLayout &to,
                        const cost::Topology &topology) {
  if (from == to)
    return {};
  AxisAtoms atoms(mesh, allRefs(from, to), /*primes=*/false);
  if (!atoms.valid() ||
      atoms.count() >
          AtomList::kMost) { // parts that do not divide one another: through whole dimensions
    LocalLayout between = to;
    for (size_t d = 0; d < shape.size(); ++d)
      between.dims[d] = {{}, shape[d]};
    between.partial.clear(); // parts of partial values, too
    between.reduction = from.reduction;
    ReshardPlan plan = planReshard(mesh, shape, elementBytes, from, between, topology);
    ReshardPlan rest = planReshard(mesh, shape, elementBytes, between, to, topology);
    plan.steps.insert(plan.steps.end(), rest.steps.begin(), rest.steps.end());
    plan.seconds += rest.seconds;
    plan.wireBytes += rest.wireBytes;
    return plan;
  }
  auto digits = planByDigits(mesh, shape, elementBytes, from, to, topology);
  ReshardPlan plan = searchLayouts(mesh, shape, elementBytes, from, to, topology,
                                   digits ? std::optional<double>(digits->seconds) : std::nullopt);
  if (digits && digits->seconds < plan.seconds * (1 - 1e-12))
    plan = std::move(*digits);
  if (auto exchange = planByExchange(mesh, shape, elementBytes, from, to, topology, plan.seconds))
    return std::move(*exchange);
  return plan;
}

const ReshardPlan &ReshardPlanner::plan(llvm::ArrayRef<int64_t> globalShape, int64_t elementBytes,
                                        const LocalLayout &from, const LocalLayout &to) {
  std::string key;
  appendKey(key, elementBytes);
  for (int64_t n : globalShape)
    appendKey(key, n);
  for (const LocalLayout *layout : {&from, &to}) {
    for (const DimLayout &dim : layout->dims) {
      appendKey(key, dim.tile);
      appendKey(key, dim.axes);
    }
    appendKey(key, layout->partial);
    appendKey(key, int(layout->reduction));
  }
  auto [it, fresh] = plans.try_emplace(std::move(key));
  if (fresh)
    it->second = planReshard(mesh, globalShape, elementBytes, from, to, topology);
  return it->second;
}

} // namespace tessera::sharding
