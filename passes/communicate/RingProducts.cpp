// Products beside their collectives, as rings. Passes.td shows an example; lib/cost/RingProduct.h
// says when that pays.
#include "passes/communicate/Passes.h"

#include "dialects/comm/Collective.h"
#include "dialects/interfaces/ArrayBytes.h"
#include "dialects/tessera/Marks.h"
#include "lib/cost/RingProduct.h"
#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/communicate/BesideCollective.h"
#include "passes/communicate/GatheredProducts.h"
#include "passes/communicate/LiveBytes.h"
#include "passes/communicate/PartPrice.h"
#include "passes/communicate/ProductWork.h"
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

// A product and its reduce-scatter in parts of the scattered dimension, whose sums travel around the
// ring, or of another, each of which is scattered as a whole.
struct ScatterLoop {
  cost::RingProduct price;
  RowsOf rows; // along that dimension
  bool bothWays = false;
};

class Rings {
public:
  Rings(ModuleOp module, const sharding::Mesh &mesh, const sdy::MeshTable &meshes)
      : topology(topologyOf(module)), mesh(mesh), device(topology, mesh),
        beside(module, topology, meshes, device), live(module), varying(module, mesh),
        memoryCounts(scheduleOf(module).overlap == cost::Overlap::Auto) {}

  void tryGather(comm::AllGatherOp gather);
  void tryScatter(comm::ReduceScatterOp scatter);

private:
  ScatterLoop asRing(comm::ReduceScatterOp scatter, const cost::RingProduct &whole,
                     const RowsOf &rows) const;
  void forEachPart(comm::ReduceScatterOp scatter, const cost::RingProduct &whole,
                   const RowsOf &rows, int64_t size,
                   function_ref<void(cost::RingProduct &)> consider) const;
  void replace(comm::ReduceScatterOp scatter, ScatterLoop &loop);

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
  cost::CollectiveTime timeOf(cost::CollectiveKind kind, comm::AxesAttr axes, double bytes) const {
    return cost::collectiveTime(topology, mesh, kind, bytes, axes.toAxisRefs(mesh));
  }
  // Half of each shard goes each way around a ring that carries both.
  bool goesBothWays(comm::AxesAttr axes, int64_t tile) const {
    links::Route route = topology.routeOf(mesh, axes.toAxisRefs(mesh));
    return tile > 1 && route.links == (route.forward | route.back);
  }
  // What is the same for products before and after their collective, however it is taken apart;
  // without what hides it.
  cost::RingProduct describe(Operation *collective) const {
    auto axes = collective->getAttrOfType<comm::AxesAttr>("axes");
    OpSeconds whole = beside.of(collective);
    cost::RingProduct ring{};
    ring.shards = axes.getGroupSize();
    ring.product = whole.compute;
    ring.collective = whole.communication;
    OpSeconds block = beside.of(collective->getBlock());
    ring.blockSeconds = block.compute + block.communication;
    ring.peakBytes = live.peak(collective);
    ring.room = live.room(collective);
    return ring;
  }
  // With what one step of the loop moves.
  cost::RingProduct stepping(cost::RingProduct ring, const cost::CollectiveTime &step) const {
    ring.shift = step.links;
    ring.between =
        step.cores + kKernelsOfTrip * device.launch() + kInstructionsOfTrip * device.instruction();
    return ring;
  }
  // What hides the collective is looked for among a thousand ops around it: once, and only where the
  // ring may pay at all.
  bool pays(cost::RingProduct &ring, Operation *collective, std::optional<double> &hideable) const {
    if (!cost::mayPayAsRing(ring, memoryCounts))
      return false;
    if (!hideable)
      hideable = beside.hideable(collective);
    ring.hideable = *hideable;
    return cost::paysAsRing(ring, memoryCounts);
  }
  cost::RingProduct shifting(const cost::RingProduct &ring, comm::AxesAttr axes,
                             double shardBytes) const {
    return stepping(ring, timeOf(cost::CollectiveKind::Permute, axes, shardBytes));
  }

