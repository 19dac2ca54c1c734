// Products beside their collectives, as rings. Passes.td shows an example; lib/cost/RingProduct.h
// says when that pays.
#include "passes/communicate/Passes.h"

#include "dialects/comm/Collective.h"
#include "dialects/interfaces/OpInterfaces.h"
#include "dialects/tessera/Marks.h"
#include "lib/cost/RingProduct.h"
#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/communicate/BesideCollective.h"
#include "passes/communicate/GatheredProducts.h"
#include "passes/communicate/RingLoop.h"
#include "passes/communicate/RowsOf.h"
#include "passes/communicate/VaryingAxes.h"

namespace tessera {
#define GEN_PASS_DEF_RINGPRODUCTS
#include "passes/communicate/Passes.h.inc"
} // namespace tessera

using namespace mlir;

namespace tessera::communicate {
namespace {

// Of a trip: what numbers it and its rows; with the start, the wait and a copy.
constexpr int kKernelsOfTrip = 2, kInstructionsOfTrip = 6;
// Products of fewer rows are far from the machine's rate.
constexpr int64_t kLeastRowsOfPart = 64;

// The machine as one device sees it while all compute.
cost::Topology sharedBy(const sharding::Mesh &mesh, cost::Topology topology) {
  if (topology.computingAtOnce <= 0 || topology.computingAtOnce >= mesh.numDevices())
    return topology;
  cost::DeviceRates &device = topology.device;
  double times = static_cast<double>(mesh.numDevices()) /
                 static_cast<double>(std::exchange(topology.computingAtOnce, 0));
  device.flopsPerSecond /= times;
  for (auto &[type, flops] : device.flopsByType)
    flops /= times;
  device.bytesPerSecond /= times;
  device.launchSeconds *= times;
  device.instructionSeconds *= times;
  return topology;
}

double bytesOf(Value value) { return static_cast<double>(byteSize(typeOf(value))); }

class Rings {
public:
  Rings(ModuleOp module, const sharding::Mesh &mesh, const sdy::MeshTable &meshes)
      : topology(sharedBy(mesh, topologyOf(module))), mesh(mesh), beside(module, topology, meshes),
        varying(module, mesh), memoryCounts(scheduleOf(module).overlap == cost::Overlap::Auto) {}

  void tryGather(comm::AllGatherOp gather);
  void tryScatter(comm::ReduceScatterOp scatter);

private:
  void scatterAsRing(comm::ReduceScatterOp scatter);
  void scatterInParts(comm::ReduceScatterOp scatter);
  void replace(comm::ReduceScatterOp scatter, const cost::RingProduct &ring, Value now);

  // What the loop computes, beside which other collectives may run, and how long it has the links.
  static OpSeconds secondsOf(const cost::RingProduct &ring) {
    return {static_cast<double>(ring.shards) * ring.part, ring.collective};
  }
  bool isOurs(Operation *collective) const {
    auto axes = collective->getAttrOfType<comm::AxesAttr>("axes");
    return collective->getNumOperands() == 1 && axes.getMesh().getValue() == mesh.name &&
           axes.getGroupSize() > 1;
  }
  void forget(Operation *op) { // its place in memory may become another's
    beside.forget(op);
    varying.forget(op);
  }
  double memorySeconds(double bytes) const { return cost::computeSeconds(topology, 0, bytes); }
  double shiftSeconds(comm::AxesAttr axes, double bytes) const {
    return cost::collectiveSeconds(topology, mesh, cost::CollectiveKind::Permute, bytes,
                                   axes.toAxisRefs(mesh));
  }
  // Half of each shard goes each way around a ring that carries both.
  bool goesBothWays(comm::AxesAttr axes, int64_t tile) const {
    links::Route route = topology.routeOf(mesh, axes.toAxisRefs(mesh));
    return tile > 1 && route.links == (route.forward | route.back);
  }
  // What is the same for products before and after their collective.
  cost::RingProduct describe(Operation *collective, double shardBytes) const {
    auto axes = collective->getAttrOfType<comm::AxesAttr>("axes");
    cost::RingProduct ring{};
    ring.shards = axes.getGroupSize();
    ring.collective = beside.communication(collective);
    ring.hideable = beside.hideable(collective);
    ring.shift = shiftSeconds(axes, shardBytes);
    ring.between = kKernelsOfTrip * topology.device.launchSeconds +
                   kInstructionsOfTrip * topology.device.instructionSeconds;
    return ring;
  }

