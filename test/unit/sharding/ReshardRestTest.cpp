// What a search leaves out by it: nothing that a search without it would find.
#include "lib/sharding/ReshardRest.h"
#include "lib/sharding/FactorAxes.h"
#include "lib/sharding/ReshardPrice.h"
#include "test/unit/sharding/RandomShardings.h"

#include "gtest/gtest.h"
#include <map>
#include <set>

namespace tessera::sharding {
namespace {

cost::Topology hosts() {
  cost::Topology topology = cost::defaultTopology();
  topology.network.levels = {{"host", 4, {1e-6, 2e11, 1}}, {"all", 0, {5e-6, 2e10, 1}}};
  return topology;
}

cost::Topology torus() {
  cost::Topology topology = cost::defaultTopology();
  topology.network.levels.clear();
  topology.network.link = {1e-6, 5e10, 2};
  return topology;
}

using Key = std::vector<int64_t>;
Key keyOf(const ReshardState &state) {
  Key key(state.tiles.begin(), state.tiles.end());
  key.push_back(int64_t(state.partial));
  for (const AtomList &dim : state.dims) {
    key.push_back(-1 - int64_t(dim.size()));
    key.insert(key.end(), dim.begin(), dim.end());
  }
  return key;
}

struct Case {
  const Mesh &mesh;
  Shape shape;
  int64_t elementBytes;
  const AxisAtoms &atoms;
  ReshardState start, goal;
  const cost::Topology &topology;

  double price(const ReshardState &before, const ReshardState &after,
               const ReshardMove &move) const {
    auto bytes = [&](const ReshardState &state) {
      double n = double(elementBytes);
      for (int64_t tile : state.tiles)
        n *= double(tile);
      return n;
    };
    if (move.kind == ReshardKind::Retile)
      return retilePrice(shape[move.dim], before.tiles[move.dim], after.tiles[move.dim],
                         bytes(before), atoms.refs(before.dims[move.dim]), mesh, topology)
          .seconds;
    return priceOf(move.kind, bytes(before), bytes(after), atoms.refs(move.atoms), mesh, topology)
        .seconds;
  }

  // Of states that cheapest moves lead to, until one is the goal: what these moves take, on the way to the
  // goal. Nothing is left out.
  std::vector<std::pair<ReshardState, double>> cheapestPath() const {
    struct Reached {
      ReshardState state;
      double seconds;
      Key from;
    };
    std::map<Key, Reached> reached;
    std::set<std::pair<double, Key>> open;
    ReshardMoves moves(shape, atoms, goal);
    reached[keyOf(start)] = {start, 0, {}};
    open.insert({0, keyOf(start)});
    std::set<Key> done;
    while (!open.empty()) {
      auto [seconds, key] = *open.begin();
      open.erase(open.begin());
      if (!done.insert(key).second)
        continue;
      ReshardState state = reached[key].state;
      if (state == goal)
        break;
      moves.from(state, [&](ReshardState next, const ReshardMove &move) {
        double total = seconds + price(state, next, move);
        auto [it, isNew] = reached.try_emplace(keyOf(next), Reached{next, total, key});
        if (!isNew && it->second.seconds <= total)
          return;
        it->second = {next, total, key};
        open.insert({total, it->first});
      });
    }
    std::vector<std::pair<ReshardState, double>> path;
    auto at = reached.find(keyOf(goal));
    if (at == reached.end())
      return path;
    double all = at->second.seconds;
    for (Key key = at->first; !key.empty(); key = reached[key].from)
      path.push_back({reached[key].state, all - reached[key].seconds});
    return path;
  }
};

TEST(ReshardRest, IsNeverAboveWhatTheCheapestMovesTake) {
  Random random{std::mt19937(17)};
  int checked = 0, positive = 0;
  for (const cost::Topology &topology : {cost::defaultTopology(), hosts(), torus()})
    for (int i = 0; i < 600; ++i) {
      Mesh mesh = random.mesh();
      Shape shape{1 + random(3) * 5, int64_t(24) << random(12)};
      TensorSharding from = random.sharding(mesh, 2, true), to = random.sharding(mesh, 2, false);
      LocalLayout a = canonicalLayout(shape, from), b = canonicalLayout(shape, to);
      AxisAtoms atoms(mesh, allRefs(a, b), /*primes=*/true);
      if (!atoms.valid() || atoms.count() > 5)
        continue;
      Case one{mesh, shape, 4, atoms, toState(a, atoms), toState(b, atoms), topology};
      ReshardRest rest(mesh, one.shape, 4, atoms, one.goal, topology);
      for (const auto &[state, seconds] : one.cheapestPath()) {
        double least = rest.least(state);
        EXPECT_LE(least, seconds * (1 + 1e-9));
        ++checked;
        positive += least > seconds / 2;
      }
    }
  EXPECT_GT(checked, 300);
  EXPECT_GT(positive, checked / 4); // and says something
}

// x:4 in another order is not one ring of four.
TEST(ReshardRest, PartsOfAnAxisMayBeRingsOfTheirOwn) {
  Mesh mesh{"mesh", {{"x", 4}}, {}};
  cost::Topology topology = torus();
  TensorSharding from = TensorSharding::replicatedOver(1), to = from;
  from.dims[0].axes = {{0, 2, 2}, {0, 1, 2}};
  Shape shape{1 << 18};
  LocalLayout a = canonicalLayout(shape, from), b = canonicalLayout(shape, to);
  AxisAtoms atoms(mesh, allRefs(a, b), /*primes=*/true);
  Case one{mesh, shape, 4, atoms, toState(a, atoms), toState(b, atoms), topology};
  ReshardRest rest(mesh, one.shape, 4, atoms, one.goal, topology);
  EXPECT_LE(rest.least(one.start), one.cheapestPath().back().second);
}

TEST(ReshardRest, SearchFindsWhatOneWithoutItFinds) {
  Random random{std::mt19937(3)};
  for (const cost::Topology &topology : {cost::defaultTopology(), hosts(), torus()})
    for (int i = 0; i < 60; ++i) {
      Mesh mesh = random.mesh();
      Shape shape{24, int64_t(24) << random(12)};
      TensorSharding from = random.sharding(mesh, 2, true), to = random.sharding(mesh, 2, false);
      LocalLayout a = canonicalLayout(shape, from), b = canonicalLayout(shape, to);
      AxisAtoms atoms(mesh, allRefs(a, b), /*primes=*/false);
      if (!atoms.valid())
        continue;
      Case one{mesh, shape, 4, atoms, toState(a, atoms), toState(b, atoms), topology};
      auto path = one.cheapestPath();
      ASSERT_FALSE(path.empty());
      EXPECT_LE(planReshard(mesh, shape, 4, a, b, topology).seconds,
                path.back().second * (1 + 1e-9));
    }
}

} // namespace
} // namespace tessera::sharding
