// Between GSPMD's boundary calls lies what devices do on their own parts: it becomes a manual
// computation. gspmd-to-sdy has written on the calls which sharding they cross in which axes.
// Passes.td shows an example.
#include "passes/import/Passes.h"

#include "dialects/sdy/PlainData.h"
#include "dialects/stablehlo/StablehloOps.h"
#include "dialects/tessera/Marks.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"

namespace tessera {
#define GEN_PASS_DEF_FORMMANUALCOMPUTATIONS
#include "passes/import/Passes.h.inc"

using namespace mlir;

namespace {

bool calls(Operation *op, StringRef target) {
  auto call = dyn_cast<stablehlo::CustomCallOp>(op);
  return call && call.getCallTargetName() == target && op->getNumOperands() == 1 &&
         op->getNumResults() == 1;
}
bool enters(Operation *op) { return calls(op, "SPMDFullToShardShape"); }
bool leaves(Operation *op) { return calls(op, "SPMDShardToFullShape"); }
bool isSeed(Operation *op) {
  return enters(op) || isa<stablehlo::PartitionIdOp, stablehlo::ReplicaIdOp>(op);
}

struct Part {
  SmallVector<Operation *> entries, inside, exits; // in program order
};

// The op of `block` that is or holds `op`.
Operation *inBlock(Block &block, Operation *op) { return block.findAncestorOpInBlock(*op); }

SmallVector<Part> partsOf(Block &block) {
  llvm::EquivalenceClasses<Operation *> connected;
  llvm::SetVector<Operation *> members;
  // In program order, so that what an op uses is known when it is reached.
  for (Operation &op : block) {
    if (isSeed(&op)) {
      members.insert(&op);
      connected.insert(&op);
      continue;
    }
    op.walk([&](Operation *inner) {
      for (Value operand : inner->getOperands()) {
        Operation *definition = operand.getDefiningOp();
        Operation *from = definition ? inBlock(block, definition) : nullptr;
        if (!from || from == &op || !members.contains(from) || leaves(from))
          continue;
        members.insert(&op);
        connected.unionSets(from, &op);
      }
    });
  }
  llvm::MapVector<Operation *, Part> parts;
  for (Operation &op : block) {
    if (!members.contains(&op))
      continue;
    Part &part = parts[connected.getLeaderValue(&op)];
    (enters(&op) ? part.entries : leaves(&op) ? part.exits : part.inside).push_back(&op);
  }
  SmallVector<Part> list;
  for (auto &[leader, part] : parts)
    if (!part.entries.empty() || !part.exits.empty())
      list.push_back(std::move(part));
  return list;
}

sdy::TensorShardingAttr crossed(Operation *op) {
  BoundaryAttr boundary = getBoundary(op);
  return boundary ? boundary.getSharding() : sdy::TensorShardingAttr();
}

bool isSharded(sdy::TensorShardingAttr sharding) {
  return !sharding.getUnreducedAxes().empty() ||
         llvm::any_of(sharding.getDimShardings(), [](auto dim) { return !dim.getAxes().empty(); });
}

bool isManualInAll(Operation *boundary) {
  return getBoundary(boundary).getManualAxes().getValue().size() ==
         crossed(boundary).getMesh(boundary).getAxes().size();
}

// What crosses a boundary whole says no mesh: it takes that of the region, `first`'s. False where the
// boundaries are in different axes.
bool isAlike(Operation *boundary, Operation *first) {
  sdy::TensorShardingAttr here = crossed(boundary), there = crossed(first);
  if (here.getMeshOrRef() == there.getMeshOrRef())
    return getBoundary(boundary).getManualAxes() == getBoundary(first).getManualAxes();
  if (isSharded(here) || !isManualInAll(boundary) || !isManualInAll(first))
    return false;
  auto whole = sdy::TensorShardingAttr::getReplicated(boundary->getContext(), there.getMeshName(),
                                                      here.getRank());
  setBoundary(boundary,
              BoundaryAttr::get(boundary->getContext(), whole, getBoundary(first).getManualAxes()));
  return true;
}

// One part of a block, which becomes one computation.
class Former {
public:
  Former(Block &block, Part &part)
      : block(block), part(part), first((part.entries.empty() ? part.exits : part.entries).front()),
        moved(part.inside.begin(), part.inside.end()) {}

  LogicalResult run() {
    if (failed(checkBoundaries()) || failed(checkUses()))
      return failure();
    for (Operation *entry : part.entries) {
      operands.push_back(entry->getOperand(0));
      arguments.push_back(entry->getResult(0));
      in.push_back(crossed(entry));
    }
    findOthers();
    Operation *position = findPosition();
    if (!position)
      return failure();
    build(position);
    return success();
  }

private:
  LogicalResult checkBoundaries() {
    for (Operation *boundary : llvm::concat<Operation *>(part.exits, part.entries))
      if (crossed(boundary) && isSharded(crossed(boundary)))
        first = boundary;
    for (Operation *boundary : llvm::concat<Operation *>(part.entries, part.exits))
      if (!crossed(boundary) || !isAlike(boundary, first))
        return boundary->emitError(
            "this boundary of a manual region does not say the sharding that it crosses, or is "
            "manual in other axes than the region's first; give it mhlo.sharding, or use "
            "sdy.manual_computation");
    return success();
  }

