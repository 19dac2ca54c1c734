// Reductions whose time is mostly latency travel together. Passes.td shows an example.
#include "passes/communicate/Passes.h"

#include "dialects/comm/Collective.h"
#include "dialects/sdy/PlainData.h"
#include "dialects/tessera/Marks.h"
#include "lib/cost/Topology.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/DenseMap.h"

namespace tessera {
#define GEN_PASS_DEF_BUCKETCOLLECTIVES
#include "passes/communicate/Passes.h.inc"
} // namespace tessera

using namespace mlir;

namespace tessera::communicate {
namespace {

using Key = std::tuple<Attribute, int32_t, Type>; // axes, reduction, element type

class Bucketing {
public:
  Bucketing(const sharding::Mesh &mesh, const cost::Topology &topology)
      : mesh(mesh), topology(topology) {}

  void run(Block &block) {
    for (Operation &op : llvm::make_early_inc_range(block)) {
      flushBefore(op);
      auto reduce = dyn_cast<comm::AllReduceOp>(op);
      if (reduce && isSmall(reduce))
        take(reduce);
    }
    open.clear();
    bucketOf.clear();
  }

private:
  // Sending its bytes takes no longer than the latency of scattering and gathering them.
  bool isSmall(comm::AllReduceOp reduce) {
    comm::CollectiveFacts facts = *comm::collectiveFacts(reduce);
    sharding::AxisRefs axes = facts.axes.toAxisRefs(mesh);
    auto seconds = [&](double bytes) {
      return cost::collectiveSeconds(topology, mesh, cost::CollectiveKind::AllReduce, bytes, axes);
    };
    return reduce->getNumOperands() == 1 && seconds(facts.bytes) <= 4 * seconds(0);
  }

  void take(comm::AllReduceOp reduce) {
    Key key{reduce.getAxes(), int32_t(reduce.getReduction()),
            getElementTypeOrSelf(reduce.getInputs().front().getType())};
    SmallVector<comm::AllReduceOp> &bucket = open[key];
    bucket.push_back(reduce);
    bucketOf[reduce] = key;
    if (bucket.size() > 1)
      join(bucket);
  }

  // All members at the place of the last: nothing has needed a result yet.
  void join(SmallVector<comm::AllReduceOp> &bucket) {
    SmallVector<Value> inputs, results;
    for (comm::AllReduceOp reduce : bucket) {
      llvm::append_range(inputs, reduce.getInputs());
      llvm::append_range(results, reduce.getOutputs());
    }
    comm::AllReduceOp last = bucket.back();
    OpBuilder b(last);
    OperationState state(last.getLoc(), last->getName(), inputs, TypeRange(ValueRange(inputs)));
    state.propertiesAttr = last->getPropertiesAsAttribute();
    auto joined = cast<comm::AllReduceOp>(b.create(state));
    Key key = bucketOf[last];
    for (auto [old, now] : llvm::zip_equal(results, joined.getOutputs()))
      old.replaceAllUsesWith(now);
    for (comm::AllReduceOp reduce : bucket) {
      bucketOf.erase(reduce);
      reduce.erase();
    }
    bucket.assign(1, joined);
    bucketOf[joined] = key;
  }

  // An op that needs a result, itself or inside, closes that bucket.
  void flushBefore(Operation &op) {
    if (open.empty())
      return;
    auto close = [&](Value operand) {
      auto it = bucketOf.find(operand.getDefiningOp());
      if (it == bucketOf.end())
        return;
      open.erase(it->second);
      bucketOf.erase(it);
    };
    for (Value operand : op.getOperands())
      close(operand);
    for (Region &region : op.getRegions())
      region.walk([&](Operation *inner) { llvm::for_each(inner->getOperands(), close); });
  }

  const sharding::Mesh &mesh;
  const cost::Topology &topology;
  llvm::DenseMap<Key, SmallVector<comm::AllReduceOp>> open;
  llvm::DenseMap<Operation *, Key> bucketOf;
};

struct BucketCollectives : impl::BucketCollectivesBase<BucketCollectives> {
  void runOnOperation() override {
    sdy::MeshTable meshes(getOperation());
    if (!meshes.main())
      return;
    cost::Topology topology = topologyOf(getOperation());
    SmallVector<Block *> blocks;
    getOperation().walk([&](Block *block) {
      if (llvm::any_of(*block, [](Operation &op) { return isa<comm::AllReduceOp>(op); }))
        blocks.push_back(block);
    });
    for (Block *block : blocks)
      Bucketing(*meshes.main(), topology).run(*block);
  }
};

} // namespace
} // namespace tessera::communicate
