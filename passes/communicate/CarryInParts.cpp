// What a loop carries to a shift, in parts. Passes.td shows an example.
#include "passes/communicate/Passes.h"

#include "dialects/comm/Collective.h"
#include "dialects/interfaces/ArrayBytes.h"
#include "dialects/tessera/Marks.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/communicate/PartPrice.h"
#include "passes/communicate/ProductWork.h"

namespace tessera {
#define GEN_PASS_DEF_CARRYINPARTS
#include "passes/communicate/Passes.h.inc"
} // namespace tessera

using namespace mlir;
using tessera::stablehlo::WhileOp;

namespace tessera::communicate {
namespace {

// Of each part: its launch, start, wait, and what numbers its rows.
constexpr int kInstructionsOfPart = 4;

struct Parts {
  cost::RingProduct price;
  RowsOf rows;
};

class Carried {
public:
  Carried(ModuleOp module, const sharding::Mesh &mesh, const sdy::MeshTable &meshes)
      : topology(topologyOf(module)), mesh(mesh), device(topology, mesh),
        beside(module, topology, meshes, device), live(module) {}

  // `loop` is the one in its place, where what it carries there is in parts now.
  void run(WhileOp &loop, unsigned index) {
    comm::ShiftOp shift = shiftOf(loop, index);
    if (!shift || getTripCount(loop).value_or(0) < 3)
      return;
    std::optional<Parts> best;
    Value next = loop.getBody().front().getTerminator()->getOperand(index);
    for (auto [d, size] : llvm::enumerate(shapeOf(next)))
      for (int64_t parts = 2; size % parts == 0 && size / parts >= kLeastRowsOfPart; parts *= 2) {
        RowsOf rows(next, static_cast<int64_t>(d), size, &loop.getBody().front(), true);
        if (rows.products().empty())
          break;
        cost::RingProduct price = priceOf(shift, rows, parts);
        if (cost::paysAsRing(price, false) &&
            (!best || ringSeconds(price) < ringSeconds(best->price)))
          best.emplace(Parts{price, rows});
      }
    if (best)
      loop = split(loop, index, shift, *best);
  }

private:
  // The only reader of what a trip finds there.
  comm::ShiftOp shiftOf(WhileOp loop, unsigned index) const {
    BlockArgument argument = loop.getBody().front().getArgument(index);
    if (!argument.hasOneUse() || !loop.getCond().front().getArgument(index).use_empty())
      return {};
    auto shift = dyn_cast<comm::ShiftOp>(*argument.user_begin());
    if (!shift || shift->getBlock() != argument.getOwner() || shift->getNumOperands() != 1 ||
        shift.getAxes().getMesh().getValue() != mesh.name)
      return {};
    return shift;
  }

  cost::RingProduct priceOf(comm::ShiftOp shift, const RowsOf &rows, int64_t parts) const {
    double bytes = bytesOf(shift->getOperand(0)), count = static_cast<double>(parts);
    auto time = [&](double each) {
      return cost::collectiveTime(topology, mesh, cost::CollectiveKind::Permute, each,
                                  shift.getAxes().toAxisRefs(mesh));
    };
    cost::CollectiveTime whole = time(bytes), each = time(bytes / count);
    cost::RingProduct ring{};
    ring.shards = parts;
    ring.collective = whole.links;
    ring.hideable = beside.hideable(shift);
    ring.shift = ring.last = each.links;
    ring.between = each.cores + device.launch() + kInstructionsOfPart * device.instruction();
    ring.around = device.moving(4 * bytes); // put together here, and where they have come
    priceParts(ring, device, live, rows, count);
    return ring;
  }