  cost::Topology topology;
  const sharding::Mesh &mesh;
  DeviceSeconds device;
  BesideCollective beside;
  LiveBytes live;
  VaryingAxes varying;
  const bool memoryCounts;
};

// Time that the products of one shard take, and what the loop does besides.
// Each shard comes in `lanes` parts.
void price(cost::RingProduct &ring, const DeviceSeconds &device, const LiveBytes &live,
           ArrayRef<GatheredProduct> products, comm::AllGatherOp gather, bool keepsWhole,
           double lanes) {
  auto shards = static_cast<double>(ring.shards), parts = lanes * shards;
  double shard = bytesOf(gather.getInputs().front());
  ring.wholeBytes = shard * (1 + shards);
  ring.ringBytes = shard * (3 + (keepsWhole ? shards : 0)); // the first, mine and the next
  for (const GatheredProduct &product : products) {
    stablehlo::DotGeneralOp dot = product.dot;
    double other = bytesOf(product.other()), result = bytesOf(dot.getResult());
    cost::KernelWork whole = workOfProduct(dot);
    ring.product += device.kernel(whole);
    ring.room = std::min(ring.room, live.room(dot));
    bool adds = product.place.role == OperandDim::Contracted;
    ring.wholeBytes += other + result;
    ring.ringBytes += other + result + (adds ? 0 : result / parts);
    if (product.place.role != OperandDim::Free)
      other /= parts;
    cost::KernelWork part = partOf(whole, product.place.role, product.operand, parts);
    part.arrays[product.operand].bytes = shard / lanes;
    part.arrays[1 - product.operand].bytes = other;
    part.arrays[2].bytes = adds ? 2 * result : result / parts;
    ring.part += lanes * device.kernel(part);
    if (!adds) { // written, put in its place, and read again by what could have been one with it
      ring.part += lanes * device.launch() + device.moving(2 * result / shards);
      ring.around += device.moving(2 * result);
    }
    ring.around += device.launch() + device.moving(result);
    if (product.needsRoom())
      ring.around += device.moving(2 * bytesOf(product.other()));
  }
  if (keepsWhole)
    ring.part += device.moving(2 * shard);
  ring.between += device.moving(2 * shard); // what has come takes the place of what was there
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
  const cost::RingProduct whole = describe(gather);
  cost::RingProduct ring = shifting(whole, axes, shard);
  price(ring, device, live, found.products, gather, found.keepsWhole, 1);
  bool bothWays = false;
  if (goesBothWays(axes, tile)) {
    cost::RingProduct halves = shifting(whole, axes, shard / 2);
    price(halves, device, live, found.products, gather, found.keepsWhole, 2);
    bothWays = ringSeconds(halves) < ringSeconds(ring);
    ring = bothWays ? halves : ring;
  }
  if (std::optional<double> hideable; !pays(ring, gather, hideable))
    return;
  SmallVector<std::pair<Value, Value>> replaced = found.makeRing(Ring(axes, tile, bothWays));
  for (auto [old, now] : replaced)
    varying.replace(old, now);
  beside.replaced(replaced.front().second.getDefiningOp(), secondsOf(ring));
  found.replaceAll(replaced, [&](Operation *op) { forget(op); });
}