  LogicalResult checkUses() {
    for (Operation *op : llvm::concat<Operation *>(part.entries, part.inside))
      for (Operation *user : op->getUsers()) {
        Operation *at = inBlock(block, user);
        if (at == block.getTerminator() ||
            !(moved.contains(at) || llvm::is_contained(part.exits, at)))
          return user->emitError("takes a value of a manual region that has not left it by "
                                 "@SPMDShardToFullShape");
      }
    return success();
  }

  // What the part uses that neither enters nor is made in it.
  void findOthers() {
    auto note = [&](Value value) {
      Operation *definition = value.getDefiningOp();
      Operation *at = definition ? inBlock(block, definition) : nullptr;
      bool within = definition && at != definition && at && moved.contains(at);
      if (auto argument = dyn_cast<BlockArgument>(value))
        within =
            inBlock(block, argument.getOwner()->getParentOp()) && argument.getOwner() != &block;
      if (!within && !(at && moved.contains(at)) && !llvm::is_contained(arguments, value))
        others.insert(value);
    };
    for (Operation *op : part.inside)
      op->walk([&](Operation *inner) { llvm::for_each(inner->getOperands(), note); });
    for (Operation *exit : part.exits)
      note(exit->getOperand(0));
  }

  // After all that enters, before the first use of what leaves; null, with an error, where there is
  // no such place.
  Operation *findPosition() {
    Operation *position = part.exits.empty() ? part.entries.back() : part.exits.back();
    for (Operation *exit : part.exits)
      for (Operation *user : exit->getResult(0).getUsers())
        if (Operation *at = inBlock(block, user); at && at->isBeforeInBlock(position))
          position = at;
    for (Value value : llvm::concat<const Value>(operands, others))
      if (Operation *definition = value.getDefiningOp();
          definition && definition->getBlock() == &block &&
          (llvm::is_contained(part.exits, definition) || !definition->isBeforeInBlock(position))) {
        definition->emitError("enters a manual region after a result of it is used; use "
                              "sdy.manual_computation");
        return nullptr;
      }
    return position;
  }

  void build(Operation *position) {
    OpBuilder builder(position);
    SmallVector<Operation *> constants;
    for (Value value : others) {
      Operation *definition = value.getDefiningOp();
      if (definition && definition->getNumOperands() == 0 && isPure(definition)) {
        constants.push_back(definition);
        continue;
      }
      operands.push_back(value);
      arguments.push_back(value);
      auto type = dyn_cast<RankedTensorType>(value.getType());
      in.push_back(sdy::TensorShardingAttr::getReplicated(
          builder.getContext(), crossed(first).getMeshName(), type ? type.getRank() : 0));
    }
    SmallVector<sdy::TensorShardingAttr> out;
    SmallVector<Type> results;
    for (Operation *exit : part.exits) {
      out.push_back(crossed(exit));
      results.push_back(exit->getResult(0).getType());
    }
    MLIRContext *context = builder.getContext();
    auto computation = sdy::ManualComputationOp::create(
        builder, first->getLoc(), results, operands,
        sdy::TensorShardingPerValueAttr::get(context, in),
        sdy::TensorShardingPerValueAttr::get(context, out), getBoundary(first).getManualAxes());
    Block &body = computation.getBody().emplaceBlock();
    IRMapping mapping;
    for (Value argument : arguments)
      mapping.map(argument, body.addArgument(argument.getType(), argument.getLoc()));
    builder.setInsertionPointToEnd(&body);
    for (Operation *op : llvm::concat<Operation *>(constants, part.inside))
      builder.clone(*op, mapping);
    SmallVector<Value> returned;
    for (Operation *exit : part.exits)
      returned.push_back(mapping.lookup(exit->getOperand(0)));
    sdy::ReturnOp::create(builder, computation.getLoc(), returned);
    for (auto [exit, result] : llvm::zip_equal(part.exits, computation.getResults()))
      exit->getResult(0).replaceAllUsesWith(result);
    for (Operation *op : llvm::reverse(part.exits))
      op->erase();
    for (Operation *op : llvm::reverse(part.inside))
      op->erase();
    for (Operation *op : part.entries)
      op->erase();
  }

  Block &block;
  Part &part;
  Operation *first; // of the boundaries the one that says the mesh
  llvm::SmallPtrSet<Operation *, 16> moved;
  SmallVector<Value> operands, arguments; // outside, and in the old code
  SmallVector<sdy::TensorShardingAttr> in;
  llvm::SetVector<Value> others; // from outside
};

struct FormManualComputations : impl::FormManualComputationsBase<FormManualComputations> {
  void runOnOperation() override {
    llvm::SetVector<Block *> blocks;
    getOperation().walk([&](Operation *op) {
      if (enters(op) || leaves(op))
        blocks.insert(op->getBlock());
    });
    for (Block *block : blocks)
      for (Part &part : partsOf(*block))
        if (failed(Former(*block, part).run()))
          return signalPassFailure();
  }
};

} // namespace
} // namespace tessera
