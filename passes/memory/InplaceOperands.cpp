#include "passes/memory/InplaceOperands.h"

#include "dialects/stablehlo/StablehloOps.h"
#include "dialects/stablehlo/TensorTypes.h"
#include "passes/codegen/kernel/ColumnSums.h"
#include "passes/codegen/kernel/KeptRows.h"

#include <numeric>

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
  if (op->getNumResults() && codegen::partsOp(op->getResult(0)))
    return true; // at that of the loops around it
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

// Whether `op` gives each element of a row the row's own value.
static bool spreadsOverRows(Operation *op, const codegen::KeptRows &rows) {
  auto broadcast = dyn_cast<BroadcastInDimOp>(op);
  if (!broadcast || shapeOf(op->getResult(0)) != ArrayRef(rows.shape))
    return false;
  SmallVector<int64_t> given, outer; // dimensions of more than one element
  for (auto [dim, size] : llvm::zip(broadcast.getBroadcastDimensions(), shapeOf(op->getOperand(0))))
    if (size != 1)
      given.push_back(dim);
  for (int64_t dim = 0; dim < rows.outer; ++dim)
    if (rows.shape[dim] != 1)
      outer.push_back(dim);
  return given == outer;
}

// For each operand whether it is read only at the index that is written. A contraction finishes a
// result's element before it writes it, and reductions of a row are finished before the row is
// written. Empty when the kernel has others.
static SmallVector<bool> readAtWrittenIndex(Block *body,
                                            const std::optional<codegen::KeptRows> &rows) {
  SmallVector<bool> result(body->getNumArguments(), true);
  auto foldsRow = [&](Operation *op) { return rows && codegen::foldsRows(op, *rows); };
  for (Operation &op : body->without_terminator()) {
    if (!readsByIndex(&op) && !foldsRow(&op))
      return {};
    if (rows && fusionKindOf(&op) == NodeKind::Movement)
      return {}; // a row may be written in pieces
    if (!readsElsewhere(fusionKindOf(&op)))
      continue;
    bool isRowsOwn = rows && spreadsOverRows(&op, *rows);
    // Everything that leads here is read elsewhere.
    SmallVector<Value> work(op.getOperands());
    DenseSet<Value> seen;
    while (!work.empty()) {
      Value value = work.pop_back_val();
      if (!seen.insert(value).second)
        continue;
      Operation *def = value.getDefiningOp();
      if (int64_t argument = argumentNumber(value, body); argument >= 0)
        result[argument] = false;
      else if (!isRowsOwn || !foldsRow(def))
        llvm::append_range(work, def->getOperands());
    }
  }
  return result;
}

InplaceOperands::InplaceOperands(exec::FusedOp fused) : fused(fused) {
  auto elements = [](Value value) { return typeOf(value).getNumElements(); };
  std::optional<codegen::KeptRows> rows = codegen::keptRows({"", fused.getBlock(), {}});
  auto isOfRowsShape = [&](Value value) { return shapeOf(value) == ArrayRef(rows->shape); };
  std::optional<codegen::ColumnSums> sums = codegen::columnSumsOf({"", fused.getBlock(), {}});
  // What has an element for each row is written before the row's elements are read for the last time.
  if (rows && llvm::any_of(fused.getResults(), isOfRowsShape))
    elementsWritten = rows->count() * rows->elements();
  else
    rows.reset();
  if (sums)
    elementsWritten = std::accumulate(sums->shape.begin(), sums->shape.end(), int64_t(1),
                                      std::multiplies<int64_t>());
  if (rows || sums || llvm::all_equal(llvm::map_range(fused.getResults(), elements)))
    aligned = readAtWrittenIndex(fused.getBlock(), rows);
}

bool InplaceOperands::isReadWhereWritten(unsigned k, unsigned i) {
  if (aligned.empty() || !aligned[k])
    return false;
  RankedTensorType operand = typeOf(fused.getBlock()->getArgument(k)),
                   result = typeOf(fused.getResult(i));
  if (elementsWritten && result.getNumElements() != *elementsWritten)
    return false;
  return operand.getNumElements() == result.getNumElements() &&
         operand.getElementType() == result.getElementType();
}

bool InplaceOperands::isUpdate(unsigned i) {
  Value value = fused.getBlock()->getTerminator()->getOperand(i);
  return isa_and_nonnull<DynamicUpdateSliceOp, ScatterOp, WhileOp>(value.getDefiningOp());
}

int64_t InplaceOperands::updatedBy(unsigned i) {
  Block *body = fused.getBlock();
  Value value = body->getTerminator()->getOperand(i), updated;
  if (auto update = value.getDefiningOp<DynamicUpdateSliceOp>())
    updated = update.getOperand();
  else if (auto scatter = value.getDefiningOp<ScatterOp>())
    updated = scatter.getInputs()[cast<OpResult>(value).getResultNumber()];
  else if (auto loop = value.getDefiningOp<WhileOp>())
    updated = loop->getOperand(cast<OpResult>(value).getResultNumber());
  return updated && updated.hasOneUse() ? argumentNumber(updated, body) : -1;
}

} // namespace tessera::memory
