// Writes products whose rows, contracted elements or batches fall into groups as plain products.
// Passes.td shows an example.
#include "passes/import/Passes.h"

#include "dialects/chlo/ChloOps.h"
#include "dialects/sdy/KeepSharding.h"
#include "dialects/stablehlo/Converted.h"
#include "dialects/stablehlo/Sums.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/OpsWithin.h"

namespace tessera {
#define GEN_PASS_DEF_DECOMPOSERAGGEDDOT
#include "passes/import/Passes.h.inc"

using namespace mlir;

namespace {

using Dims = SmallVector<int64_t>;

bool has(ArrayRef<int64_t> list, int64_t d) { return llvm::is_contained(list, d); }

// Each entry counted in a rank that has one more dimension, of index 0.
Dims shifted(ArrayRef<int64_t> list) {
  return llvm::to_vector(llvm::map_range(list, [](int64_t d) { return d + 1; }));
}

class RaggedDot {
public:
  explicit RaggedDot(chlo::RaggedDotOp op)
      : op(op), b(op), loc(op.getLoc()), dims(op.getRaggedDotDimensionNumbers()),
        ragged(dims.getLhsRaggedDimensions().front()) {
    Type element = op.getGroupSizes().getType().getElementType();
    index = element.isInteger(64) ? element : Type(b.getI32Type());
  }
  Value write() {
    if (has(dims.getLhsBatchingDimensions(), ragged))
      return dot(op.getLhs(), op.getRhs(), op.getType(), dims.getLhsBatchingDimensions(),
                 dims.getRhsBatchingDimensions(), dims.getLhsContractingDimensions(),
                 dims.getRhsContractingDimensions());
    return has(dims.getLhsContractingDimensions(), ragged) ? byContraction() : byRows();
  }

private:
  Value dot(Value lhs, Value rhs, RankedTensorType type, ArrayRef<int64_t> lhsBatching,
            ArrayRef<int64_t> rhsBatching, ArrayRef<int64_t> lhsContracting,
            ArrayRef<int64_t> rhsContracting) {
    auto numbers = stablehlo::DotDimensionNumbersAttr::get(
        op.getContext(), lhsBatching, rhsBatching, lhsContracting, rhsContracting);
    // A precision asks for no more than every product has.
    return stablehlo::DotGeneralOp::create(b, loc, type, lhs, rhs, numbers, ArrayAttr(),
                                           stablehlo::DotAlgorithmAttr());
  }
  Value broadcast(Value value, ArrayRef<int64_t> shape, ArrayRef<int64_t> into) {
    auto type = cast<RankedTensorType>(value.getType()).clone(shape);
    return stablehlo::BroadcastInDimOp::create(b, loc, type, value, into);
  }
  Value zero(Type element) { return stablehlo::zero(b, loc, element); }
  Value groupEnds(Value sizes, int64_t d, bool withOwn);
  Value inGroup(ArrayRef<int64_t> shape, int64_t group, int64_t along, ArrayRef<int64_t> prefix);
  Value groupOfRows(ArrayRef<int64_t> shape);
  Value sizesAsIndex();
  Value byRows();
  Value byContraction();

