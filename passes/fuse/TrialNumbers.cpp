#include "passes/fuse/TrialNumbers.h"

#include "dialects/exec/ExecOps.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace tessera::fuse {

// Is on the ops of copies only, and nowhere outside of this file.
constexpr llvm::StringLiteral kNumber = "number";

std::vector<Operation *> numberedOps(ModuleOp module) {
  std::vector<Operation *> ops;
  module.walk<WalkOrder::PreOrder>([&](Operation *op) { ops.push_back(op); });
  return ops;
}

void numberOps(ModuleOp copy) {
  Builder builder(copy.getContext());
  for (auto [i, op] : llvm::enumerate(numberedOps(copy)))
    op->setAttr(kNumber, builder.getI64IntegerAttr(static_cast<int64_t>(i)));
}

int numberOf(Operation *op) {
  auto number = op->getAttrOfType<IntegerAttr>(kNumber);
  return number ? static_cast<int>(number.getInt()) : -1;
}

std::vector<int> numbersOf(Operation *op) {
  auto fused = dyn_cast<exec::FusedOp>(op);
  if (!fused)
    return {numberOf(op)};
  std::vector<int> numbers;
  for (Operation &inner : fused.getBlock()->without_terminator())
    if (int number = numberOf(&inner); number >= 0)
      numbers.push_back(number);
  llvm::sort(numbers);
  return numbers;
}

} // namespace tessera::fuse
