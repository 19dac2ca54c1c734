#include "passes/placement/MemorySpaces.h"

#include "dialects/sdy/SdyOps.h"
#include "dialects/stablehlo/StablehloOps.h"
#include "dialects/tessera/Marks.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace tessera::stablehlo;
using tessera::comm::Space;
using tessera::comm::TransferOp;

namespace tessera::placement {

// A broadcast that only adds dimensions of size 1.
static bool isReshape(BroadcastInDimOp op) {
  return cast<RankedTensorType>(op.getOperand().getType()).getNumElements() ==
             cast<RankedTensorType>(op.getType()).getNumElements() &&
         llvm::is_sorted(op.getBroadcastDimensions());
}

bool passesOn(Operation *op, unsigned operand) {
  if (isa<sdy::ShardingConstraintOp, sdy::ReshardOp, sdy::PropagationBarrierOp, sdy::DataFlowEdgeOp,
          OptimizationBarrierOp, ReshapeOp, SliceOp>(op))
    return true;
  if (auto broadcast = dyn_cast<BroadcastInDimOp>(op))
    return isReshape(broadcast);
  if (isa<DynamicSliceOp>(op))
    return operand == 0;
  return isa<DynamicUpdateSliceOp>(op) && operand < 2;
}

namespace {

// The values that take a value on from this use.
SmallVector<Value> takers(OpOperand &use) {
  Operation *op = use.getOwner();
  unsigned i = use.getOperandNumber();
  if (auto loop = dyn_cast<WhileOp>(op))
    return {loop.getCond().front().getArgument(i), loop.getBody().front().getArgument(i),
            loop->getResult(i)};
  if (auto manual = dyn_cast<sdy::ManualComputationOp>(op))
    return {manual.getBody().front().getArgument(i)};
  if (auto named = dyn_cast<sdy::NamedComputationOp>(op))
    return {named.getBody().front().getArgument(i)};
  if (op->hasTrait<OpTrait::IsTerminator>()) {
    Operation *parent = op->getParentOp();
    if (auto loop = dyn_cast<WhileOp>(parent)) {
      if (op->getParentRegion() == &loop.getCond())
        return {};
      return {loop.getCond().front().getArgument(i), loop.getBody().front().getArgument(i),
              loop->getResult(i)};
    }
    if (isa<IfOp, CaseOp, sdy::ManualComputationOp, sdy::NamedComputationOp>(parent))
      return {parent->getResult(i)};
    return {};
  }
  if (isa<comm::WaitOp>(op))
    return {op->getResult(i - 1)}; // behind the handle
  if (!passesOn(op, i))
    return {};
  return {op->getResult(op->getNumResults() == op->getNumOperands() ? i : 0)};
}

} // namespace

// What `value` lies beside; null where it is made there, or an argument of the function.
static Value besideOf(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<WhileOp>(argument.getOwner()->getParentOp());
    return loop ? loop->getOperand(argument.getArgNumber()) : Value();
  }
  Operation *def = value.getDefiningOp();
  unsigned i = cast<OpResult>(value).getResultNumber();
  if (isa<WhileOp>(def))
    return def->getOperand(i);
  if (isa<IfOp, CaseOp>(def))
    return def->getRegion(0).front().getTerminator()->getOperand(i);
  if (isa<comm::WaitOp>(def))
    return def->getOperand(i + 1); // behind the handle
  return isa<ReshapeOp>(def) ? def->getOperand(0) : Value();
}

bool isInHost(Value value) {
  while (Value beside = besideOf(value))
    value = beside;
  if (auto transfer = value.getDefiningOp<TransferOp>())
    return transfer.getSpace() == Space::Host;
  if (auto start = value.getDefiningOp<comm::StartTransferOp>())
    return value == start.getOutput() && start.getSpace() == Space::Host;
  auto argument = dyn_cast<BlockArgument>(value);
  auto function =
      argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : func::FuncOp();
  return function && getMemory(function.getArgAttrDict(argument.getArgNumber())) == Space::Host;
}

namespace {

// Whether the op, though it is none of those, takes the value as it lies.
bool takesAnywhere(OpOperand &use) {
  return isa<TransferOp, comm::StartTransferOp>(use.getOwner()) ||
         use.getOwner()->hasTrait<OpTrait::IsTerminator>() || !takers(use).empty();
}

} // namespace

