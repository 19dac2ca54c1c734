#include "passes/communicate/BesideCollective.h"

#include "dialects/comm/Collective.h"
#include "dialects/interfaces/OpInterfaces.h"
#include "dialects/stablehlo/StablehloOps.h"
#include "dialects/tessera/Marks.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/communicate/LiveBytes.h"
#include "passes/communicate/ProductWork.h"

using namespace mlir;

namespace tessera::communicate {
namespace {

constexpr int kWindow = 1000; // ops before and after a collective that are looked at

bool isProduct(Operation *op) { return fusionKindOf(op) == fusion::NodeKind::Contraction; }

// Values of the block around that an op reads, itself or inside.
void forEachRead(Operation *op, function_ref<void(Value)> read) {
  llvm::for_each(op->getOperands(), read);
  for (Region &region : op->getRegions())
    region.walk([&](Operation *inner) { llvm::for_each(inner->getOperands(), read); });
}

// What a trip finds as it was before the loop, and numbers: never waited for.
bool isThereAlready(BlockArgument argument, stablehlo::WhileOp loop) {
  Block &body = loop.getBody().front();
  return body.getTerminator()->getOperand(argument.getArgNumber()) == argument ||
         cast<RankedTensorType>(argument.getType()).getRank() == 0;
}

struct Sum {
  OpSeconds seconds;
  void operator+=(const OpSeconds &more) {
    seconds.compute += more.compute;
    seconds.communication += more.communication;
  }
  // While a loop has the links, nothing else does: what it computes besides is left for others.
  void addBeside(Operation *op, const OpSeconds &more) {
    if (op->getNumRegions())
      seconds.compute += std::max(0.0, more.compute - more.communication);
    else
      *this += more;
  }
};

} // namespace

BesideCollective::BesideCollective(ModuleOp module, const cost::Topology &topology,
                                   const sdy::MeshTable &meshes, const DeviceSeconds &device)
    : topology(topology), meshes(meshes), device(device) {
  for (auto func : module.getOps<func::FuncOp>())
    for (Block &block : func.getBody())
      measure(block);
}

OpSeconds BesideCollective::measure(Block &block) {
  Sum sum;
  for (Operation &op : block)
    sum += known[&op] = measure(&op);
  return blocks[&block] = sum.seconds;
}

OpSeconds BesideCollective::measure(Operation *op) {
  OpSeconds seconds;
  for (Region &region : op->getRegions())
    if (isa<stablehlo::WhileOp, stablehlo::CaseOp, stablehlo::IfOp>(op))
      for (Block &block : region) {
        OpSeconds inside = measure(block);
        seconds.compute += inside.compute;
        seconds.communication += inside.communication;
      }
  auto trips = static_cast<double>(getTripCount(op).value_or(1));
  if (op->getNumRegions() && (seconds.compute > 0 || seconds.communication > 0))
    return {seconds.compute * trips, seconds.communication * trips};
  if (std::optional<comm::CollectiveFacts> facts = comm::collectiveFacts(op)) {
    if (const sharding::Mesh *mesh = meshes.lookup(facts->axes.getMesh().getValue())) {
      cost::CollectiveTime time =
          cost::collectiveTime(topology, *mesh, comm::pricedAs(facts->kind),
                               static_cast<double>(facts->bytes), facts->axes.toAxisRefs(*mesh));
      seconds = {time.cores, time.links};
    }
    return seconds;
  }
  if (isProduct(op)) {
    seconds.compute = device.kernel(workOfProduct(op));
  } else if (op->getNumResults()) {
    // Of what becomes one kernel only the result is written; which ops do is not known yet.
    fusion::NodeKind kind = fusionKindOf(op);
    auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
    if (type && kind != fusion::NodeKind::Outside && !becomesNoArray(kind))
      seconds.compute = device.moving(static_cast<double>(byteSize(type)));
  }
  return seconds;
}

double BesideCollective::hideable(Operation *collective) const {
  Sum beside, all;
  Block *block = collective->getBlock();
  auto loop = dyn_cast<stablehlo::WhileOp>(block->getParentOp());
  bool canBeEarly = loop && getTripCount(loop).value_or(0) > 1, canBeLate = canBeEarly;
  llvm::DenseSet<Operation *> needed;
  auto need = [&](Value value) {
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      if (argument.getOwner() == block && loop)
        canBeEarly &= isThereAlready(argument, loop);
    } else if (value.getDefiningOp()->getBlock() == block) {
      needed.insert(value.getDefiningOp());
    }
  };
  forEachRead(collective, need);
  int steps = 0;
  Operation *op = collective->getPrevNode();
  for (; op && steps < kWindow; op = op->getPrevNode(), ++steps) {
    all.addBeside(op, known.lookup(op));
    if (needed.contains(op))
      forEachRead(op, need);
    else
      beside.addBeside(op, known.lookup(op));
  }
  canBeEarly &= !op;
  llvm::DenseSet<Operation *> needing{collective};
  auto needs = [&](Operation *by) {
    bool found = false;
    forEachRead(by, [&](Value value) { found |= needing.contains(value.getDefiningOp()); });
    return found;
  };
  steps = 0;
  for (op = collective->getNextNode(); op && steps < kWindow; op = op->getNextNode(), ++steps) {
    OpSeconds seconds = known.lookup(op);
    all.addBeside(op, seconds);
    if (!needs(op)) {
      beside.addBeside(op, seconds);
      continue;
    }
    needing.insert(op);
    canBeLate &= !isProduct(op) && op->getNumRegions() == 0 && seconds.communication == 0;
  }
  canBeLate &= !op;
  const OpSeconds &found = canBeEarly || canBeLate ? all.seconds : beside.seconds;
  double mine = of(collective).communication, others = found.communication;
  return mine > 0 ? found.compute * mine / (mine + others) : 0;
}

} // namespace tessera::communicate
