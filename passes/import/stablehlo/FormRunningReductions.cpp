// An associative scan that a program writes as a ladder of halves becomes one running reduction.
// Passes.td shows an example; ScanLadder.h how a ladder is known.
#include "dialects/sdy/KeepSharding.h"
#include "dialects/stablehlo/TensorTypes.h"
#include "passes/UnreadOps.h"
#include "passes/import/Passes.h"
#include "passes/import/stablehlo/NeutralElements.h"
#include "passes/import/stablehlo/ScanLadder.h"

#include "llvm/ADT/SmallPtrSet.h"

namespace tessera {
#define GEN_PASS_DEF_FORMRUNNINGREDUCTIONS
#include "passes/import/Passes.h.inc"

using namespace mlir;
using namespace tessera::stablehlo;
using import::ScanLadder;

namespace {

// What a reversal along the dimension alone reverses.
Value reversedBy(Operation *op, int64_t dim) {
  auto reverse = dyn_cast_or_null<ReverseOp>(op);
  return reverse && reverse.getDimensions() == ArrayRef<int64_t>(dim) ? reverse.getOperand()
                                                                      : Value();
}

// A scan from the end on reverses all that goes in and all that comes out.
bool isFromTheEnd(const ScanLadder &ladder, int64_t size) {
  return shapeOf(ladder.arrays[0])[ladder.dim] == size &&
         llvm::all_of(ladder.arrays,
                      [&](Value array) { return reversedBy(array.getDefiningOp(), ladder.dim); }) &&
         llvm::all_of(ladder.results, [&](Value result) {
           return !result || llvm::all_of(result.getUsers(), [&](Operation *user) {
             return bool(reversedBy(user, ladder.dim));
           });
         });
}

// Right behind the last of the arrays; null where one is in a block around another.
Operation *placeFor(const ScanLadder &ladder, Block *block) {
  Operation *last = nullptr;
  for (Value array : ladder.arrays)
    if (Operation *op = array.getDefiningOp(); op && op->getBlock() == block)
      last = !last || last->isBeforeInBlock(op) ? op : last;
  return last ? last->getNextNode() : &block->front();
}

Type widened(Type type) {
  Type element = getElementTypeOrSelf(type);
  if (!element.isBF16() && !element.isF16())
    return type;
  return cast<RankedTensorType>(type).clone(Float32Type::get(type.getContext()));
}

// The first `size` places of an array.
Value beginning(OpBuilder &b, Location loc, Value array, int64_t dim, int64_t size) {
  SmallVector<int64_t> starts(shapeOf(array).size()), ends(shapeOf(array)), steps(starts.size(), 1);
  if (ends[dim] == size)
    return array;
  ends[dim] = size;
  return SliceOp::create(b, loc, array, starts, ends, steps);
}

// Narrow floats are combined as f32: one after the other, they would be rounded at each place.
void widen(Block &body) {
  for (BlockArgument argument : body.getArguments())
    argument.setType(widened(argument.getType()));
  for (Operation &op : body.without_terminator()) {
    for (Value result : op.getResults())
      result.setType(widened(result.getType()));
    auto constant = dyn_cast<ConstantOp>(op);
    auto type = cast<ShapedType>(op.getResult(0).getType());
    if (!constant || constant.getValue().getElementType() == type.getElementType())
      continue;
    auto number = cast<DenseFPElementsAttr>(constant.getValue()).getSplatValue<APFloat>();
    bool isRounded;
    number.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven, &isRounded);
    constant.setValueAttr(DenseElementsAttr::get(type, number));
  }
}

class Formed {
public:
  // False where the program stays as it is.
  bool form(ScanLadder ladder, Operation *result) {
    Block *block = result->getBlock();
    Operation *place = placeFor(ladder, block);
    // What lies before the last of the arrays may be what that is computed from.
    for (Value &each : ladder.results)
      if (each && (each.getParentBlock() != block || each.getDefiningOp()->isBeforeInBlock(place)))
        each = nullptr;
    int64_t size = shapeOf(result->getResult(0))[ladder.dim];
    bool isReversed = isFromTheEnd(ladder, size);
    OpBuilder b(place);
    Location loc = result->getLoc();
    Region region;
    Block &body = region.emplaceBlock();
    for (int turn = 0; turn < 2; ++turn)
      for (Value array : ladder.arrays)
        body.addArgument(RankedTensorType::get({}, typeOf(array).getElementType()), loc);
    OpBuilder inBody(result->getContext());
    inBody.setInsertionPointToEnd(&body);
    ReturnOp::create(inBody, loc, import::combineIn(inBody, ladder, isReversed));
    widen(body);
    std::optional<SmallVector<ElementsAttr>> neutral = import::neutralElements(body);
    if (!neutral)
      return false;
    SmallVector<Value> arrays(ladder.arrays), starts;
    if (isReversed)
      for (Value &array : arrays)
        array = reversedBy(array.getDefiningOp(), ladder.dim);
    for (Value &array : arrays) {
      array = beginning(b, loc, array, ladder.dim, size);
      if (Type wide = widened(array.getType()); wide != array.getType())
        array = ConvertOp::create(b, loc, wide, array);
    }
    for (ElementsAttr element : *neutral)
      starts.push_back(ConstantOp::create(b, loc, element));
    int64_t rank = typeOf(arrays[0]).getRank();
    SmallVector<int64_t> windows(rank, 1), padding(2 * rank, 0);
    windows[ladder.dim] = size;
    padding[2 * ladder.dim + isReversed] = size - 1;
    auto running = ReduceWindowOp::create(
        b, loc, TypeRange(ValueRange(arrays)), arrays, starts, b.getDenseI64ArrayAttr(windows),
        DenseI64ArrayAttr(), DenseI64ArrayAttr(), DenseI64ArrayAttr(),
        DenseIntElementsAttr::get(RankedTensorType::get({rank, 2}, b.getI64Type()), padding));
    running.getBody().takeBody(region);
    SmallVector<std::pair<Operation *, Value>> replaced;
    for (auto [old, made] : llvm::zip_equal(ladder.results, running.getResults()))
      if (old) {
        Value result = made;
        if (old.getType() != made.getType())
          result = ConvertOp::create(b, loc, old.getType(), made);
        replaced.push_back({old.getDefiningOp(), result});
      }
    for (auto [old, made] : replaced)
      if (!isErased(old))
        replace(old, made, isReversed);
    return true;
  }