void Rings::tryScatter(comm::ReduceScatterOp scatter) {
  Value input = scatter.getInputs().front();
  auto type = dyn_cast<FloatType>(typeOf(input).getElementType());
  if (!isOurs(scatter) || scatter.getReduction() != comm::ReductionKind::Sum || !type)
    return;
  std::optional<double> hideable;
  std::optional<ScatterLoop> best;
  auto isBest = [&](cost::RingProduct &price) {
    return pays(price, scatter, hideable) &&
           (!best || ringSeconds(price) < ringSeconds(best->price));
  };
  const cost::RingProduct whole = describe(scatter);
  for (auto [d, size] : llvm::enumerate(shapeOf(input))) {
    RowsOf rows(input, static_cast<int64_t>(d), size, scatter->getBlock());
    if (rows.products().empty())
      continue;
    if (d != scatter.getDim())
      forEachPart(scatter, whole, rows, size, [&](cost::RingProduct &price) {
        if (isBest(price))
          best.emplace(ScatterLoop{price, rows});
      });
    else if (type.getWidth() >= 32) // narrower sums would be rounded at each device that they pass
      if (ScatterLoop ring = asRing(scatter, whole, rows); isBest(ring.price))
        best.emplace(std::move(ring));
  }
  if (best)
    replace(scatter, *best);
}

ScatterLoop Rings::asRing(comm::ReduceScatterOp scatter, const cost::RingProduct &whole,
                          const RowsOf &rows) const {
  Value input = scatter.getInputs().front(), result = scatter.getResult(0);
  double tileBytes = bytesOf(result);
  auto priced = [&](double lanes) {
    cost::RingProduct ring = shifting(whole, scatter.getAxes(), tileBytes / lanes);
    priceParts(ring, device, live, rows, lanes * static_cast<double>(ring.shards), lanes);
    ring.between += lanes * device.launch() + device.moving(3 * tileBytes);
    ring.around = device.moving(2 * (1 + lanes) * tileBytes + 2 * rows.paddedBytes());
    // The sum that comes, the one that goes and the next term, for the product as a whole.
    ring.wholeBytes += tileBytes;
    ring.ringBytes = ring.wholeBytes - bytesOf(input) + 3 * tileBytes;
    return ring;
  };
  cost::RingProduct ring = priced(1), halves = priced(2);
  bool bothWays = goesBothWays(scatter.getAxes(), shapeOf(result)[rows.along()]) &&
                  ringSeconds(halves) < ringSeconds(ring);
  return {bothWays ? halves : ring, rows, bothWays};
}

void Rings::forEachPart(comm::ReduceScatterOp scatter, const cost::RingProduct &whole,
                        const RowsOf &rows, int64_t size,
                        function_ref<void(cost::RingProduct &)> consider) const {
  double input = bytesOf(scatter.getInputs().front()), result = bytesOf(scatter.getResult(0));
  for (int64_t parts = 2; size % parts == 0 && size / parts >= kLeastRowsOfPart; parts *= 2) {
    auto count = static_cast<double>(parts);
    cost::RingProduct loop = stepping(
        whole, timeOf(cost::CollectiveKind::ReduceScatter, scatter.getAxes(), input / count));
    loop.shards = parts;
    priceParts(loop, device, live, rows, count);
    loop.between += device.launch() + device.moving(2 * result / count);
    loop.last = loop.shift;
    loop.around = device.moving(result);
    loop.wholeBytes += result;
    loop.ringBytes = loop.wholeBytes - input + (2 * input + result) / count;
    consider(loop);
  }
}

void Rings::replace(comm::ReduceScatterOp scatter, ScatterLoop &loop) {
  RowOps ops{OpBuilder(scatter), scatter.getLoc()};
  loop.rows.prepare(ops);
  auto part = [&](RowOps &at, Value start, int64_t count) {
    return loop.rows.at(at, start, count);
  };
  auto dim = static_cast<int64_t>(scatter.getDim());
  int64_t tile = shapeOf(scatter.getResult(0))[dim];
  Value now = loop.rows.along() == dim
                  ? scatterAround(ops, Ring(scatter.getAxes(), tile, loop.bothWays), dim, part)
                  : scatterInChunks(ops, scatter, loop.rows.along(), loop.price.shards, part);
  varying.replace(scatter.getResult(0), now);
  beside.replaced(now.getDefiningOp(), secondsOf(loop.price));
  scatter.getResult(0).replaceAllUsesWith(now);
  eraseReplaced(scatter, [&](Operation *op) { forget(op); });
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
