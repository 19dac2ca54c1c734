#include "passes/fuse/FormFirstRows.h"

#include "dialects/exec/ExecOps.h"
#include "dialects/interfaces/OpInterfaces.h"
#include "dialects/stablehlo/StablehloOps.h"
#include "dialects/stablehlo/TensorTypes.h"
#include "passes/fuse/BlockGraph.h"
#include "passes/fuse/Passes.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

namespace tessera {
#define GEN_PASS_DEF_FORMFIRSTROWS
#include "passes/fuse/Passes.h.inc"

using namespace mlir;
using namespace tessera::stablehlo;
using fuse::isSplat;

// The slices that are all that is read of a sort: the same first rows of each result. Empty where
// something else is.
static SmallVector<SliceOp> firstRowsOf(SortOp sort) {
  auto shape = shapeOf(sort->getOperand(0));
  auto rank = static_cast<int64_t>(shape.size());
  int64_t dimension = sort.getDimension() < 0 ? sort.getDimension() + rank : sort.getDimension();
  SmallVector<SliceOp> slices;
  int64_t kept = 0;
  for (Operation *user : sort->getUsers()) {
    auto slice = dyn_cast<SliceOp>(user);
    if (!slice || user->getBlock() != sort->getBlock())
      return {};
    for (int64_t d = 0; d < rank; ++d)
      if (slice.getStartIndices()[d] != 0 || slice.getStrides()[d] != 1 ||
          (d != dimension && slice.getLimitIndices()[d] != shape[d]))
        return {};
    int64_t limit = slice.getLimitIndices()[dimension];
    if (limit == 0 || (kept != 0 && limit != kept))
      return {};
    kept = limit;
    slices.push_back(slice);
  }
  return kept < shape[dimension] ? slices : SmallVector<SliceOp>();
}

// Splats of outside that the comparator reads go into it; false where it reads anything else there.
static bool closeComparator(SortOp sort) {
  Region &region = sort.getComparator();
  SmallVector<OpOperand *> outer;
  region.walk([&](Operation *inner) {
    for (OpOperand &operand : inner->getOpOperands())
      if (!region.isAncestor(operand.get().getParentRegion()))
        outer.push_back(&operand);
  });
  for (OpOperand *operand : outer)
    if (Operation *def = operand->get().getDefiningOp(); !def || !isSplat(def))
      return false;
  for (OpOperand *operand : outer)
    operand->set(
        OpBuilder(operand->getOwner()).clone(*operand->get().getDefiningOp())->getResult(0));
  return true;
}

static void outline(SortOp sort, ArrayRef<SliceOp> slices) {
  OpBuilder b(sort);
  auto isConstant = [](Value value) {
    Operation *def = value.getDefiningOp();
    return def && fusionKindOf(def) == fusion::NodeKind::Constant;
  };
  llvm::SetVector<Value> inputs;
  for (Value operand : sort->getOperands())
    if (!isConstant(operand))
      inputs.insert(operand);
  llvm::MapVector<Value, SliceOp> outputs; // of each result that is read, one
  for (SliceOp slice : slices)
    outputs.insert({slice.getOperand(), slice});
  SmallVector<Type> types;
  for (auto &[result, slice] : outputs)
    types.push_back(slice.getType());
  auto fused =
      exec::FusedOp::create(b, sort.getLoc(), types, inputs.getArrayRef(), nullptr, nullptr);
  Block *body = b.createBlock(&fused.getBody());
  IRMapping mapping;
  for (Value input : inputs)
    mapping.map(input, body->addArgument(input.getType(), input.getLoc()));
  for (Value operand : sort->getOperands())
    if (isConstant(operand) && !mapping.contains(operand))
      b.clone(*operand.getDefiningOp(), mapping);
  b.clone(*sort, mapping);
  SmallVector<Value> yields;
  for (auto &[result, slice] : outputs)
    yields.push_back(b.clone(*slice, mapping)->getResult(0));
  exec::YieldOp::create(b, fused.getLoc(), yields);
  for (SliceOp slice : slices) {
    auto number = std::distance(outputs.begin(), outputs.find(slice.getOperand()));
    slice->replaceAllUsesWith(ValueRange(fused.getResult(number)));
    slice->erase();
  }
  sort->erase();
}

static void formIn(Block &block) {
  for (SortOp sort : llvm::make_early_inc_range(block.getOps<SortOp>()))
    if (SmallVector<SliceOp> slices = firstRowsOf(sort); !slices.empty() && closeComparator(sort))
      outline(sort, slices);
}

void fuse::formFirstRows(ModuleOp module) { forEachBlock(module, formIn); }

namespace {
struct FormFirstRows : impl::FormFirstRowsBase<FormFirstRows> {
  void runOnOperation() override { fuse::formFirstRows(getOperation()); }
};
} // namespace
} // namespace tessera