MemorySpaces::MemorySpaces(func::FuncOp function) {
  SmallVector<Value> work;
  auto add = [&](Value value) {
    if (host.insert(value).second)
      work.push_back(value);
  };
  for (BlockArgument argument : function.getArguments())
    if (getMemory(function.getArgAttrDict(argument.getArgNumber())) == Space::Host)
      add(argument);
  function.walk([&](Operation *op) {
    auto transfer = dyn_cast<TransferOp>(op);
    auto start = dyn_cast<comm::StartTransferOp>(op);
    if ((transfer && transfer.getSpace() == Space::Host) ||
        (start && start.getSpace() == Space::Host))
      add(op->getResult(0));
  });
  while (!work.empty())
    for (OpOperand &use : work.pop_back_val().getUses())
      llvm::for_each(takers(use), add);
}

namespace {

class Placer {
public:
  Placer(func::FuncOp function, bool keepsHolds)
      : function(function), spaces(function), keepsHolds(keepsHolds), b(function) {}

  void run(ArrayRef<std::optional<Space>> results) {
    placeResults(results);
    function.walk([&](Operation *op) {
      if (auto loop = dyn_cast<WhileOp>(op))
        placeCarried(loop);
      else if (isa<IfOp, CaseOp>(op))
        placeBranches(op);
      else if (isa<DynamicUpdateSliceOp>(op) && spaces.isInHost(op->getResult(0)))
        move(op->getOpOperand(0), Space::Host); // the part itself comes from where it lies
      for (OpOperand &operand : op->getOpOperands())
        if (spaces.isInHost(operand.get()) && !takesAnywhere(operand))
          move(operand, Space::Device);
    });
    dropIdle();
  }

private:
  // The operand is read in the memory `space` from then on.
  void move(OpOperand &operand, Space space) {
    b.setInsertionPoint(operand.getOwner());
    auto transfer = TransferOp::create(b, operand.getOwner()->getLoc(), operand.get(), space);
    operand.set(transfer.getOutput());
    if (keepsHolds && space == Space::Host)
      holds.insert(transfer);
  }

  void placeResults(ArrayRef<std::optional<Space>> results) {
    Operation *end = function.getBody().front().getTerminator();
    sdy::SignatureAttributes signature(function);
    for (auto [operand, wanted] : llvm::zip_equal(end->getOpOperands(), results)) {
      Space found = spaces.isInHost(operand.get()) ? Space::Host : Space::Device;
      if (wanted && *wanted != found)
        move(operand, *wanted);
      setMemoryOfResult(signature, operand.getOperandNumber(), wanted.value_or(found));
    }
  }

  void placeCarried(WhileOp loop) {
    Operation *yield = loop.getBody().front().getTerminator();
    for (unsigned i = 0; i < loop->getNumResults(); ++i)
      if (spaces.isInHost(loop->getResult(i))) {
        move(loop->getOpOperand(i), Space::Host);
        if (!spaces.isInHost(yield->getOperand(i)))
          move(yield->getOpOperand(i), Space::Host);
      }
  }

  void placeBranches(Operation *op) {
    for (Region &region : op->getRegions())
      for (OpOperand &operand : region.front().getTerminator()->getOpOperands())
        if (spaces.isInHost(op->getResult(operand.getOperandNumber())))
          move(operand, Space::Host);
  }

  // Transfers of values to where they lie, in the order in which values are made.
  void dropIdle() {
    MemorySpaces now(function);
    function.walk<WalkOrder::PreOrder>([&](TransferOp transfer) {
      bool isIdle = now.isInHost(transfer.getInput()) == (transfer.getSpace() == Space::Host) &&
                    !transfer.getIndex() &&
                    transfer.getInput().getType() == transfer.getOutput().getType();
      if (!isIdle || holds.contains(transfer))
        return;
      transfer.getOutput().replaceAllUsesWith(transfer.getInput());
      transfer.erase();
    });
  }

  func::FuncOp function;
  const MemorySpaces spaces;
  const bool keepsHolds;
  OpBuilder b;
  DenseSet<Operation *> holds;
};

} // namespace

void makeTransfersExplicit(func::FuncOp function, ArrayRef<std::optional<Space>> results,
                           bool keepsHolds) {
  Placer(function, keepsHolds).run(results);
}

} // namespace tessera::placement
