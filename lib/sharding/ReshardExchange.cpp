#include "lib/sharding/ReshardExchange.h"

#include "lib/sharding/AxisAtoms.h"
#include "lib/sharding/ReshardMoves.h"
#include "lib/sharding/ReshardPrice.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

namespace tessera::sharding {
namespace {

double elements(llvm::ArrayRef<int64_t> shape) {
  double n = 1;
  for (int64_t size : shape)
    n *= size;
  return n;
}

// Whether all parts that move are of one size, so that they need not be cut to be.
bool areAlike(const ShardExchange &exchange) {
  const ExchangeRound *first = nullptr;
  for (const ExchangeRound &round : exchange.rounds) {
    if (round.pairs.empty())
      continue;
    first = first ? first : &round;
    if (round.shape != first->shape)
      return false;
    for (size_t pair = 1; pair < round.pairs.size(); pair += 2) // targets
      for (auto [size, rows] : llvm::zip_equal(round.shape, round.rows))
        if (rows[round.pairs[pair]] != size)
          return false;
  }
  return true;
}

class Planner {
public:
  Planner(const Mesh &mesh, llvm::ArrayRef<int64_t> shape, int64_t elementBytes,
          const LocalLayout &from, const LocalLayout &to, const cost::Topology &topology)
      : mesh(mesh), shape(shape), elementBytes(elementBytes), from(from), to(to),
        topology(topology), atoms(mesh, allRefs(from, to), /*primes=*/false) {
    if (atoms.valid())
      for (size_t atom = 0; atom < atoms.count(); ++atom)
        all.push_back(atoms.refs({uint8_t(atom)}).front());
  }

  bool applies() const {
    return atoms.valid() && shardCount(from.partial) <= 1 && !llvm::is_contained(shape, 0);
  }
  // Axes that the target does not use.
  AxisRefs released() const {
    AxisRefs axes;
    for (const AxisRef &axis : all)
      if (llvm::none_of(to.dims, [&](const DimLayout &d) { return overlap(d.axes, axis); }))
        axes.push_back(axis);
    return axes;
  }

  // What plan(dim, within) takes at least: a device that needs parts of several others' arrays
  // receives them in as many rounds, and has at most one array itself.
  double leastSeconds(int32_t dim, llvm::ArrayRef<AxisRef> within) const {
    double part = 1, common = 1, sources = 1, whole = elementBytes;
    bool apart = false; // some device has nothing of what it needs
    for (auto [d, own, wanted] : llvm::enumerate(from.dims, to.dims)) {
      int64_t rows =
          int32_t(d) == dim ? llvm::divideCeil(wanted.tile, shardCount(within)) : wanted.tile;
      part *= rows;
      common *= std::min(own.tile, rows);
      sources *= llvm::divideCeil(rows, own.tile);
      whole *= int32_t(d) == dim ? rows * shardCount(within) : rows;
      Atoms a = atoms.cut(own.axes), b = atoms.cut(wanted.axes);
      apart |= !std::equal(a.begin(), a.begin() + std::min(a.size(), b.size()), b.begin());
    }
    double bytes = elementBytes * (apart ? part : part - common);
    double rounds = std::max(1.0, sources - 1);
    return (2 * rounds - 1) * permuteSeconds(0) + permuteSeconds(bytes) +
           priceOf(ReshardKind::AllGather, 0, whole, within, mesh, topology).seconds;
  }

