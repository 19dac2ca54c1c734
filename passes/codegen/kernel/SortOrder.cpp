#include "passes/codegen/kernel/SortOrder.h"

#include "dialects/stablehlo/TensorTypes.h"
#include "passes/codegen/kernel/GraphBuilder.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

namespace tessera::codegen {

using namespace tessera::stablehlo;

unsigned SortOrder::keyBits() const {
  ElementKind kind = elementType(key.getType())->kind;
  if (kind == ElementKind::BF16)
    return 16;
  if (isFloat(kind))
    return kind == ElementKind::F64 ? 64 : 32;
  return std::max(8u, bitWidth(kind));
}

int64_t SortOrder::roomForFirst(int64_t kept) {
  return 4 * static_cast<int64_t>(llvm::alignTo(std::max<int64_t>(kept, 128), 16));
}

// Records of a key and a place must fit into a register, and rows be many beside what is collected.
bool SortOrder::takesFirst(int64_t rows, int64_t kept) const {
  return keyBits() <= 32 && rows > 2 * roomForFirst(kept);
}

static mlir::Value wholeOf(mlir::Value output) {
  auto slice = output.getDefiningOp<SliceOp>();
  return slice ? slice.getOperand() : output;
}

int sortOutputOf(const KernelSource &kernel, SortOp op, unsigned i) {
  for (auto [number, output] : llvm::enumerate(kernel.outputs()))
    if (wholeOf(output) == op->getResult(i))
      return static_cast<int>(number);
  return -1;
}

int64_t sortedDimensionOf(SortOp op) {
  auto dimension = static_cast<int64_t>(op.getDimension());
  auto rank = static_cast<int64_t>(shapeOf(op->getOperand(0)).size());
  return dimension < 0 ? dimension + rank : dimension; // counted from the last
}

Node *sortedPlaceOf(Graph &graph, unsigned position, int64_t kept, int64_t size) {
  BufferInfo buffer; // that nothing reads: its elements are given
  buffer.source = BufferInfo::Scratch;
  buffer.kind = ElementKind::I64;
  buffer.elements = kept;
  graph.buffers.push_back(buffer);
  Node *place = graph.load(ElementKind::I64, static_cast<int>(graph.buffers.size()) - 1,
                           graph.dim(position), nullptr);
  place->low = 0, place->high = size - 1;
  place->deps = DimSet(1) << position; // of one row, too
  return place;
}

int64_t sortedRowsOf(const KernelSource &kernel, SortOp op) {
  return shapeOf(kernel.outputs()[0])[sortedDimensionOf(op)];
}

// Whether `right` is of the second row what `left` is of the first.
static bool areAlike(mlir::Value left, mlir::Value right, const mlir::Block &body) {
  auto a = mlir::dyn_cast<mlir::BlockArgument>(left),
       b = mlir::dyn_cast<mlir::BlockArgument>(right);
  if (a && b && a.getOwner() == &body && b.getOwner() == &body)
    return a.getArgNumber() % 2 == 0 && b.getArgNumber() == a.getArgNumber() + 1;
  mlir::Operation *x = left.getDefiningOp(), *y = right.getDefiningOp();
  if (!x || !y)
    return left == right;
  if (auto constant = mlir::dyn_cast<ConstantOp>(x)) {
    auto other = mlir::dyn_cast<ConstantOp>(y);
    return other && constant.getValue() == other.getValue();
  }
  return x->getName() == y->getName() && x->getAttrs() == y->getAttrs() &&
         x->getResultTypes() == y->getResultTypes() &&
         (elementwiseOp(x) || mlir::isa<RealOp, ImagOp>(x)) &&
         llvm::all_of(llvm::zip_equal(x->getOperands(), y->getOperands()), [&](auto operands) {
           return areAlike(std::get<0>(operands), std::get<1>(operands), body);
         });
}

std::optional<SortOrder> sortOrderOf(SortOp op) {
  mlir::Block &body = op.getComparator().front();
  auto compare = body.getTerminator()->getOperand(0).getDefiningOp<CompareOp>();
  if (!compare)
    return std::nullopt;
  SortOrder order;
  ComparisonDirection direction = compare.getComparisonDirection();
  mlir::Value first = compare.getLhs(), second = compare.getRhs();
  if (!areAlike(first, second, body)) {
    std::swap(first, second); // second > first
    order.isDescending = true;
  }
  if (!areAlike(first, second, body) ||
      (direction != ComparisonDirection::LT && direction != ComparisonDirection::GT))
    return std::nullopt;
  if (direction == ComparisonDirection::GT)
    order.isDescending = !order.isDescending;
  order.key = first;
  std::optional<ElementType> type = elementType(first.getType());
  if (!type || type->complex)
    return std::nullopt;
  auto kind = compare.getCompareType();
  order.isTotal = kind && *kind == ComparisonType::TOTALORDER;
  if (auto argument = mlir::dyn_cast<mlir::BlockArgument>(first))
    order.operand = static_cast<int>(argument.getArgNumber() / 2);
  return order;
}

} // namespace tessera::codegen
