#include "lib/sharding/ReshardRest.h"

#include "lib/sharding/ReshardPrice.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"

#include <cmath>

namespace tessera::sharding {

ReshardRest::ReshardRest(const Mesh &mesh, llvm::ArrayRef<int64_t> shape, int64_t elementBytes,
                         const AxisAtoms &atoms, const ReshardState &goal,
                         const cost::Topology &topology)
    : goal(goal), bytes(double(elementBytes)) {
  for (size_t atom = 0; atom < atoms.count(); ++atom)
    sizes[atom] = double(atoms.size(uint8_t(atom)));
  goalShards = shardsOf(goal);
  for (int64_t size : shape)
    bytes *= double(size);
  Atoms all;
  for (size_t atom = 0; atom < atoms.count(); ++atom)
    all.push_back(uint8_t(atom));
  devices = double(atoms.shards(all));
  links::Route route = topology.routeOf(mesh, atoms.refs(all));
  if (route.stages.empty())
    return;
  latency = route.stages.front().link.alpha;
  double fastest = 0, sum = 0;
  for (const links::Stage &stage : route.stages) {
    latency = std::min(latency, stage.link.alpha);
    fastest = std::max(fastest, stage.link.beta);
    sum += stage.link.beta;
    isRing |= stage.link.directions > 1;
  }
  // Exchanges use all kinds of links at once; of a torus all rings carry equal parts, both ways, and parts of
  // an axis may be rings of their own.
  bytesPerSecond = isRing ? 2 * fastest * double(atoms.count()) : sum;
}

double ReshardRest::shardsOf(const ReshardState &state) const {
  double shards = 1;
  for (const AtomList &dim : state.dims)
    for (uint8_t atom : dim)
      shards *= sizes[atom];
  return shards;
}

double ReshardRest::partialOf(uint64_t partial) const {
  double over = 1;
  for (; partial; partial &= partial - 1)
    over *= sizes[llvm::countr_zero(partial)];
  return over;
}

// A tree's steps; of several collectives together no fewer than of one over all of their devices.
double ReshardRest::stepsTo(double reached) const {
  if (reached <= 1)
    return 0;
  return isRing ? 1 : std::ceil(std::log2(reached) - 1e-9);
}

double ReshardRest::least(const ReshardState &state) const {
  constexpr double kRounding = 1e-12;
  double due = partialOf(state.partial & ~goal.partial), shards = shardsOf(state);
  bool isElsewhere = llvm::any_of(llvm::zip_equal(state.dims, goal.dims), [](auto pair) {
    const auto &[has, wants] = pair;
    return has.size() > wants.size() || !std::equal(has.begin(), has.end(), wants.begin());
  });
  double reducing = stepsTo(due),
         gathering = std::max(isElsewhere ? 1.0 : 0.0, stepsTo(shards / goalShards));
  if (reducing + gathering == 0)
    return 0;
  // With all axes in use that nothing else is for.
  double smallest = bytes * partialOf(state.partial) / devices, ends = bytes / goalShards;
  double received = due > 1 ? (1 - 1 / due) * smallest + std::max(ends - smallest / due, 0.0)
                            : std::max(ends - bytes / shards, isElsewhere ? smallest / 2 : 0.0);
  double seconds = (reducing + gathering) * latency + received / bytesPerSecond;
  int moves = (reducing > 0) + (gathering > 0); // each takes a little: one is better than many
  return (1 - kRounding) * (seconds + moves * kLocalStep.seconds);
}

} // namespace tessera::sharding
