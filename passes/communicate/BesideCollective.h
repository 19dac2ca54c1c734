// What of a block can be computed while one of its collectives is under way, whatever becomes of it.
#pragma once

#include "dialects/sdy/PlainData.h"
#include "lib/cost/KernelTerms.h"
#include "lib/cost/Topology.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"

namespace tessera::communicate {

// What an op takes when it is executed once, loops with their trips: of the device, and of links.
struct OpSeconds {
  double compute = 0, communication = 0;
};

// What devices take that compute all at once.
class DeviceSeconds {
public:
  DeviceSeconds(const cost::Topology &topology, const sharding::Mesh &mesh)
      : topology(topology), mesh(mesh), turns(cost::turnsOf(topology, mesh)) {}

  double kernel(const cost::KernelWork &work) const {
    return launch() + turns * cost::kernelSeconds(topology.device, work);
  }
  double launch() const { return turns * topology.device.launchSeconds; }
  double instruction() const { return turns * topology.device.instructionSeconds; }
  double moving(double bytes) const { return cost::computeSeconds(topology, mesh, 0, bytes); }

private:
  const cost::Topology &topology;
  const sharding::Mesh &mesh;
  double turns;
};

class BesideCollective {
public:
  BesideCollective(mlir::ModuleOp module, const cost::Topology &topology,
                   const sdy::MeshTable &meshes, const DeviceSeconds &device);

  OpSeconds of(mlir::Operation *op) const { return known.lookup(op); }
  // As the program was at first.
  OpSeconds of(mlir::Block *block) const { return blocks.lookup(block); }
  // Seconds of computation beside which it can run: what it does not need and what does not need it,
  // shared with the other collectives there. In a loop, of the trip before or after where nothing
  // there is needed or needs it.
  double hideable(mlir::Operation *collective) const;
  // `now` is in the place of ops that took so long.
  void replaced(mlir::Operation *now, OpSeconds seconds) { known[now] = seconds; }
  void forget(mlir::Operation *op) { known.erase(op); }

private:
  OpSeconds measure(mlir::Operation *op);
  OpSeconds measure(mlir::Block &block);

  const cost::Topology &topology;
  const sdy::MeshTable &meshes;
  const DeviceSeconds &device;
  llvm::DenseMap<mlir::Operation *, OpSeconds> known;
  llvm::DenseMap<mlir::Block *, OpSeconds> blocks;
};

} // namespace tessera::communicate
