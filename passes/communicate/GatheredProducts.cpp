#include "passes/communicate/GatheredProducts.h"

#include "dialects/interfaces/OpInterfaces.h"
#include "dialects/stablehlo/Converted.h"
#include "mlir/Analysis/TopologicalSortUtils.h"
#include "passes/UnreadOps.h"

using namespace mlir;

namespace tessera::communicate {

constexpr int kSearchedOps = 4000; // between the first product and the last

struct GatheredProducts::Way {
  SmallVector<Operation *, 2> ops;
  int64_t dim, rows;
};

namespace {

// A slice that takes the first rows of `dim`, and all of the other dimensions.
bool cutsBehind(stablehlo::SliceOp slice, int64_t dim) {
  ArrayRef<int64_t> from = shapeOf(slice.getOperand());
  for (auto [d, start, limit, stride] :
       llvm::enumerate(slice.getStartIndices(), slice.getLimitIndices(), slice.getStrides()))
    if (start != 0 || stride != 1 || (static_cast<int64_t>(d) != dim && limit != from[d]))
      return false;
  return true;
}

bool isNumber(Value value) { return isa<FloatType, IntegerType>(typeOf(value).getElementType()); }

// Of sums that take several steps: narrower floats are added in f32, as within one product.
Type sumType(Type element) {
  auto type = dyn_cast<FloatType>(element);
  return type && type.getWidth() < 32 ? Float32Type::get(element.getContext()) : element;
}

} // namespace

GatheredProducts::GatheredProducts(comm::AllGatherOp gather,
                                   function_ref<bool(const GatheredProduct &)> accepts)
    : gather(gather), accepts(accepts) {
  if (gather->getNumOperands() != 1)
    return;
  auto dim = static_cast<int64_t>(gather.getDim());
  Value whole = gather.getOutputs().front();
  follow(whole, {{}, dim, shapeOf(whole)[dim]});
  llvm::sort(products, [](const GatheredProduct &a, const GatheredProduct &b) {
    return a.dot->isBeforeInBlock(b.dot);
  });
  chooseIndependent();
}

void GatheredProducts::follow(Value value, const Way &way) {
  auto dim = static_cast<int64_t>(gather.getDim());
  for (OpOperand &use : value.getUses()) {
    Operation *op = use.getOwner();
    Way on = way;
    on.ops.push_back(op);
    if (op->getBlock() != gather->getBlock()) {
      keepsWhole = true;
    } else if (auto dot = dyn_cast<stablehlo::DotGeneralOp>(op)) {
      unsigned operand = use.getOperandNumber();
      GatheredProduct product{dot,
                              operand,
                              way.ops,
                              way.dim,
                              way.rows,
                              shapeOf(gather.getOutputs().front())[dim],
                              operandDim(dot, operand, way.dim)};
      if (dot.getLhs() != dot.getRhs() && !dot.getAlgorithm() && isNumber(dot.getLhs()) &&
          isNumber(dot.getRhs()) && isNumber(dot.getResult()) && accepts(product))
        products.push_back(product);
      else
        keepsWhole = true;
    } else if (auto transpose = dyn_cast<stablehlo::TransposeOp>(op)) {
      on.dim = llvm::find(transpose.getPermutation(), way.dim) - transpose.getPermutation().begin();
      follow(transpose.getResult(), on);
    } else if (auto slice = dyn_cast<stablehlo::SliceOp>(op); slice && cutsBehind(slice, way.dim)) {
      on.rows = slice.getLimitIndices()[way.dim];
      on.ops.pop_back(); // rows are cut off results
      follow(slice.getResult(), on);
    } else if (isElementwise(op) && op->getNumOperands() == 1 && op->getNumResults() == 1 &&
               !isa<stablehlo::BitcastConvertOp>(op)) {
      follow(op->getResult(0), on);
    } else {
      keepsWhole = true;
    }
  }
}

// A product whose other operand needs the gathered value, or another product, cannot be made in the
// same loop: it reads the whole value.
void GatheredProducts::chooseIndependent() {
  DenseSet<Operation *> needing{gather};
  auto needs = [&](Value value) { return needing.contains(value.getDefiningOp()); };
  auto reads = [&](Operation *op) {
    bool found = llvm::any_of(op->getOperands(), needs);
    for (Region &region : op->getRegions())
      region.walk([&](Operation *inner) { found |= llvm::any_of(inner->getOperands(), needs); });
    return found;
  };
  std::vector<GatheredProduct> chosen;
  auto next = products.begin();
  Operation *op = gather->getNextNode();
  for (int steps = 0; next != products.end() && steps < kSearchedOps; ++steps) {
    for (; next != products.end() && next->dot == op; ++next)
      if (!needs(next->other()))
        chosen.push_back(*next);
    if (reads(op))
      needing.insert(op);
    op = op->getNextNode();
  }
  keepsWhole |= chosen.size() < products.size();
  products = std::move(chosen);
}

// The operand's rows, as the ops on the way make them of those that have come.
Value GatheredProducts::shardOf(RowOps &ops, const GatheredProduct &product, Value rows) const {
  for (Operation *op : product.way) {
    SmallVector<int64_t> shape(shapeOf(rows));
    if (auto transpose = dyn_cast<stablehlo::TransposeOp>(op))
      for (auto [to, from] : llvm::enumerate(transpose.getPermutation()))
        shape[to] = shapeOf(rows)[from];
    Operation *made = ops.b.clone(*op);
    made->setOperand(0, rows);
    made->getResult(0).setType(typeOf(op->getResult(0)).clone(shape));
    rows = made->getResult(0);
  }
  return rows;
}

Value GatheredProducts::take(RowOps &ops, const GatheredProduct &product, Value other, Value rows,
                             Value start, Value taken) const {
  const OperandDim &place = product.place;
  Value shard = shardOf(ops, product, rows);
  int64_t count = shapeOf(shard)[product.dim];
  if (place.role == OperandDim::Contracted && product.rows < product.tiled)
    shard = ops.filledFrom(shard, product.dim, start, product.rows,
                           ops.zeros(RankedTensorType::get({}, typeOf(shard).getElementType())));
  if (place.role != OperandDim::Free)
    other = ops.rowsAt(other, place.other, start, count);
  std::pair<Value, Value> operands{shard, other};
  if (product.operand == 1)
    std::swap(operands.first, operands.second);
  Value part = productOf(ops.b, product.dot, operands.first, operands.second,
                         typeOf(taken).getElementType());
  return place.role == OperandDim::Contracted ? ops.binary("add", taken, part)
                                              : ops.withRowsAt(taken, part, place.result, start);
}

GatheredProducts::Replaced GatheredProducts::makeRing(const Ring &ring) {
  RowOps ops{OpBuilder(products.back().dot), gather.getLoc()};
  auto dim = static_cast<int64_t>(gather.getDim());
  Value whole = gather.getOutputs().front();
  SmallVector<Value> others, taken;
  for (GatheredProduct &product : products) {
    Value other = product.other();
    others.push_back(product.needsRoom() ? ops.padded(other, product.place.other, product.tiled)
                                         : other);
    RankedTensorType type = typeOf(product.dot.getResult());
    if (product.place.role == OperandDim::Contracted) {
      type = type.clone(sumType(type.getElementType()));
    } else {
      SmallVector<int64_t> shape(type.getShape());
      shape[product.place.result] = product.tiled;
      type = type.clone(shape);
    }
    taken.push_back(ops.zeros(type));
  }
  if (keepsWhole)
    taken.push_back(ops.zeros(typeOf(whole)));
  SmallVector<Value> made =
      gatherAround(ops, ring, gather.getInputs().front(), dim, taken,
                   [&](RowOps &at, Value rows, Value start, ValueRange before) {
                     SmallVector<Value> after;
                     for (auto [i, product] : llvm::enumerate(products))
                       after.push_back(take(at, product, others[i], rows, start, before[i]));
                     if (keepsWhole)
                       after.push_back(at.withRowsAt(before.back(), rows, dim, start));
                     return after;
                   });
  Replaced replaced;
  for (auto [i, product] : llvm::enumerate(products)) {
    Value now = made[i], old = product.dot.getResult();
    if (product.place.role == OperandDim::Contracted)
      now = stablehlo::converted(ops.b, ops.loc, now, typeOf(old).getElementType());
    else
      now = ops.firstRows(now, product.place.result, shapeOf(old)[product.place.result]);
    replaced.push_back({old, now});
  }
  if (keepsWhole)
    replaced.push_back({whole, made.back()});
  return replaced;
}

void GatheredProducts::replaceAll(const Replaced &values, function_ref<void(Operation *)> erasing) {
  Block *block = gather->getBlock();
  for (auto [old, now] : values)
    old.replaceAllUsesWith(now);
  for (const GatheredProduct &product : products)
    eraseReplaced(product.dot, erasing);
  if (gather->use_empty()) {
    erasing(gather);
    gather.erase();
  }
  // What read the first product stands before the loop that now makes it.
  sortTopologically(block);
}

void eraseReplaced(Operation *replaced, function_ref<void(Operation *)> erasing) {
  eraseUnread(replaced, [&](Operation *op) {
    bool mayErase = op == replaced || isElementwise(op) ||
                    isa<stablehlo::DotGeneralOp, stablehlo::TransposeOp, stablehlo::SliceOp,
                        stablehlo::PadOp, stablehlo::ReshapeOp>(op);
    if (mayErase)
      erasing(op);
    return mayErase;
  });
}

} // namespace tessera::communicate
