#include "passes/memory/InplaceOperands.h"

#include "dialects/stablehlo/StablehloOps.h"
#include "dialects/stablehlo/TensorTypes.h"

using namespace mlir;
using namespace tessera::stablehlo;
using tessera::fusion::NodeKind;

namespace tessera::memory {

static int64_t argumentNumber(Value value, Block *body) {
  auto argument = dyn_cast<BlockArgument>(value);
  return argument && argument.getOwner() == body ? int64_t{argument.getArgNumber()} : -1;
}

// Whether a result's element takes no more of the operands than elements that its index gives.
static bool readsByIndex(Operation *op) {
  switch (fusionKindOf(op)) {
  case NodeKind::Reduce:
  case NodeKind::Update:
  case NodeKind::Alone:
    return false;
  case NodeKind::Outside:
    return op->getNumOperands() == 0;
  default:
    return true;
  }
}

// Elements at other indices than the result's.
static bool readsElsewhere(NodeKind kind) {
  switch (kind) {
  case NodeKind::Broadcast:
  case NodeKind::Transpose:
  case NodeKind::Slice:
  case NodeKind::Movement:
  case NodeKind::Contraction:
    return true;
  default:
    return false;
  }
}

// For each operand whether it is read only at the index that is written. A contraction finishes a
// result's element before it writes it. Empty when the kernel has others.
static SmallVector<bool> readAtWrittenIndex(Block *body) {
  SmallVector<bool> result(body->getNumArguments(), true);
  for (Operation &op : body->without_terminator()) {
    if (!readsByIndex(&op))
      return {};
    if (!readsElsewhere(fusionKindOf(&op)))
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

InplaceOperands::InplaceOperands(exec::FusedOp fused) : fused(fused) {
  auto elements = [](Value value) { return typeOf(value).getNumElements(); };
  if (llvm::all_equal(llvm::map_range(fused.getResults(), elements)))
    aligned = readAtWrittenIndex(fused.getBlock());
}

bool InplaceOperands::isReadWhereWritten(unsigned k, unsigned i) {
  if (aligned.empty() || !aligned[k])
    return false;
  RankedTensorType operand = typeOf(fused.getBlock()->getArgument(k)),
                   result = typeOf(fused.getResult(i));
  return operand.getNumElements() == result.getNumElements() &&
         operand.getElementType() == result.getElementType();
}

bool InplaceOperands::isUpdate(unsigned i) {
  Value value = fused.getBlock()->getTerminator()->getOperand(i);
  return isa_and_nonnull<DynamicUpdateSliceOp, ScatterOp>(value.getDefiningOp());
}

int64_t InplaceOperands::updatedBy(unsigned i) {
  Block *body = fused.getBlock();
  Value value = body->getTerminator()->getOperand(i), updated;
  if (auto update = value.getDefiningOp<DynamicUpdateSliceOp>())
    updated = update.getOperand();
  else if (auto scatter = value.getDefiningOp<ScatterOp>())
    updated = scatter.getInputs()[cast<OpResult>(value).getResultNumber()];
  return updated && updated.hasOneUse() ? argumentNumber(updated, body) : -1;
}

} // namespace tessera::memory
