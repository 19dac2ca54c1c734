#include "passes/propagate/Surroundings.h"

#include "dialects/sdy/SdyOps.h"
#include "dialects/sdy/SignatureAttributes.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

namespace tessera {

using namespace mlir;

namespace {

// Values from one that differs: reductions are deferred and copies shared over some.
constexpr int kFar = 6;
// Of so many values an op are as good as the whole.
constexpr size_t kMostParts = 4;

// Of what an op reads, also from within its regions.
SmallVector<Value> readBy(Operation *op) {
  SmallVector<Value> read(op->getOperands());
  if (op->getNumRegions()) {
    llvm::SetVector<Value> captured;
    getUsedValuesDefinedAbove(op->getRegions(), captured);
    read.append(captured.begin(), captured.end());
  }
  return read;
}

} // namespace

std::optional<Surroundings> Surroundings::of(const ModuleGraph &graph, Values all, ModuleOp module,
                                             ArrayRef<int32_t> values) {
  func::FuncOp only;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function.isExternal() || function.isPrivate())
      continue; // what custom calls name
    if (only || !function.getBody().hasOneBlock())
      return std::nullopt;
    only = function;
  }
  if (!only)
    return std::nullopt;
  Surroundings around(graph, all, module, only);
  if (!around.gather(values))
    return std::nullopt;
  around.findEnds();
  return around;
}

// Any device makes it for itself.
bool Surroundings::isFree(Value value) const {
  int32_t number = graph.find(value);
  return number < 0 || all[number].free;
}

// Readers of others have nothing to do with each other.
bool Surroundings::tellsApart(Value value) const {
  return !isFree(value) && !all[graph.find(value)].shape.empty();
}

bool Surroundings::gather(ArrayRef<int32_t> values) {
  Block &block = function.getBody().front();
  llvm::SetVector<Value> seen;
  for (int32_t number : values) {
    Value value = graph.valueAt(number);
    if (!value || isa<BlockArgument>(value) || value.getParentBlock() != &block)
      return false;
    if (llvm::is_contained(value.getUsers(), block.getTerminator()))
      return false; // as what it is returned is not seen here
    seen.insert(value);
  }
  size_t most = all.size() / kMostParts;
  llvm::SetVector<Operation *> found;
  auto add = [&](Operation *op) {
    if (!op || op == block.getTerminator() || !found.insert(op))
      return;
    for (Value value : readBy(op))
      if (tellsApart(value))
        seen.insert(value);
    for (Value value : op->getResults())
      if (tellsApart(value))
        seen.insert(value);
  };
  size_t next = 0;
  for (int far = 0; far < kFar; ++far)
    for (size_t end = seen.size(); next < end; ++next) {
      Value value = seen[next];
      add(value.getDefiningOp());
      for (Operation *user : value.getUsers())
        add(block.findAncestorOpInBlock(*user));
      if (found.size() > most)
        return false;
    }
  // What any device makes for itself is made here, too.
  for (size_t i = 0; i < found.size(); ++i)
    for (Value value : readBy(found[i]))
      if (Operation *maker = value.getDefiningOp(); maker && isFree(value))
        found.insert(maker);
  for (Operation &op : block)
    if (found.contains(&op)) {
      bool isManual = false;
      op.walk([&](sdy::ManualComputationOp) { isManual = true; });
      if (isManual) // its axes are seen from both sides
        return false;
      ops.push_back(&op);
    }
  return true;
}

void Surroundings::findEnds() {
  Block &block = function.getBody().front();
  llvm::DenseSet<Operation *> inside(ops.begin(), ops.end());
  llvm::SetVector<Value> arguments;
  for (Operation *op : ops) {
    for (Value value : readBy(op))
      if (Operation *maker = value.getDefiningOp(); !maker || !inside.contains(maker))
        arguments.insert(value);
    for (Value value : op->getResults())
      if (llvm::any_of(value.getUsers(), [&](Operation *user) {
            return !inside.contains(block.findAncestorOpInBlock(*user));
          }))
        given.push_back(value);
  }
  taken = arguments.takeVector();
}

OwningOpRef<ModuleOp> Surroundings::sharded(Values values) {
  OwningOpRef<ModuleOp> part = cast<ModuleOp>(module->cloneWithoutRegions());
  part->getBodyRegion().emplaceBlock();
  OpBuilder builder(module.getContext());
  builder.setInsertionPointToEnd(part->getBody());
  func::FuncOp copy;
  for (Operation &op : *module.getBody())
    if (&op != function.getOperation())
      builder.clone(op);
    else
      copy = func::FuncOp::create(
          builder, function.getLoc(), function.getName(),
          builder.getFunctionType(TypeRange(ValueRange(taken)), TypeRange(ValueRange(given))));
  IRMapping mapping;
  Block *body = copy.addEntryBlock();
  for (auto [value, argument] : llvm::zip_equal(taken, body->getArguments()))
    mapping.map(value, argument);
  builder.setInsertionPointToEnd(body);
  for (Operation *op : ops)
    builder.clone(*op, mapping);
  SmallVector<Value> results;
  for (Value value : given)
    results.push_back(mapping.lookup(value));
  func::ReturnOp::create(builder, function.getLoc(), results);

  sdy::SignatureAttributes signature(copy);
  auto attrOf = [&](sharding::PropagatedValue value, sdy::TensorShardingAttr said) {
    for (auto [dim, size] : llvm::zip_equal(value.sharding.dims, value.shape))
      if (size == 0) // nothing to shard
        dim.axes.clear();
    return graph.attrOf(value, module.getContext(), said);
  };
  for (auto [number, value] : llvm::enumerate(values)) {
    Value whole = graph.valueAt(int32_t(number));
    Value here = whole ? mapping.lookupOrNull(whole) : nullptr;
    if (!here || value.mesh < 0 || !isa<RankedTensorType>(here.getType()))
      continue;
    sdy::TensorShardingAttr attr = attrOf(value, sdy::getSharding(whole));
    if (auto argument = dyn_cast<BlockArgument>(here); argument && argument.getOwner() == body)
      signature.setArgument(argument.getArgNumber(), sdy::kShardingAttr, attr);
    else
      sdy::setSharding(here, attr);
  }
  for (auto [index, value] : llvm::enumerate(given))
    if (int32_t number = graph.find(value); number >= 0 && values[number].mesh >= 0)
      signature.setResult(index, sdy::kShardingAttr,
                          attrOf(values[number], sdy::getSharding(value)));
  return part;
}

} // namespace tessera
