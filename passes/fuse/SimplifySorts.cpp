// Sorts as their kernels are good at them: of rows that lie side by side in memory, and by one number
// of each element. Passes.td shows an example.
#include "dialects/stablehlo/StablehloOps.h"
#include "dialects/stablehlo/TensorTypes.h"
#include "passes/OpsWithin.h"
#include "passes/codegen/kernel/SortOrder.h"
#include "passes/fuse/Passes.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

namespace tessera {
#define GEN_PASS_DEF_SIMPLIFYSORTS
#include "passes/fuse/Passes.h.inc"

using namespace mlir;
using namespace tessera::stablehlo;

namespace {

// What a comparator of several numbers compares, the one that decides first at the front:
//   first < first' or (first == first' and (second < second' or ..))
// Empty where it is something else.
SmallVector<CompareOp> comparisonsOf(Value less) {
  SmallVector<CompareOp> found;
  auto isEqual = [](CompareOp equal, CompareOp order) {
    return equal && order && equal.getComparisonDirection() == ComparisonDirection::EQ &&
           equal.getLhs() == order.getLhs() && equal.getRhs() == order.getRhs() &&
           equal.getCompareType() == order.getCompareType();
  };
  while (auto either = less.getDefiningOp<OrOp>()) {
    Value rest;
    for (int side = 0; side < 2 && !rest; ++side) {
      auto order = either->getOperand(side).getDefiningOp<CompareOp>();
      auto both = either->getOperand(1 - side).getDefiningOp<AndOp>();
      for (int other = 0; both && other < 2 && !rest; ++other)
        if (isEqual(both->getOperand(other).getDefiningOp<CompareOp>(), order)) {
          found.push_back(order);
          rest = both->getOperand(1 - other);
        }
    }
    if (!rest)
      return {};
    less = rest;
  }
  auto last = less.getDefiningOp<CompareOp>();
  if (found.empty() || !last)
    return {};
  found.push_back(last);
  return found;
}

SortOp sortAlong(OpBuilder &b, SortOp sort, ValueRange operands, int64_t dimension) {
  auto made = SortOp::create(b, sort.getLoc(), operands.getTypes(), operands, dimension,
                             /*is_stable=*/true);
  made->setDiscardableAttrs(sort->getDiscardableAttrDictionary());
  return made;
}

// The comparator that only one of the comparisons of another decides.
void compareBy(CompareOp comparison, Block &from, Region &to) {
  Block &body = to.emplaceBlock();
  IRMapping mapping;
  for (BlockArgument argument : from.getArguments())
    mapping.map(argument, body.addArgument(argument.getType(), argument.getLoc()));
  auto b = OpBuilder::atBlockEnd(&body);
  SetVector<Operation *> needed;
  BackwardSliceOptions options;
  options.inclusive = true;
  options.filter = [&](Operation *op) { return op->getBlock() == &from; };
  (void)getBackwardSlice(comparison.getOperation(), &needed, options);
  for (Operation &op : from)
    if (needed.contains(&op))
      b.clone(op, mapping);
  ReturnOp::create(b, comparison.getLoc(), mapping.lookup(comparison.getResult()));
}

// By the number that decides last first: each of the sorts leaves equal ones in their order.
void splitKeys(SortOp sort) {
  Block &comparator = sort.getComparator().front();
  SmallVector<CompareOp> comparisons = comparisonsOf(comparator.getTerminator()->getOperand(0));
  if (comparisons.empty())
    return;
  OpBuilder b(sort);
  SmallVector<Value> values(sort->getOperands());
  SmallVector<SortOp> made;
  for (CompareOp comparison : llvm::reverse(comparisons)) {
    made.push_back(sortAlong(b, sort, values, sort.getDimension()));
    compareBy(comparison, comparator, made.back().getComparator());
    values.assign(made.back()->result_begin(), made.back()->result_end());
  }
  if (llvm::all_of(made, [](SortOp one) { return codegen::sortOrderOf(one).has_value(); })) {
    sort->replaceAllUsesWith(values);
    return sort->erase();
  }
  for (SortOp one : llvm::reverse(made))
    one->erase();
}

// Rows of which each element lies in a line of its own are turned before they are sorted, and back.
SortOp turnRows(SortOp sort) {
  constexpr int64_t cachedElements = 1 << 14, longRow = 16;
  auto shape = shapeOf(sort->getOperand(0));
  auto rank = static_cast<int64_t>(shape.size());
  int64_t dimension = codegen::sortedDimensionOf(sort), inside = 1, all = 1;
  for (int64_t dim = 0; dim < rank; ++dim) {
    inside *= dim > dimension ? shape[dim] : 1;
    all *= shape[dim];
  }
  // Of which only the first rows are wanted they are found as they lie.
  bool isSliced = llvm::any_of(sort->getResults(), [](OpResult result) {
    return !result.use_empty() && llvm::all_of(result.getUsers(), llvm::IsaPred<SliceOp>);
  });
  if (inside == 1 || all < cachedElements || shape[dimension] < longRow || isSliced)
    return sort;
  SmallVector<int64_t> there, back(rank);
  for (int64_t dim = 0; dim < rank; ++dim)
    if (dim != dimension)
      there.push_back(dim);
  there.push_back(dimension);
  for (auto [place, dim] : llvm::enumerate(there))
    back[dim] = static_cast<int64_t>(place);
  OpBuilder b(sort);
  SmallVector<Value> turned;
  for (Value operand : sort->getOperands())
    turned.push_back(TransposeOp::create(b, sort.getLoc(), operand, there));
  SortOp made = sortAlong(b, sort, turned, rank - 1);
  made.getComparator().takeBody(sort.getComparator());
  for (auto [old, result] : llvm::zip_equal(sort->getResults(), made->getResults()))
    if (!old.use_empty())
      old.replaceAllUsesWith(TransposeOp::create(b, sort.getLoc(), result, back));
  sort->erase();
  return made;
}

struct SimplifySorts : impl::SimplifySortsBase<SimplifySorts> {
  void runOnOperation() override {
    for (SortOp sort : opsWithin<SortOp>(getOperation()))
      splitKeys(turnRows(sort));
  }
};

} // namespace
} // namespace tessera