  WhileOp split(WhileOp loop, unsigned index, comm::ShiftOp shift, Parts &found) {
    Block &body = loop.getBody().front();
    Operation *end = body.getTerminator();
    Value next = end->getOperand(index);
    int64_t dim = found.rows.along(), parts = found.price.shards;
    int64_t rows = shapeOf(next)[dim] / parts;
    auto together = [&](OpBuilder &b, Location loc, ValueRange values) -> Value {
      return stablehlo::ConcatenateOp::create(b, loc, typeOf(next), values, dim);
    };
    RowOps made{OpBuilder(next.getDefiningOp()), next.getLoc()};
    found.rows.prepare(made);
    SmallVector<Value> nexts;
    for (int64_t part = 0; part < parts; ++part)
      nexts.push_back(found.rows.at(made, made.scalar(part * rows), rows));
    next.replaceAllUsesWith(together(made.b, made.loc, nexts));

    RowOps before{OpBuilder(loop), loop.getLoc()};
    SmallVector<Value> operands(loop->getOperands());
    for (int64_t part = parts; part-- > 0;) {
      Value first =
          before.rowsBetween(loop->getOperand(index), dim, part * rows, (part + 1) * rows);
      part == 0 ? operands[index] = first : operands.emplace_back(first);
    }
    std::reverse(operands.end() - (parts - 1), operands.end());
    OperationState state(loop.getLoc(), WhileOp::getOperationName());
    state.addOperands(operands);
    state.addTypes(TypeRange(ValueRange(operands)));
    state.addAttributes(loop->getAttrs());
    state.addRegion();
    state.addRegion();
    auto now = cast<WhileOp>(before.b.create(state));
    now.getCond().takeBody(loop.getCond());
    now.getBody().takeBody(loop.getBody());
    size_t old = loop->getNumOperands();
    for (Region *region : {&now.getCond(), &now.getBody()}) {
      region->front().getArgument(index).setType(nexts.front().getType());
      for (int64_t part = 1; part < parts; ++part)
        region->front().addArgument(nexts.front().getType(), loop.getLoc());
    }
    end->setOperand(index, nexts.front());
    end->insertOperands(old, ArrayRef(nexts).drop_front());

    auto partsOf = [&](ValueRange all) {
      SmallVector<Value> values{all[index]};
      llvm::append_range(values, all.drop_front(old));
      return values;
    };
    OpBuilder inside(shift);
    SmallVector<Value> come;
    for (Value part : partsOf(body.getArguments())) {
      Operation *travels = inside.clone(*shift);
      travels->setOperand(0, part);
      travels->getResult(0).setType(part.getType());
      come.push_back(travels->getResult(0));
    }
    shift->getResult(0).replaceAllUsesWith(together(inside, shift.getLoc(), come));
    beside.forget(shift);
    shift->erase();
    OpBuilder after(loop);
    for (size_t i = 0; i < old; ++i)
      if (i != index)
        loop->getResult(i).replaceAllUsesWith(now->getResult(i));
      else if (!loop->getResult(i).use_empty())
        loop->getResult(i).replaceAllUsesWith(
            together(after, loop.getLoc(), partsOf(now->getResults())));
    beside.forget(loop);
    loop.erase();
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
      if (isOpTriviallyDead(&op)) { // what the parts take the place of
        beside.forget(&op);
        op.erase();
      }
    return now;
  }

  cost::Topology topology;
  const sharding::Mesh &mesh;
  DeviceSeconds device;
  BesideCollective beside;
  LiveBytes live;
};

struct CarryInParts : impl::CarryInPartsBase<CarryInParts> {
  void runOnOperation() override {
    sdy::MeshTable meshes(getOperation());
    if (!meshes.main() || scheduleOf(getOperation()).overlap == cost::Overlap::Off)
      return;
    SmallVector<WhileOp> loops;
    getOperation().walk([&](WhileOp loop) {
      if (llvm::any_of(loop.getBody().front(),
                       [](Operation &op) { return isa<comm::ShiftOp>(op); }))
        loops.push_back(loop);
    });
    if (loops.empty())
      return;
    Carried carried(getOperation(), *meshes.main(), meshes);
    for (WhileOp loop : loops)
      for (unsigned i = 0, count = loop->getNumOperands(); i < count; ++i)
        carried.run(loop, i);
  }
};

} // namespace
} // namespace tessera::communicate
