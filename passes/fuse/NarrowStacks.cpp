#include "passes/fuse/NarrowStacks.h"

#include "dialects/interfaces/OpInterfaces.h"
#include "dialects/stablehlo/StablehloOps.h"
#include "passes/UnreadOps.h"
#include "passes/fuse/FilledStack.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tessera::stablehlo;

namespace tessera::fuse {
namespace {

using fusion::NodeKind;

RankedTensorType tensorOf(Value value) { return cast<RankedTensorType>(value.getType()); }

// All bits are zero: the same number in every type that has one.
bool isZeros(Value value) {
  DenseElementsAttr elements;
  return matchPattern(value, m_Constant(&elements)) && elements.isSplat() &&
         llvm::all_of(elements.getRawData(), [](char byte) { return byte == 0; });
}

// What a stack's values are converted from, if that is narrower.
Value narrowValue(const FilledStack &stack) {
  auto convert = stack.value().getDefiningOp<ConvertOp>();
  if (!convert)
    return {};
  Value narrow = convert.getOperand();
  Type element = tensorOf(narrow).getElementType();
  bool hasZero = element.isIntOrFloat() && !isa<Float8E8M0FNUType>(element);
  bool isNarrower = hasZero && byteSize(tensorOf(narrow)) < byteSize(tensorOf(convert));
  return isNarrower ? narrow : Value();
}

// Whether an op computes of an array's elements within a kernel, which can convert them first.
bool canConvertFirst(Operation *op) {
  NodeKind kind = fusionKindOf(op);
  return kind != NodeKind::Outside && kind != NodeKind::Alone && kind != NodeKind::Update;
}

// Whether all that reads an array, or a view of it, can convert its elements.
bool isReadByElements(Value array) {
  SmallVector<Value> work{array};
  while (!work.empty())
    for (Operation *user : work.pop_back_val().getUsers()) {
      if (!canConvertFirst(user))
        return false;
      if (isa<ReshapeOp>(user))
        work.push_back(user->getResult(0));
    }
  return true;
}

class Narrowing {
public:
  Narrowing(WhileOp loop, const FilledStack &stack, Value narrow)
      : loop(loop), i(stack.carried), update(stack.update), narrow(narrow),
        wide(tensorOf(loop->getResult(i)).getElementType()) {}

  void run() {
    convertForReaders(loop->getResult(i));
    OpBuilder before(loop);
    auto whole = narrowed(loop->getResult(i).getType());
    loop->setOperand(i, ConstantOp::create(before, loop->getOperand(i).getLoc(),
                                           cast<ElementsAttr>(before.getZeroAttr(whole))));
    for (Value carried : {Value(loop->getResult(i)), Value(loop.getBody().getArgument(i)),
                          Value(loop.getCond().getArgument(i)), Value(update->getResult(0))})
      carried.setType(whole);
    OpBuilder b(update);
    auto slot = narrowed(update.getUpdate().getType());
    Value value = narrow.getType() == slot
                      ? narrow
                      : Value(ReshapeOp::create(b, narrow.getLoc(), slot, narrow));
    Operation *wideValue = update.getUpdate().getDefiningOp();
    update.getUpdateMutable().assign(value);
    eraseUnread({wideValue});
  }

private:
  RankedTensorType narrowed(Type type) const {
    return RankedTensorType::get(cast<RankedTensorType>(type).getShape(),
                                 tensorOf(narrow).getElementType());
  }

  Value widened(OpBuilder &b, Value value) const {
    auto type = RankedTensorType::get(tensorOf(value).getShape(), wide);
    return ConvertOp::create(b, value.getLoc(), type, value);
  }

  // Behind the loop, and where others read: a slice of the stack is converted as a slice.
  void convertForReaders(Value stack) {
    Value behind;
    for (OpOperand &use : llvm::make_early_inc_range(stack.getUses())) {
      Operation *reader = use.getOwner();
      OpBuilder b(reader);
      if (isa<DynamicSliceOp, ReshapeOp>(reader)) {
        Value part = reader->getResult(0);
        b.setInsertionPointAfter(reader);
        part.setType(narrowed(part.getType()));
        Value again = widened(b, part);
        part.replaceAllUsesExcept(again, again.getDefiningOp());
      } else if (reader->getBlock() != loop->getBlock()) {
        use.set(widened(b, stack));
      } else {
        b.setInsertionPointAfter(loop);
        behind = behind ? behind : widened(b, stack);
        use.set(behind);
      }
    }
  }

  WhileOp loop;
  unsigned i;
  DynamicUpdateSliceOp update;
  Value narrow;
  Type wide;
};

} // namespace

int narrowStacks(ModuleOp module) {
  int count = 0;
  module.walk([&](WhileOp loop) {
    for (unsigned i = 0; i < loop->getNumResults(); ++i) {
      std::optional<FilledStack> stack = filledStack(loop, i);
      Value narrow = stack ? narrowValue(*stack) : Value();
      if (!narrow || !isZeros(loop->getOperand(i)) || !isReadByElements(loop->getResult(i)))
        continue;
      Narrowing(loop, *stack, narrow).run();
      ++count;
    }
  });
  return count;
}

} // namespace tessera::fuse
