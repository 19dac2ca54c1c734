#include "passes/codegen/kernel/KeptRows.h"

#include "dialects/stablehlo/StablehloOps.h"
#include "dialects/stablehlo/TensorTypes.h"
#include "passes/codegen/kernel/ColumnSums.h"
#include "passes/codegen/kernel/ElementKind.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

namespace tessera::codegen {

using namespace tessera::stablehlo;

static int64_t product(llvm::ArrayRef<int64_t> sizes) {
  int64_t points = 1;
  for (int64_t size : sizes)
    points *= size;
  return points;
}

int64_t KeptRows::count() const { return product(llvm::ArrayRef(shape).take_front(outer)); }
int64_t KeptRows::elements() const { return product(llvm::ArrayRef(shape).drop_front(outer)); }

// The first of the dimensions that `op` folds, if they are all from there on. Those of one element
// count for nothing.
static std::optional<unsigned> startOfRow(ReduceOp op) {
  auto shape = shapeOf(op->getOperand(0));
  std::optional<unsigned> start;
  for (auto [dim, size] : llvm::enumerate(shape)) {
    bool isFolded = llvm::is_contained(op.getDimensions(), static_cast<int64_t>(dim));
    if (size == 1)
      continue;
    if (isFolded && !start)
      start = dim;
    if (!isFolded && start)
      return std::nullopt;
  }
  return start;
}

bool foldsRows(mlir::Operation *op, const KeptRows &rows) {
  auto reduce = mlir::dyn_cast<ReduceOp>(op);
  return reduce && shapeOf(op->getOperand(0)) == llvm::ArrayRef(rows.shape) &&
         startOfRow(reduce) == rows.outer;
}

namespace {

// Walks over what is computed for each element of a row.
class Passes {
public:
  Passes(KeptRows &rows, const RowPolicy &policy) : rows(rows), policy(policy) {}

  // What one pass computes: `filler` is its reduction, null in the last pass.
  void add(mlir::ValueRange computed, mlir::Operation *filler) {
    seen.clear();
    for (mlir::Value value : computed)
      visit(value, filler);
  }

private:
  void visit(mlir::Value value, mlir::Operation *filler) {
    mlir::Operation *op = value.getDefiningOp();
    if (!seen.insert(value).second || shapeOf(value) != llvm::ArrayRef(rows.shape) ||
        (op ? !isElementwise(op) : !policy.keepsInputs) || rows.slots.contains(value))
      return;
    auto [first, isNew] = firstPass.try_emplace(value, filler);
    // What operands hold is kept by the first pass already.
    bool isKept = op ? !isNew && policy.keepsComputed && isExpensive(op) : filler != nullptr;
    bool isThere = isKept && keep(value, first->second);
    rows.lacksOperands |= !op && isKept && !isThere;
    if (isThere || !op)
      return;
    for (mlir::Value operand : op->getOperands())
      visit(operand, filler);
  }

  bool keep(mlir::Value value, mlir::Operation *filler) {
    std::optional<ElementType> type = elementType(value.getType());
    if (!type || type->complex)
      return false;
    int64_t elements = rows.window ? rows.window : rows.elements();
    int64_t bytes = llvm::alignTo(elements * type->bytes(), 64);
    if (rows.bytes + bytes > policy.mostBytes)
      return false;
    rows.slots.insert({value, {filler, rows.bytes}});
    rows.bytes += bytes;
    return true;
  }

  KeptRows &rows;
  RowPolicy policy;
  llvm::DenseMap<mlir::Value, mlir::Operation *> firstPass;
  llvm::DenseSet<mlir::Value> seen; // in this pass
};

} // namespace

std::optional<KeptRows> keptRows(const KernelSource &kernel, const RowPolicy &policy) {
  // An attention's rows are its scores', which come by tiles (AttentionLoops.h).
  if (!kernel.body->getOps<DotGeneralOp>().empty())
    return std::nullopt;
  llvm::SmallVector<ReduceOp> folds;
  KeptRows rows;
  rows.window = policy.window;
  for (auto reduce : kernel.body->getOps<ReduceOp>()) {
    std::optional<unsigned> start = startOfRow(reduce);
    if (!start)
      continue;
    if (folds.empty()) {
      auto shape = shapeOf(reduce->getOperand(0));
      rows.shape.assign(shape.begin(), shape.end());
      rows.outer = *start;
    }
    if (foldsRows(reduce, rows))
      folds.push_back(reduce);
  }
  if (folds.empty() || rows.elements() < 2 || rows.count() == 0)
    return std::nullopt;
  llvm::SmallVector<mlir::Value> results;
  for (mlir::Value output : kernel.outputs())
    if (shapeOf(output) == llvm::ArrayRef(rows.shape))
      results.push_back(output);
    else if (ReduceWindowOp parts = partsOp(output);
             parts && shapeOf(parts->getOperand(0)) == llvm::ArrayRef(rows.shape))
      results.push_back(parts->getOperand(0));
  if (results.empty() && folds.size() < 2 && !policy.keepsInputs)
    return std::nullopt;
  rows.passes = static_cast<int64_t>(folds.size()) + !results.empty();
  Passes passes(rows, policy);
  for (ReduceOp fold : folds)
    passes.add(fold.getInputs(), fold);
  passes.add(results, nullptr);
  return rows;
}

static llvm::SmallVector<int64_t, 6> withoutOnes(llvm::ArrayRef<int64_t> shape) {
  return llvm::SmallVector<int64_t, 6>(
      llvm::make_filter_range(shape, [](int64_t size) { return size != 1; }));
}

bool hasOneForEachRow(const KeptRows &rows, mlir::Value value) {
  return withoutOnes(shapeOf(value)) ==
         withoutOnes(llvm::ArrayRef(rows.shape).take_front(rows.outer));
}

} // namespace tessera::codegen
