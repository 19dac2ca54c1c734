#include "passes/fuse/ScorePlane.h"

#include "dialects/stablehlo/TensorTypes.h"
#include "passes/fuse/OutlinedOps.h"

namespace tessera::fuse {

using namespace mlir;
using namespace tessera::stablehlo;
using fusion::NodeKind;

static constexpr size_t mostOps = 300, mostOperands = 2 * mostOps;

ScorePlane::ScorePlane(Block &block, DotGeneralOp scores,
                       llvm::function_ref<bool(Operation *)> ignores)
    : block(block), elements(typeOf(scores->getResult(0)).getNumElements()), products{scores} {
  ops.insert(scores);
  collect(ignores);
  if (!hasExponentials())
    return;
  findDims();
  findKeys();
  if (!other)
    classify();
}

Operation *ScorePlane::inBlock(Value value) const {
  Operation *op = value.getDefiningOp();
  return op && op->getBlock() == &block ? op : nullptr;
}

bool ScorePlane::isOfPairs(Value value) const {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape() && type.getNumElements() == elements;
}

// Products that come in beside what is known. `seen` is what earlier calls have walked: where values of
// other layers have as many elements, each op's walk would be theirs again.
void ScorePlane::collectOperands(Operation *op, DenseSet<Operation *> &seen) {
  SmallVector<Operation *> work{op};
  while (!work.empty() && seen.size() < mostOperands) {
    Operation *next = work.pop_back_val();
    for (Value operand : next->getOperands()) {
      Operation *def = inBlock(operand);
      if (!def || !isOfPairs(operand) || ops.contains(def) || !seen.insert(def).second)
        continue;
      if (auto product = dyn_cast<DotGeneralOp>(def)) {
        products.push_back(product);
        ops.insert(product);
      } else if (OutlinedOps::isBetween(def)) {
        work.push_back(def);
      }
    }
  }
}

void ScorePlane::collect(llvm::function_ref<bool(Operation *)> ignores) {
  DenseSet<Operation *> seen;
  for (size_t i = 0; i < ops.size() && ops.size() < mostOps; ++i) {
    Operation *op = ops[i];
    if (!isa<DotGeneralOp>(op))
      collectOperands(op, seen);
    for (Operation *user : op->getUsers()) {
      bool isHere = user->getBlock() == &block;
      auto product = dyn_cast<DotGeneralOp>(user);
      auto sum = dyn_cast<ReduceOp>(user);
      if (isHere && product) {
        unsigned side = product->getOperand(0) == op->getResult(0) ? 0 : 1;
        consumers.push_back({product, side, false, false});
      } else if (isHere && sum && OutlinedOps::isBetween(sum)) {
        if (!llvm::is_contained(sums, sum))
          sums.push_back(sum);
      } else if (isHere && OutlinedOps::isBetween(user) && isOfPairs(user->getResult(0))) {
        ops.insert(user);
      } else if (!other && !ignores(user)) {
        other = user;
      }
    }
  }
}

//===--- Dimensions ---===//

const ScorePlane::Dims *ScorePlane::dimsOf(Value value) const {
  auto found = dims.find(value);
  return found == dims.end() ? nullptr : &found->second;
}

ScorePlane::Dims ScorePlane::partsOf(ArrayRef<int> found) const {
  Dims parts;
  for (int dim : found)
    if (dim < firstMerged || dim >= firstMerged + static_cast<int>(merged.size()))
      parts.push_back(dim);
    else
      llvm::append_range(parts, merged[dim - firstMerged]);
  return parts;
}

// The dimensions in the order of the elements, taken together for the new ones; none where one of them
// would be cut.
std::optional<ScorePlane::Dims> ScorePlane::reshaped(ArrayRef<int> from, ArrayRef<int64_t> shape) {
  Dims left = partsOf(from), result;
  llvm::erase(left, none);
  ArrayRef<int> rest = left;
  for (int64_t size : shape) {
    Dims own;
    int64_t points = 1;
    while (points < size && !rest.empty()) {
      own.push_back(rest.front());
      points *= sizes[rest.front()];
      rest = rest.drop_front();
    }
    if (points != size)
      return std::nullopt;
    if (own.size() > 1) {
      size_t number = llvm::find(merged, own) - merged.begin();
      if (number == merged.size())
        merged.push_back(own);
      own = {firstMerged + static_cast<int>(number)};
    }
    result.push_back(own.empty() ? none : own[0]);
  }
  return result;
}

bool ScorePlane::setDims(Value value, Dims found) {
  auto [it, isNew] = dims.try_emplace(value, found);
  if (!isNew && it->second != found && !other)
    other = value.getDefiningOp(); // pairs in another order meet these
  return isNew;
}

static SmallVector<int64_t> withoutOnes(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> at;
  for (auto [d, size] : llvm::enumerate(shape))
    if (size != 1)
      at.push_back(static_cast<int64_t>(d));
  return at;
}

std::optional<SmallVector<int64_t>> movedDims(Operation *op) {
  if (!isa<TransposeOp, BroadcastInDimOp, ReshapeOp>(op))
    return std::nullopt;
  auto from = shapeOf(op->getOperand(0)), to = shapeOf(op->getResult(0));
  SmallVector<int64_t> places;
  if (auto transpose = dyn_cast<TransposeOp>(op)) {
    places.resize(from.size());
    for (auto [d, p] : llvm::enumerate(transpose.getPermutation()))
      places[p] = static_cast<int64_t>(d);
    return places;
  }
  if (auto broadcast = dyn_cast<BroadcastInDimOp>(op))
    return SmallVector<int64_t>(broadcast.getBroadcastDimensions());
  auto kept = withoutOnes(from), result = withoutOnes(to);
  if (kept.size() != result.size() || llvm::any_of(llvm::zip(kept, result), [&](auto pair) {
        return from[std::get<0>(pair)] != to[std::get<1>(pair)];
      }))
    return std::nullopt;
  places.assign(from.size(), -1);
  for (auto [d, p] : llvm::zip(kept, result))
    places[d] = p;
  return places;
}

bool ScorePlane::relate(Operation *op) {
  Value result = op->getResult(0);
  switch (fusionKindOf(op)) {
  case NodeKind::Reshape: {
    auto carry = [&](Value from, Value to) {
      auto found = reshaped(*dimsOf(from), shapeOf(to));
      if (!found && dimsOf(to) && !other)
        other = op;
      return found && setDims(to, *found);
    };
    Value operand = op->getOperand(0);
    bool changed = dimsOf(operand) && carry(operand, result);
    return (dimsOf(result) && carry(result, operand)) || changed;
  }
  case NodeKind::Transpose:
  case NodeKind::Broadcast: {
    Value operand = op->getOperand(0);
    auto places = movedDims(op);
    if (!places)
      return false;
    auto carry = [&](Value from, Value to, bool back) {
      Dims result(shapeOf(to).size(), none);
      const Dims &known = *dimsOf(from);
      for (auto [d, p] : llvm::enumerate(*places))
        if (p >= 0 && shapeOf(operand)[d] != 1)
          (back ? result[d] : result[p]) = back ? known[p] : known[d];
      return setDims(to, result);
    };
    bool changed = dimsOf(operand) && carry(operand, result, false);
    return (dimsOf(result) && carry(result, operand, true)) || changed;
  }
  default:
    break;
  }
  SmallVector<Value> alike{result};
  for (Value operand : op->getOperands())
    if (shapeOf(operand) == shapeOf(result) && ops.contains(operand.getDefiningOp()))
      alike.push_back(operand);
  auto known = llvm::find_if(alike, [&](Value value) { return dimsOf(value); });
  if (known == alike.end())
    return false;
  Dims found = *dimsOf(*known);
  bool changed = false;
  for (Value value : alike)
    changed |= setDims(value, found);
  return changed;
}

void ScorePlane::findDims() {
  Value scores = products[0]->getResult(0);
  Dims first;
  for (int64_t size : shapeOf(scores)) {
    first.push_back(size == 1 ? none : static_cast<int>(sizes.size()));
    if (size != 1)
      sizes.push_back(size);
  }
  setDims(scores, first);
  for (bool changed = true; changed && !other;) {
    changed = false;
    for (Operation *op : ops)
      if (!isa<DotGeneralOp>(op))
        changed |= relate(op);
  }
  for (Operation *op : ops)
    if (!other && !dimsOf(op->getResult(0)))
      other = op;
}

static SmallVector<int> reducedDims(ReduceOp sum, const ScorePlane::Dims &dims) {
  SmallVector<int> reduced;
  for (int64_t d : sum.getDimensions())
    if (dims[d] != ScorePlane::none)
      reduced.push_back(dims[d]);
  return reduced;
}

// Of exp(scores - row).
static BroadcastInDimOp rowBeforeExponential(Operation *op) {
  auto unconverted = [](Value value) {
    while (auto convert = value.getDefiningOp<ConvertOp>())
      value = convert->getOperand(0);
    return value;
  };
  if (!isa<ExpOp>(op))
    return {};
  auto less = unconverted(op->getOperand(0)).getDefiningOp<SubtractOp>();
  return less ? unconverted(less->getOperand(1)).getDefiningOp<BroadcastInDimOp>() : nullptr;
}

// The dimensions of pairs that what is subtracted before exponentials is the same along: it is of rows.
ScorePlane::Dims ScorePlane::keysOfExponentials() const {
  for (Operation *op : ops) {
    BroadcastInDimOp row = rowBeforeExponential(op);
    if (!row || isOfGradient(op->getResult(0)))
      continue;
    const Dims *pairs = dimsOf(op->getResult(0));
    if (!pairs)
      continue;
    Dims along(*pairs);
    for (auto [d, to] : llvm::enumerate(row.getBroadcastDimensions()))
      if (shapeOf(row.getOperand())[d] != 1)
        along[to] = none;
    along = partsOf(along);
    llvm::erase(along, none);
    llvm::sort(along);
    return along;
  }
  return {};
}

void ScorePlane::findKeys() {
  if (other)
    return;
  if (sums.empty()) {
    Dims along = keysOfExponentials();
    keys.assign(along.begin(), along.end());
  }
  for (ReduceOp sum : sums) {
    Dims reduced = partsOf(reducedDims(sum, *dimsOf(sum->getOperand(0))));
    llvm::sort(reduced);
    if (keys.empty())
      keys.assign(reduced.begin(), reduced.end());
    if (ArrayRef<int>(keys) != ArrayRef<int>(reduced) && !other)
      other = sum;
  }
}

bool ScorePlane::areKeys(ArrayRef<int> found) const {
  Dims sorted = partsOf(found);
  llvm::sort(sorted);
  return !keys.empty() && ArrayRef<int>(sorted) == ArrayRef<int>(keys);
}

bool ScorePlane::isKey(int dim) const {
  return llvm::any_of(partsOf(dim), [&](int part) { return llvm::is_contained(keys, part); });
}

ScorePlane::Dims ScorePlane::rowDims() const {
  Dims rows;
  for (int dim = 0; dim < static_cast<int>(sizes.size()); ++dim)
    if (!isKey(dim))
      rows.push_back(dim);
  return rows;
}

//===--- Consumers ---===//

bool ScorePlane::isOfGradient(Value value) const {
  SmallVector<Operation *> work{value.getDefiningOp()};
  DenseSet<Operation *> seen;
  while (!work.empty()) {
    Operation *op = work.pop_back_val();
    if (!op || !ops.contains(op) || !seen.insert(op).second)
      continue;
    if (op != products[0] && isa<DotGeneralOp>(op))
      return true;
    for (Value operand : op->getOperands())
      work.push_back(operand.getDefiningOp());
  }
  return false;
}

bool ScorePlane::hasExponentials() const {
  bool isGradient = products.size() > 1;
  return (!sums.empty() || isGradient) && llvm::any_of(ops, [&](Operation *op) {
           return isa<ExpOp>(op) && (!sums.empty() || rowBeforeExponential(op)) &&
                  !isOfGradient(op->getResult(0));
         });
}

void ScorePlane::classify() {
  for (Consumer &consumer : consumers) {
    auto numbers = consumer.product.getDotDimensionNumbers();
    Dims contracted;
    for (int64_t d : consumer.side == 0 ? numbers.getLhsContractingDimensions()
                                        : numbers.getRhsContractingDimensions())
      if (int dim = (*dimsOf(consumer.factor()))[d]; dim != none)
        contracted.push_back(dim);
    consumer.isOfRows = areKeys(contracted);
    if (!consumer.isOfRows && llvm::any_of(contracted, [&](int dim) { return isKey(dim); }))
      other = consumer.product;
    consumer.isOfGradient = isOfGradient(consumer.factor());
  }
}

} // namespace tessera::fuse
