// Reductions of one kernel that go over the same elements, and of which none needs another's result,
// become one of several arrays: one pass over a row for all of them. Passes.td shows an example.
#include "passes/fuse/ReduceTogether.h"

#include "dialects/exec/ExecOps.h"
#include "dialects/stablehlo/Combiner.h"
#include "dialects/stablehlo/StablehloOps.h"
#include "dialects/stablehlo/TensorTypes.h"
#include "dialects/tessera/GpuTarget.h"
#include "passes/fuse/Passes.h"

#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

#include <map>
#include <vector>

namespace tessera {
#define GEN_PASS_DEF_REDUCETOGETHER
#include "passes/fuse/Passes.h.inc"

using namespace mlir;
using namespace tessera::stablehlo;

// How many reductions each op's value comes through, its own included. Those of one number need none of
// each other.
static llvm::DenseMap<Operation *, int64_t> reductionsBefore(Block &block) {
  llvm::DenseMap<Operation *, int64_t> count;
  for (Operation &op : block) {
    int64_t most = 0;
    for (Value operand : op.getOperands())
      if (Operation *def = operand.getDefiningOp())
        most = std::max(most, count.lookup(def));
    count[&op] = most + isa<ReduceOp>(op);
  }
  return count;
}

// What has to be the same of reductions that are one: their place in the chain, what they go over, and
// their order of addition.
static std::vector<int64_t> keyOf(ReduceOp op, int64_t before) {
  std::vector<int64_t> key{before};
  llvm::append_range(key, typeOf(op->getOperand(0)).getShape());
  key.push_back(-1);
  llvm::append_range(key, op.getDimensions());
  return key;
}

// Element by element as each of them does.
static void fillWithAll(ArrayRef<ReduceOp> reductions, Region &body, OpBuilder &b) {
  OpBuilder::InsertionGuard guard(b);
  Block *block = b.createBlock(&body);
  for (bool isNew : {false, true})
    for (ReduceOp op : reductions) {
      Block &own = op.getBody().front();
      unsigned count = own.getNumArguments() / 2;
      for (BlockArgument argument : own.getArguments().slice(isNew ? count : 0, count))
        block->addArgument(argument.getType(), argument.getLoc());
    }
  SmallVector<Value> results;
  unsigned total = block->getNumArguments() / 2, first = 0;
  for (ReduceOp op : reductions) {
    Block &own = op.getBody().front();
    unsigned count = own.getNumArguments() / 2;
    IRMapping mapping;
    for (unsigned i = 0; i < count; ++i) {
      mapping.map(own.getArgument(i), block->getArgument(first + i));
      mapping.map(own.getArgument(count + i), block->getArgument(total + first + i));
    }
    for (Operation &inner : own.without_terminator())
      b.clone(inner, mapping);
    for (Value result : own.getTerminator()->getOperands())
      results.push_back(mapping.lookupOrDefault(result));
    first += count;
  }
  ReturnOp::create(b, block->getParentOp()->getLoc(), results);
}

// In the place of the last of them; what reads the others is sorted behind it later.
static void mergeAll(ArrayRef<ReduceOp> reductions) {
  OpBuilder b(reductions.back());
  SmallVector<Value> inputs, inits;
  SmallVector<Type> types;
  SmallVector<Location> locations;
  for (ReduceOp op : reductions) {
    llvm::append_range(inputs, op.getInputs());
    llvm::append_range(inits, op.getInitValues());
    llvm::append_range(types, op->getResultTypes());
    locations.push_back(op.getLoc());
  }
  ReduceOp first = reductions.front();
  auto merged =
      ReduceOp::create(b, b.getFusedLoc(locations), types, inputs, inits, first.getDimensions());
  merged->setDiscardableAttrs(first->getDiscardableAttrDictionary());
  fillWithAll(reductions, merged.getBody(), b);
  auto result = merged->result_begin();
  for (ReduceOp op : reductions)
    for (Value old : op->getResults())
      old.replaceAllUsesWith(*result++);
  for (ReduceOp op : reductions)
    op.erase();
}

static void mergeIn(Block &block) {
  constexpr size_t most = 4; // accumulators that stay in registers beside what is added to them
  auto reductions = llvm::to_vector(block.getOps<ReduceOp>());
  if (reductions.size() < 2 || !block.getOps<DotGeneralOp>().empty()) // attention's are of tiles
    return;
  llvm::DenseMap<Operation *, int64_t> before = reductionsBefore(block);
  using Key = std::pair<std::vector<int64_t>, const void *>;
  std::map<Key, SmallVector<ReduceOp>> alike;
  for (ReduceOp op : reductions)
    if (!combinersOf(op.getBody()).empty())
      alike[{keyOf(op, before[op]), op->getDiscardableAttrDictionary().getAsOpaquePointer()}]
          .push_back(op);
  bool isMerged = false;
  for (auto &[key, all] : alike)
    for (ArrayRef<ReduceOp> left = all; left.size() > 1;
         left = left.drop_front(std::min(left.size(), most))) {
      mergeAll(left.take_front(most));
      isMerged = true;
    }
  if (isMerged)
    sortTopologically(&block);
}

void fuse::reduceTogether(ModuleOp module) {
  if (isForGpu(module)) // whose kernels fold the arrays of a row one after the other
    return;
  module.walk([](exec::FusedOp fused) { mergeIn(fused.getBody().front()); });
}

namespace {
struct ReduceTogether : impl::ReduceTogetherBase<ReduceTogether> {
  void runOnOperation() override { fuse::reduceTogether(getOperation()); }
};
} // namespace
} // namespace tessera
