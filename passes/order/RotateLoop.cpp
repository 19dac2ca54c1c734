#include "passes/order/RotateLoop.h"

#include "dialects/tessera/Marks.h"
#include "passes/order/BlockTasks.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using tessera::stablehlo::WhileOp;

namespace tessera::order {
namespace {

void forEachOperand(Operation *op, llvm::function_ref<void(Value)> visit) {
  op->walk([&](Operation *inner) { llvm::for_each(inner->getOperands(), visit); });
}

class Rotation {
public:
  Rotation(WhileOp loop, const DenseSet<Operation *> &early)
      : loop(loop), body(loop.getBody().front()), early(early), b(loop) {}

  std::optional<RotatedLoop> run() {
    findCarried();
    if (!conditionIsThere())
      return std::nullopt;
    IRMapping first;
    for (auto [argument, operand] : llvm::zip(body.getArguments(), loop->getOperands()))
      first.map(argument, operand);
    cloneInto(first, true, &made.around);
    SmallVector<Value> slots = valuesOf(carried.getArrayRef(), first, &made.around);
    made.loop = cloneLoop(slots);
    made.around.push_back(made.loop);
    IRMapping last;
    for (auto [value, slot] : llvm::zip(carried, made.loop->getResults()))
      last.map(value, slot);
    cloneInto(last, false, &made.around);
    made.results = valuesOf(yielded(), last, &made.around);
    return std::move(made);
  }

private:
  OperandRange yielded() { return body.getTerminator()->getOperands(); }

  bool isInside(Value value) const { return value.getParentBlock() == &body; }

  // What A has made, or the trip's arguments, and B or the next trip reads.
  void findCarried() {
    for (Operation &op : body)
      if (&op == body.getTerminator() || (!isFree(&op) && !early.contains(&op)))
        forEachOperand(&op, [&](Value value) { carry(value); });
  }

  void carry(Value value) {
    Operation *def = value.getDefiningOp();
    if (!isInside(value))
      return;
    if (def && isFree(def))
      llvm::for_each(def->getOperands(), [&](Value operand) { carry(operand); });
    else if (!def || early.contains(def))
      carried.insert(value);
  }

  // The condition is evaluated before B of the trip before.
  bool conditionIsThere() {
    Block &condition = loop.getCond().front();
    for (BlockArgument argument : condition.getArguments()) {
      Value next = yielded()[argument.getArgNumber()];
      if (!argument.use_empty() && isInside(next) && !carried.contains(next))
        return false;
    }
    return true;
  }

  // `value` of this trip; views and constants are made where they are read.
  Value valueOf(Value value, IRMapping &trip, SmallVectorImpl<Operation *> *into = nullptr) {
    if (Value known = trip.lookupOrNull(value))
      return known;
    if (!isInside(value))
      return value;
    Operation *view = value.getDefiningOp();
    for (Value operand : view->getOperands())
      valueOf(operand, trip, into);
    note(b.clone(*view, trip), into);
    return trip.lookup(value);
  }
  SmallVector<Value> valuesOf(ValueRange values, IRMapping &trip,
                              SmallVectorImpl<Operation *> *into = nullptr) {
    return llvm::map_to_vector(values, [&](Value value) { return valueOf(value, trip, into); });
  }

  void cloneInto(IRMapping &trip, bool isEarly, SmallVectorImpl<Operation *> *into = nullptr) {
    for (Operation &op : body.without_terminator()) {
      if (isFree(&op) || early.contains(&op) != isEarly)
        continue;
      forEachOperand(&op, [&](Value value) {
        if (isInside(value))
          valueOf(value, trip, into);
      });
      note(b.clone(op, trip), into);
    }
    for (auto [from, to] : trip.getBlockMap())
      made.copies.push_back({to, from});
  }

  static void note(Operation *op, SmallVectorImpl<Operation *> *into) {
    if (into)
      into->push_back(op);
  }

  WhileOp cloneLoop(ValueRange slots) {
    OperationState state(loop.getLoc(), WhileOp::getOperationName());
    state.addOperands(slots);
    state.addTypes(slots.getTypes());
    state.addAttributes(loop->getAttrs());
    state.addRegion();
    state.addRegion();
    auto rotated = cast<WhileOp>(b.create(state));
    setTripCount(rotated, *getTripCount(loop) - 1);
    OpBuilder::InsertionGuard guard(b);
    SmallVector<Location> locations(slots.size(), loop.getLoc());
    cloneCondition(*b.createBlock(&rotated.getCond(), {}, slots.getTypes(), locations));
    cloneBody(*b.createBlock(&rotated.getBody(), {}, slots.getTypes(), locations));
    return rotated;
  }

  void cloneCondition(Block &to) {
    IRMapping trip;
    for (auto [value, slot] : llvm::zip(carried, to.getArguments()))
      trip.map(value, slot);
    Block &from = loop.getCond().front();
    for (BlockArgument argument : from.getArguments())
      if (!argument.use_empty())
        trip.map(argument, valueOf(yielded()[argument.getArgNumber()], trip));
    for (Operation &op : from)
      b.clone(op, trip);
  }

  void cloneBody(Block &to) {
    IRMapping before, trip; // of the trip before, of this one
    for (auto [value, slot] : llvm::zip(carried, to.getArguments()))
      before.map(value, slot);
    cloneInto(before, false);
    for (auto [argument, next] : llvm::zip(body.getArguments(), yielded()))
      trip.map(argument, valueOf(next, before));
    cloneInto(trip, true);
    SmallVector<Value> next = valuesOf(carried.getArrayRef(), trip);
    stablehlo::ReturnOp::create(b, loop.getLoc(), next);
  }

  WhileOp loop;
  Block &body;
  const DenseSet<Operation *> &early;
  OpBuilder b;
  llvm::SetVector<Value> carried;
  RotatedLoop made;
};

} // namespace

std::optional<RotatedLoop> rotate(WhileOp loop, const DenseSet<Operation *> &early) {
  return Rotation(loop, early).run();
}

void RotatedLoop::take(WhileOp old) {
  old->replaceAllUsesWith(results);
  old.erase();
}

void RotatedLoop::drop() {
  for (Operation *op : llvm::reverse(around))
    op->erase();
}

} // namespace tessera::order