  chlo::RaggedDotOp op;
  OpBuilder b;
  Location loc;
  chlo::RaggedDotDimensionNumbersAttr dims;
  int64_t ragged;
  Type index; // of positions
};

} // namespace

// The sizes of all groups before each one, along the last dimension d; `withOwn`: its own too.
Value RaggedDot::groupEnds(Value sizes, int64_t d, bool withOwn) {
  auto type = cast<RankedTensorType>(sizes.getType());
  int64_t groups = type.getDimSize(d);
  Dims square(type.getShape());
  square.push_back(groups);
  auto place = RankedTensorType::get(square, index);
  Value of = stablehlo::IotaOp::create(b, loc, place, d + 1);
  Value summed = stablehlo::IotaOp::create(b, loc, place, d);
  Value counts = stablehlo::CompareOp::create(b, loc, summed, of,
                                              withOwn ? stablehlo::ComparisonDirection::LE
                                                      : stablehlo::ComparisonDirection::LT);
  Value each = broadcast(sizes, square, llvm::to_vector(llvm::seq<int64_t>(0, d + 1)));
  Value kept =
      stablehlo::SelectOp::create(b, loc, counts, each, broadcast(zero(index), square, {}));
  return stablehlo::sumOver(b, loc, kept, d);
}

Value RaggedDot::sizesAsIndex() { return stablehlo::converted(b, loc, op.getGroupSizes(), index); }

// The number of each row's group, that of groups for rows past the last one: of the groups that end
// before the row. `shape`: that of group_sizes with rows in the place of groups.
Value RaggedDot::groupOfRows(ArrayRef<int64_t> shape) {
  int64_t rows = static_cast<int64_t>(shape.size()) - 1;
  Dims all(shape);
  all.push_back(op.getGroupSizes().getType().getShape().back());
  Dims into = llvm::to_vector(llvm::seq<int64_t>(0, rows));
  into.push_back(rows + 1);
  Value ends = broadcast(groupEnds(sizesAsIndex(), rows, true), all, into);
  auto place = RankedTensorType::get(all, index);
  Value at = stablehlo::IotaOp::create(b, loc, place, rows);
  Value isPast = stablehlo::CompareOp::create(b, loc, ends, at, stablehlo::ComparisonDirection::LE);
  return stablehlo::sumOver(b, loc, stablehlo::ConvertOp::create(b, loc, place, isPast), rows + 1);
}

// For an array of `shape`: whether the position in dimension `along` is in the group that the
// position in dimension `group` names. `prefix`: the dimensions that group_sizes has before groups.
Value RaggedDot::inGroup(ArrayRef<int64_t> shape, int64_t group, int64_t along,
                         ArrayRef<int64_t> prefix) {
  auto given = op.getGroupSizes().getType();
  Value sizes = sizesAsIndex();
  Dims into(prefix.take_front(given.getRank() - 1));
  into.push_back(group);
  auto spread = [&](bool withOwn) {
    return broadcast(groupEnds(sizes, given.getRank() - 1, withOwn), shape, into);
  };
  Value at = stablehlo::IotaOp::create(b, loc, RankedTensorType::get(shape, index), along);
  using Direction = stablehlo::ComparisonDirection;
  Value after = stablehlo::CompareOp::create(b, loc, at, spread(false), Direction::GE);
  Value before = stablehlo::CompareOp::create(b, loc, at, spread(true), Direction::LT);
  return stablehlo::AndOp::create(b, loc, after, before);
}

Value RaggedDot::byRows() {
  RankedTensorType lhs = op.getLhs().getType(), rhs = op.getRhs().getType(), type = op.getType();
  int64_t group = dims.getRhsGroupDimensions().front();
  ArrayRef<int64_t> batching = dims.getLhsBatchingDimensions();
  // The product has batches, rows and columns like the result, and the group among its columns.
  Dims shape;
  int64_t along = 0, groupAt = 0;
  for (int64_t d : batching)
    shape.push_back(lhs.getDimSize(d));
  for (int64_t d = 0; d < lhs.getRank(); ++d) {
    if (has(batching, d) || has(dims.getLhsContractingDimensions(), d))
      continue;
    if (d == ragged)
      along = shape.size();
    shape.push_back(lhs.getDimSize(d));
  }
  for (int64_t d = 0; d < rhs.getRank(); ++d) {
    if (has(dims.getRhsBatchingDimensions(), d) || has(dims.getRhsContractingDimensions(), d))
      continue;
    if (d == group)
      groupAt = shape.size();
    shape.push_back(rhs.getDimSize(d));
  }
  Value product =
      dot(op.getLhs(), op.getRhs(), type.clone(shape), batching, dims.getRhsBatchingDimensions(),
          dims.getLhsContractingDimensions(), dims.getRhsContractingDimensions());
  Value nothing = broadcast(zero(type.getElementType()), shape, {});
  // group_sizes has the dimensions before the ragged one, in the product's order, or none of them.
  int64_t rank = op.getGroupSizes().getType().getRank();
  Dims ofRows(ArrayRef<int64_t>(shape).take_front(rank - 1));
  ofRows.push_back(shape[along]);
  Dims into = llvm::to_vector(llvm::seq<int64_t>(0, rank - 1));
  into.push_back(along);
  Value own = stablehlo::CompareOp::create(
      b, loc, broadcast(groupOfRows(ofRows), shape, into),
      stablehlo::IotaOp::create(b, loc, RankedTensorType::get(shape, index), groupAt),
      stablehlo::ComparisonDirection::EQ);
  return stablehlo::sumOver(b, loc, stablehlo::SelectOp::create(b, loc, own, product, nothing),
                            groupAt);
}

Value RaggedDot::byContraction() {
  int64_t groups = op.getGroupSizes().getType().getShape().back();
  size_t position = llvm::find(dims.getLhsContractingDimensions(), ragged) -
                    dims.getLhsContractingDimensions().begin();
  auto masked = [&](Value value, ArrayRef<int64_t> contracting, ArrayRef<int64_t> batching) {
    auto type = cast<RankedTensorType>(value.getType());
    Dims shape{groups}, prefix;
    llvm::append_range(shape, type.getShape());
    for (int64_t d : batching)
      prefix.push_back(d + 1);
    for (int64_t d : contracting.take_front(position))
      prefix.push_back(d + 1);
    Value all = broadcast(value, shape, llvm::to_vector(llvm::seq<int64_t>(1, type.getRank() + 1)));
    Value nothing = broadcast(zero(type.getElementType()), shape, {});
    return stablehlo::SelectOp::create(b, loc, inGroup(shape, 0, contracting[position] + 1, prefix),
                                       all, nothing)
        .getResult();
  };
  Value lhs =
      masked(op.getLhs(), dims.getLhsContractingDimensions(), dims.getLhsBatchingDimensions());
  Value rhs =
      masked(op.getRhs(), dims.getRhsContractingDimensions(), dims.getRhsBatchingDimensions());
  Dims lhsBatching{0}, rhsBatching{0};
  llvm::append_range(lhsBatching, shifted(dims.getLhsBatchingDimensions()));
  llvm::append_range(rhsBatching, shifted(dims.getRhsBatchingDimensions()));
  return dot(lhs, rhs, op.getType(), lhsBatching, rhsBatching,
             shifted(dims.getLhsContractingDimensions()),
             shifted(dims.getRhsContractingDimensions()));
}

namespace {

struct DecomposeRaggedDotPass : impl::DecomposeRaggedDotBase<DecomposeRaggedDotPass> {
  void runOnOperation() override {
    for (chlo::RaggedDotOp op : opsWithin<chlo::RaggedDotOp>(getOperation())) {
      if (!op.getType().hasStaticShape())
        continue;
      bool isBatch = has(op.getRaggedDotDimensionNumbers().getLhsBatchingDimensions(),
                         op.getRaggedDotDimensionNumbers().getLhsRaggedDimensions().front());
      bool isContraction = has(op.getRaggedDotDimensionNumbers().getLhsContractingDimensions(),
                               op.getRaggedDotDimensionNumbers().getLhsRaggedDimensions().front());
      if (!isBatch && !isContraction &&
          op.getRaggedDotDimensionNumbers().getRhsGroupDimensions().empty()) {
        op.emitError("groups rows of lhs, so rhs needs a group dimension (rhs_group_dimensions)");
        return signalPassFailure();
      }
      Value value = RaggedDot(op).write();
      sdy::keepSharding(op->getResults(), value);
      op.getResult().replaceAllUsesWith(value);
      op.erase();
    }
  }
};

} // namespace
} // namespace tessera
