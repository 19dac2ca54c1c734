// A loop that puts away an array and a cheap function of its elements, as a tanh and what its gradient takes
// one less of, for the loop that goes back: that one computes the function. Passes.td shows an example.
#include "dialects/interfaces/OpInterfaces.h"
#include "dialects/stablehlo/StablehloOps.h"
#include "dialects/stablehlo/TensorTypes.h"
#include "passes/fuse/Passes.h"
#include "passes/fuse/RematStacks.h"

namespace tessera {
#define GEN_PASS_DEF_DROPFUNCTIONSTACKS
#include "passes/fuse/Passes.h.inc"

using namespace mlir;
using namespace tessera::stablehlo;

// Whether a value is computed element by element, by a cheap op or two, of one that is kept and no wider.
static bool isFunctionOf(const DenseSet<Value> &kept, Value value) {
  constexpr size_t most = 2;
  Value source;
  size_t ops = 0;
  SmallVector<Value> work{value};
  while (!work.empty()) {
    Value next = work.pop_back_val();
    if (next != value && kept.contains(next)) {
      if (source && source != next)
        return false;
      source = next;
      continue;
    }
    Operation *op = next.getDefiningOp();
    if (auto constant = dyn_cast_or_null<ConstantOp>(op);
        constant && isa<SplatElementsAttr>(constant.getValue()))
      continue;
    if (!op || op->getBlock() != value.getParentBlock() || !isElementwise(op) || isExpensive(op) ||
        ++ops > most)
      return false;
    llvm::append_range(work, op->getOperands());
  }
  auto bytes = [](Value of) { return byteSize(cast<RankedTensorType>(of.getType())); };
  return source && bytes(source) <= bytes(value);
}

SmallVector<int> fuse::Stacks::ofFunctions() const {
  SmallVector<int> found;
  int number = 0;
  for (const LoopPair &pair : pairs) {
    DenseSet<Value> all, kept;
    for (const fuse::FilledStack &stack : pair.stacks)
      all.insert(stack.value());
    for (Value value : all)
      if (!isFunctionOf(all, value))
        kept.insert(value);
    for (const fuse::FilledStack &stack : pair.stacks) {
      if (!kept.contains(stack.value()) && isFunctionOf(kept, stack.value()))
        found.push_back(number);
      ++number;
    }
  }
  return found;
}

namespace {
struct DropFunctionStacks : impl::DropFunctionStacksBase<DropFunctionStacks> {
  void runOnOperation() override {
    fuse::Stacks stacks(getOperation());
    stacks.drop(stacks.ofFunctions());
  }
};
} // namespace
} // namespace tessera
