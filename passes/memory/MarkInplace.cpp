// Notes for each result of a kernel an operand whose buffer it may overwrite:
//
//   - pointwise kernels: an operand of the same size that is read only at the index that is written
//   - contractions: such an operand of their epilogue
//   - dynamic_update_slice and scatter: the array that they update
//
// Of several, the one whose next state the result is (loops, donated arguments), else one that
// nobody reads later. Which pairs really share a buffer depends on liveness; a kernel must be right
// whether they do or not. It may only rely on reading an element of such an operand before the same
// element of the result is written.
#include "dialects/exec/ExecOps.h"
#include "dialects/stablehlo/StablehloOps.h"
#include "passes/memory/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

namespace tessera {
#define GEN_PASS_DEF_MARKINPLACE
#include "passes/memory/Passes.h.inc"

using namespace mlir;
using namespace tessera::stablehlo;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

static int64_t argumentNumber(Value value, Block *body) {
  auto argument = dyn_cast<BlockArgument>(value);
  return argument && argument.getOwner() == body ? int64_t{argument.getArgNumber()} : -1;
}

// For each operand whether it is read only at the index that is written. A contraction finishes a
// result's element before it writes it. Empty when the kernel has others.
static SmallVector<bool> readAtWrittenIndex(Block *body) {
  SmallVector<bool> result(body->getNumArguments(), true);
  for (Operation &op : body->without_terminator()) {
    bool moves = isa<BroadcastInDimOp, TransposeOp, SliceOp, DynamicSliceOp, PadOp, ConcatenateOp,
                     ReverseOp, GatherOp, DotGeneralOp, ConvolutionOp>(op);
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

// The argument whose next state `value` is: what a loop carries, or a donated argument of the
// program.
static Value stateOf(Value value) {
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    if (isa<ReshapeOp>(user))
      if (Value state = stateOf(user->getResult(0)))
        return state;
    if (isa<stablehlo::ReturnOp>(user) && isa<WhileOp>(user->getParentOp()))
      return user->getBlock()->getArgument(use.getOperandNumber());
    if (isa<func::ReturnOp>(user)) {
      auto func = cast<func::FuncOp>(user->getParentOp());
      for (BlockArgument argument : func.getArguments())
        if (auto output =
                func.getArgAttrOfType<IntegerAttr>(argument.getArgNumber(), "tf.aliasing_output"))
          if (output.getInt() == use.getOperandNumber())
            return argument;
    }
  }
  return {};
}

static Value originOf(Value value) {
  while (auto view = value.getDefiningOp<ReshapeOp>())
    value = view.getOperand();
  return value;
}

// Whether `op` is the last reader of what lies behind `value`, and it was made in the same block.
static bool isReadLastBy(Value value, Operation *op) {
  value = originOf(value);
  Operation *def = value.getDefiningOp();
  if (def && isa<ConstantOp>(def))
    return false;
  if (value.getParentBlock() != op->getBlock() || (isa<func::FuncOp>(op->getParentOp()) && !def))
    return false;
  SmallVector<Value> work{value};
  while (!work.empty())
    for (Operation *user : work.pop_back_val().getUsers()) {
      if (isa<ReshapeOp>(user)) {
        work.push_back(user->getResult(0));
        continue;
      }
      Operation *here = op->getBlock()->findAncestorOpInBlock(*user);
      if (!here || (here != op && op->isBeforeInBlock(here)))
        return false;
    }
  return true;
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
  auto mayOverwrite = [&](Value value, unsigned k) {
    Value argument = body->getArgument(k);
    return !taken[k] && aligned[k] && typeOf(argument).getNumElements() == elements &&
           typeOf(argument).getElementType() == typeOf(value).getElementType();
  };
  // Results that are the next state of an operand take its buffer; the others choose from what is
  // left.
  if (!aligned.empty() && oneSpace)
    for (auto [i, value] : llvm::enumerate(yield->getOperands()))
      if (Value state = stateOf(fused.getResult(i)))
        for (unsigned k = 0; k < body->getNumArguments(); ++k)
          if (originOf(fused.getInputs()[k]) == state && mayOverwrite(value, k)) {
            inplace[i] = k;
            taken[k] = true;
            break;
          }
  for (auto [i, value] : llvm::enumerate(yield->getOperands())) {
    int64_t operand = -1;
    if (inplace[i] >= 0)
      continue;
    if (auto update = value.getDefiningOp<DynamicUpdateSliceOp>()) {
      operand = argumentNumber(update.getOperand(), body);
    } else if (auto scatter = value.getDefiningOp<ScatterOp>()) {
      operand = argumentNumber(scatter.getInputs()[cast<OpResult>(value).getResultNumber()], body);
    } else if (!aligned.empty() && oneSpace) {
      for (unsigned k = 0; k < body->getNumArguments() && operand < 0; ++k)
        if (mayOverwrite(value, k) && isReadLastBy(fused.getInputs()[k], fused))
          operand = k;
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
