// What a reshard takes at least from a layout on the way to another, so that a search for its steps leaves
// out what cannot end below what it knows.
//
// A device ends with the bytes of its part of the goal, and can make what it has smaller for nothing, but
// larger only by receiving. Of a value that is partial over K devices it has r bytes at least when these are
// reduced, whatever is sliced before, for which (K - 1) / K r are received.
#pragma once

#include "lib/cost/Topology.h"
#include "lib/sharding/ReshardMoves.h"

#include <array>

namespace tessera::sharding {

class ReshardRest {
public:
  // Atoms and goal are kept by reference.
  ReshardRest(const Mesh &mesh, llvm::ArrayRef<int64_t> shape, int64_t elementBytes,
              const AxisAtoms &atoms, const ReshardState &goal, const cost::Topology &topology);

  // Seconds that no moves from `state` to the goal are below.
  double least(const ReshardState &state) const;

private:
  double shardsOf(const ReshardState &state) const;
  double partialOf(uint64_t partial) const;
  double stepsTo(double devices) const;

  const ReshardState &goal;
  std::array<double, AtomList::kMost> sizes; // of atoms
  double latency = 0, bytesPerSecond = 1;    // of the quickest link; of all that the moves can use
  bool isRing = false;                       // some link is: few steps may reach many devices
  double bytes = 1, devices = 1;             // of the whole array; along all axes
  double goalShards = 1;
};

} // namespace tessera::sharding
