// Notes for each result of a kernel an operand whose buffer it may overwrite, so that *memory* can
// give both one buffer:
//
//   - pointwise kernels: an operand of the same size that is read only at the index that is written
//   - dynamic_update_slice and scatter: the array that they update
//
// Which pairs really share a buffer depends on liveness; a kernel must be right whether they do or
// not. It may only rely on reading an element of such an operand before the same element of the
// result is written.
#include "dialects/exec/ExecOps.h"
#include "dialects/stablehlo/StablehloOps.h"
#include "passes/fuse/Passes.h"

#include "mlir/IR/Builders.h"

namespace tessera {
#define GEN_PASS_DEF_MARKINPLACE
#include "passes/fuse/Passes.h.inc"

using namespace mlir;
using namespace tessera::stablehlo;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

static int64_t argumentNumber(Value value, Block *body) {
  auto argument = dyn_cast<BlockArgument>(value);
  return argument && argument.getOwner() == body ? argument.getArgNumber() : -1;
}

// For each operand whether it is read only at the index that is written, by a kernel of ops without
// loops of their own. Empty when the kernel has others.
static SmallVector<bool> readAtWrittenIndex(Block *body) {
  SmallVector<bool> result(body->getNumArguments(), true);
  for (Operation &op : body->without_terminator()) {
    bool moves = isa<BroadcastInDimOp, TransposeOp, SliceOp, DynamicSliceOp, PadOp, ConcatenateOp,
                     ReverseOp, GatherOp>(op);
    bool known =
        moves || op.hasTrait<OpTrait::Elementwise>() ||
        isa<SelectOp, ClampOp, ReshapeOp, ConstantOp, IotaOp, BitcastConvertOp, ConvertOp>(op);
    if (!known)
      return {};
    if (!moves)
      continue;
    // Everything that leads here is read elsewhere.
    SmallVector<Value> work(op.getOperands());
    DenseSet<Value> seen;
    while (!work.empty()) {
      Value value = work.pop_back_val();
      if (!seen.insert(value).second)
        continue;
      if (int64_t argument = argumentNumber(value, body); argument >= 0)
        result[argument] = false;
      else
        llvm::append_range(work, value.getDefiningOp()->getOperands());
    }
  }
  return result;
}

static void mark(exec::FusedOp fused) {
  Block *body = fused.getBlock();
  Operation *yield = body->getTerminator();
  SmallVector<int64_t> inplace(fused.getNumResults(), -1);
  SmallVector<bool> taken(body->getNumArguments(), false);
  SmallVector<bool> aligned = readAtWrittenIndex(body);
  int64_t elements = fused.getNumResults() ? typeOf(fused.getResult(0)).getNumElements() : 0;
  bool oneSpace = llvm::all_of(fused.getResults(),
                               [&](Value v) { return typeOf(v).getNumElements() == elements; });
  for (auto [i, value] : llvm::enumerate(yield->getOperands())) {
    int64_t operand = -1;
    if (auto update = value.getDefiningOp<DynamicUpdateSliceOp>()) {
      operand = argumentNumber(update.getOperand(), body);
    } else if (auto scatter = value.getDefiningOp<ScatterOp>()) {
      operand = argumentNumber(scatter.getInputs()[cast<OpResult>(value).getResultNumber()], body);
    } else if (!aligned.empty() && oneSpace) {
      Type type = typeOf(value).getElementType();
      for (BlockArgument argument : body->getArguments()) {
        unsigned k = argument.getArgNumber();
        if (!taken[k] && aligned[k] && typeOf(argument).getNumElements() == elements &&
            typeOf(argument).getElementType() == type) {
          operand = k;
          break;
        }
      }
    }
    // An array that is updated must not be read in any other way.
    bool updates = isa_and_nonnull<DynamicUpdateSliceOp, ScatterOp>(value.getDefiningOp());
    if (operand >= 0 && updates && !body->getArgument(operand).hasOneUse())
      operand = -1;
    if (operand >= 0 && !std::exchange(taken[operand], true))
      inplace[i] = operand;
  }
  if (llvm::any_of(inplace, [](int64_t operand) { return operand >= 0; }))
    fused.setInplace(inplace);
}

namespace {
struct MarkInplace : impl::MarkInplaceBase<MarkInplace> {
  void runOnOperation() override { getOperation().walk(mark); }
};
} // namespace
} // namespace tessera