  bool isErased(Operation *op) const { return erased.contains(op); }

private:
  void replace(Operation *op, Value made, bool isReversed) {
    SmallVector<Operation *> done =
        isReversed ? llvm::to_vector(op->getUsers()) : SmallVector<Operation *>{op};
    for (Operation *each : done) {
      sdy::keepSharding(each->getResults(), made);
      each->replaceAllUsesWith(ValueRange(made));
      erase(each);
    }
    if (done.empty())
      erase(op);
  }

  void erase(Operation *op) {
    eraseUnread({op}, [&](Operation *each) { return erased.insert(each).second; });
  }

  llvm::SmallPtrSet<Operation *, 32> erased; // compared only
};

struct FormRunningReductionsPass : impl::FormRunningReductionsBase<FormRunningReductionsPass> {
  void runOnOperation() override {
    DenseMap<Value, SmallVector<Operation *>> scans; // by what they scan
    SmallVector<Operation *> all;
    getOperation().walk([&](Operation *op) {
      if (op->getNumResults() != 1)
        return;
      if (Value array = import::scannedArray(op->getResult(0))) {
        scans[array].push_back(op);
        all.push_back(op);
      }
    });
    SmallVector<std::pair<Operation *, ScanLadder>> ladders;
    for (Operation *op : llvm::reverse(all))
      if (std::optional<ScanLadder> ladder = import::ladderOf(op->getResult(0)))
        ladders.push_back({op, std::move(*ladder)});
    // Of those that are scanned together first the one that needs all.
    llvm::stable_sort(ladders, [](const auto &a, const auto &b) {
      return a.second.arrays.size() > b.second.arrays.size();
    });
    Formed formed;
    for (auto &[op, ladder] : ladders) {
      if (formed.isErased(op))
        continue;
      SmallVector<Value> candidates;
      for (Value array : ladder.arrays)
        for (Operation *other : scans.lookup(array))
          if (!formed.isErased(other))
            candidates.push_back(other->getResult(0));
      import::findResults(ladder, candidates);
      formed.form(ladder, op);
    }
  }
};

} // namespace
} // namespace tessera