  cost::Topology topology;
  const sharding::Mesh &mesh;
  BesideCollective beside;
  VaryingAxes varying;
  const bool memoryCounts;
};

// Time that the products of one shard take, and what the loop does besides.
// Each shard comes in `lanes` parts.
void price(cost::RingProduct &ring, const cost::Topology &topology,
           ArrayRef<GatheredProduct> products, comm::AllGatherOp gather, bool keepsWhole,
           double lanes) {
  auto memory = [&](double bytes) { return cost::computeSeconds(topology, 0, bytes); };
  auto shards = static_cast<double>(ring.shards), parts = lanes * shards;
  double shard = bytesOf(gather.getInputs().front());
  ring.wholeBytes = shard * (1 + shards);
  ring.ringBytes = shard * (3 + (keepsWhole ? shards : 0)); // the first, mine and the next
  for (const GatheredProduct &product : products) {
    stablehlo::DotGeneralOp dot = product.dot;
    double flops = flopsOf(dot), other = bytesOf(product.other()),
           result = bytesOf(dot.getResult());
    ring.product += productSeconds(topology, flops, bytesOfArrays(dot));
    bool adds = product.place.role == OperandDim::Contracted;
    ring.wholeBytes += other + result;
    ring.ringBytes += other + result + (adds ? 0 : result / parts);
    if (product.place.role != OperandDim::Free)
      other /= parts;
    ring.part +=
        lanes * productSeconds(topology, flops / parts,
                               shard / lanes + other + (adds ? 2 * result : result / parts));
    if (!adds) { // written, put in its place, and read again by what could have been one with it
      ring.part += lanes * topology.device.launchSeconds + memory(2 * result / shards);
      ring.around += memory(2 * result);
    }
    ring.around += topology.device.launchSeconds + memory(result);
    if (product.needsRoom())
      ring.around += memory(2 * bytesOf(product.other()));
  }
  if (keepsWhole)
    ring.part += memory(2 * shard);
  ring.between += memory(2 * shard); // what has come takes the place of what was there
}

void Rings::tryGather(comm::AllGatherOp gather) {
  if (!isOurs(gather))
    return;
  comm::AxesAttr axes = gather.getAxes();
  GatheredProducts found(gather, [&](const GatheredProduct &product) {
    // All devices that have the same sum have to add it up in the same order.
    return product.place.role != OperandDim::Contracted || varying.alongAll(product.other(), axes);
  });
  if (found.products.empty())
    return;
  double shard = bytesOf(gather.getInputs().front());
  int64_t tile = shapeOf(gather.getInputs().front())[gather.getDim()];
  cost::RingProduct ring = describe(gather, shard);
  price(ring, topology, found.products, gather, found.keepsWhole, 1);
  bool bothWays = false;
  if (goesBothWays(axes, tile)) {
    cost::RingProduct halves = describe(gather, shard / 2);
    price(halves, topology, found.products, gather, found.keepsWhole, 2);
    bothWays = ringSeconds(halves) < ringSeconds(ring);
    ring = bothWays ? halves : ring;
  }
  if (!cost::paysAsRing(ring, memoryCounts))
    return;
  SmallVector<std::pair<Value, Value>> replaced = found.makeRing(Ring(axes, tile, bothWays));
  for (auto [old, now] : replaced)
    varying.replace(old, now);
  beside.replaced(replaced.front().second.getDefiningOp(), secondsOf(ring));
  found.replaceAll(replaced, [&](Operation *op) { forget(op); });
}

// Time of the products whose result's rows are computed in `parts` parts, `lanes` of them at a time.
void price(cost::RingProduct &ring, const cost::Topology &topology, const RowsOf &rows,
           double parts, double lanes = 1) {
  ring.product = ring.part = ring.wholeBytes = 0;
  for (stablehlo::DotGeneralOp dot : rows.products()) {
    double bytes = 0;
    for (Value operand : dot->getOperands()) {
      bool isCut =
          llvm::any_of(rows.sources(), [&](auto source) { return source.first == operand; });
      bytes += bytesOf(operand) / (isCut ? parts : 1);
    }
    ring.product += productSeconds(topology, flopsOf(dot), bytesOfArrays(dot));
    ring.wholeBytes += bytesOfArrays(dot);
    ring.part += lanes * productSeconds(topology, flopsOf(dot) / parts,
                                        bytes + bytesOf(dot.getResult()) / parts);
  }
}

void Rings::tryScatter(comm::ReduceScatterOp scatter) {
  Value input = scatter.getInputs().front();
  auto type = dyn_cast<FloatType>(typeOf(input).getElementType());
  if (!isOurs(scatter) || scatter.getReduction() != comm::ReductionKind::Sum || !type)
    return;
  // Sums of narrower types would be rounded at each device that they pass.
  type.getWidth() < 32 ? scatterInParts(scatter) : scatterAsRing(scatter);
}

void Rings::scatterAsRing(comm::ReduceScatterOp scatter) {
  Value input = scatter.getInputs().front();
  auto dim = static_cast<int64_t>(scatter.getDim());
  RowsOf rows(input, dim, shapeOf(input)[dim], scatter->getBlock());
  if (rows.products().empty())
    return;
  double tileBytes = bytesOf(scatter.getResult(0));
  int64_t tile = shapeOf(scatter.getResult(0))[dim];
  auto priced = [&](double lanes) {
    cost::RingProduct ring = describe(scatter, tileBytes / lanes);
    price(ring, topology, rows, lanes * static_cast<double>(ring.shards), lanes);
    ring.between += lanes * topology.device.launchSeconds + memorySeconds(3 * tileBytes);
    ring.around = memorySeconds(2 * (1 + lanes) * tileBytes + 2 * rows.paddedBytes());
    // The sum that comes, the one that goes and the next term, for the product as a whole.
    ring.wholeBytes += tileBytes;
    ring.ringBytes = ring.wholeBytes - bytesOf(input) + 3 * tileBytes;
    return ring;
  };
  cost::RingProduct ring = priced(1), halves = priced(2);
  bool bothWays = goesBothWays(scatter.getAxes(), tile) && ringSeconds(halves) < ringSeconds(ring);
  if (bothWays)
    ring = halves;
  if (!cost::paysAsRing(ring, memoryCounts))
    return;
  RowOps ops{OpBuilder(scatter), scatter.getLoc()};
  rows.prepare(ops);
  replace(scatter, ring,
          scatterAround(
              ops, Ring(scatter.getAxes(), tile, bothWays), dim,
              [&](RowOps &at, Value start, int64_t count) { return rows.at(at, start, count); }));
}

void Rings::scatterInParts(comm::ReduceScatterOp scatter) {
  Value input = scatter.getInputs().front();
  auto axes = scatter.getAxes().toAxisRefs(mesh);
  double tileBytes = bytesOf(scatter.getResult(0));
  cost::RingProduct best{};
  std::optional<RowsOf> rows;
  int64_t along = 0;
  for (auto [d, size] : llvm::enumerate(shapeOf(input))) {
    RowsOf found(input, static_cast<int64_t>(d), size, scatter->getBlock());
    if (d == scatter.getDim() || found.products().empty())
      continue;
    for (int64_t parts = 2; size % parts == 0 && size / parts >= kLeastRowsOfPart; parts *= 2) {
      auto count = static_cast<double>(parts);
      cost::RingProduct loop = describe(scatter, 0);
      loop.shards = parts;
      price(loop, topology, found, count);
      loop.shift = cost::collectiveSeconds(topology, mesh, cost::CollectiveKind::ReduceScatter,
                                           bytesOf(input) / count, axes);
      loop.between += topology.device.launchSeconds + memorySeconds(2 * tileBytes / count);
      loop.around = loop.shift + memorySeconds(tileBytes);
      loop.wholeBytes += tileBytes;
      loop.ringBytes = loop.wholeBytes - bytesOf(input) + (2 * bytesOf(input) + tileBytes) / count;
      if (!cost::paysAsRing(loop, memoryCounts) || (rows && ringSeconds(loop) >= ringSeconds(best)))
        continue;
      best = loop, along = static_cast<int64_t>(d);
      rows.emplace(found);
    }
  }
  if (!rows)
    return;
  RowOps ops{OpBuilder(scatter), scatter.getLoc()};
  rows->prepare(ops);
  replace(scatter, best,
          scatterInChunks(
              ops, scatter, along, best.shards,
              [&](RowOps &at, Value start, int64_t count) { return rows->at(at, start, count); }));
}

void Rings::replace(comm::ReduceScatterOp scatter, const cost::RingProduct &ring, Value now) {
  varying.replace(scatter.getResult(0), now);
  beside.replaced(now.getDefiningOp(), secondsOf(ring));
  scatter.getResult(0).replaceAllUsesWith(now);
  eraseUnread(scatter, [&](Operation *op) { forget(op); });
}

struct RingProducts : impl::RingProductsBase<RingProducts> {
  void runOnOperation() override {
    sdy::MeshTable meshes(getOperation());
    if (!meshes.main() || scheduleOf(getOperation()).overlap == cost::Overlap::Off)
      return;
    SmallVector<Operation *> collectives;
    getOperation().walk([&](Operation *op) {
      if (isa<comm::AllGatherOp, comm::ReduceScatterOp>(op))
        collectives.push_back(op);
    });
    if (collectives.empty())
      return;
    Rings rings(getOperation(), *meshes.main(), meshes);
    for (Operation *op : collectives)
      if (auto gather = dyn_cast<comm::AllGatherOp>(op))
        rings.tryGather(gather);
      else
        rings.tryScatter(cast<comm::ReduceScatterOp>(op));
  }
};

} // namespace
} // namespace tessera::communicate