  // With dimension `dim` of the target cut along `within`, which is gathered at the end; -1: none.
  // Whether parts come `alike` anyway is said in `isAlike`.
  std::optional<ReshardPlan> plan(int32_t dim, AxisRefs within, bool alike, bool &isAlike) {
    std::vector<WantedDim> wanted;
    for (const DimLayout &d : to.dims)
      wanted.push_back({d.axes, d.tile, {}, d.tile});
    LocalLayout after = to;
    llvm::SmallVector<int64_t> seen;
    int64_t parts = shardCount(within);
    if (dim >= 0) { // the dimension is seen as two: tiles, and rows of a tile
      int64_t tile = to.dims[dim].tile, part = llvm::divideCeil(tile, parts);
      wanted[dim].within = within;
      wanted[dim].part = part;
      after.dims[dim].tile = 1;
      after.dims.insert(after.dims.begin() + dim + 1, DimLayout{within, part});
      seen.assign(shape.begin(), shape.end());
      seen[dim] = shardCount(to.dims[dim].axes);
      seen.insert(seen.begin() + dim + 1, tile);
    }
    std::optional<ShardExchange> exchange =
        planShardExchange(mesh, shape, from.dims, wanted, alike);
    if (!exchange)
      return std::nullopt;
    isAlike = areAlike(*exchange);
    made = {};
    for (const ExchangeRound &round : exchange->rounds) {
      if (round.pairs.empty())
        continue;
      // Cutting a part out and putting it in its place takes as long as another message's latency.
      made.seconds += permuteSeconds(0);
      pay(kLocalStep);
      pay(kLocalStep);
      pay(priceOf(ReshardKind::Permute, elementBytes * elements(round.shape), 0, exchange->axes,
                  mesh, topology));
    }
    AxisRefs along = exchange->axes;
    auto rounds = std::make_shared<const ShardExchange>(std::move(*exchange));
    made.steps.push_back({ReshardKind::Exchange, -1, -1, along, after, {}, {}, seen, rounds});
    if (dim >= 0) {
      DimLayout &rows = after.dims[dim + 1];
      rows = {{}, rows.tile * parts};
      pay(priceOf(ReshardKind::AllGather, 0, bytesOf(after), within, mesh, topology));
      made.steps.push_back({ReshardKind::AllGather, dim + 1, -1, within, after, {}, {}, {}, {}});
      if (rows.tile != to.dims[dim].tile) {
        rows.tile = to.dims[dim].tile;
        pay(kLocalStep);
        made.steps.push_back({ReshardKind::Retile, dim + 1, -1, {}, after, {}, {}, {}, {}});
      }
      llvm::SmallVector<int64_t> order;
      for (size_t d = 0; d < after.dims.size(); ++d)
        order.push_back(d);
      pay(kLocalStep);
      made.steps.push_back({ReshardKind::View,
                            -1,
                            -1,
                            {},
                            to,
                            localShape(after),
                            order,
                            llvm::SmallVector<int64_t>(shape),
                            {}});
    }
    return std::move(made);
  }

private:
  void pay(StepPrice price) {
    made.seconds += price.seconds;
    made.wireBytes += price.wireBytes;
  }
  double permuteSeconds(double bytes) const {
    return cost::collectiveSeconds(topology, mesh, cost::CollectiveKind::Permute, bytes, all);
  }
  double bytesOf(const LocalLayout &layout) const {
    return elementBytes * elements(localShape(layout));
  }

  const Mesh &mesh;
  llvm::ArrayRef<int64_t> shape;
  int64_t elementBytes;
  const LocalLayout &from, &to;
  const cost::Topology &topology;
  AxisAtoms atoms;
  AxisRefs all; // of either
  ReshardPlan made;
};

} // namespace

std::optional<ReshardPlan> planByExchange(const Mesh &mesh, llvm::ArrayRef<int64_t> shape,
                                          int64_t elementBytes, const LocalLayout &from,
                                          const LocalLayout &to, const cost::Topology &topology,
                                          double seconds) {
  std::optional<ReshardPlan> best;
  Planner planner(mesh, shape, elementBytes, from, to, topology);
  if (!planner.applies())
    return best;
  auto consider = [&](int32_t dim, const AxisRefs &within) {
    if (planner.leastSeconds(dim, within) >= seconds * (1 - 1e-12))
      return;
    bool isAlike = false;
    for (bool alike : {false, true}) {
      if (isAlike)
        break;
      std::optional<ReshardPlan> plan = planner.plan(dim, within, alike, isAlike);
      if (plan && plan->seconds < seconds * (1 - 1e-12)) {
        seconds = plan->seconds;
        best = std::move(plan);
      }
    }
  };
  AxisRefs released = planner.released();
  consider(-1, {});
  for (int32_t d = 0; d < int32_t(shape.size()); ++d) {
    if (released.empty() || to.dims[d].tile < 2)
      continue;
    consider(d, normalized(released));
    if (released.size() > 1)
      for (const AxisRef &axis : released)
        consider(d, {axis});
  }
  return best;
}

} // namespace tessera::sharding
