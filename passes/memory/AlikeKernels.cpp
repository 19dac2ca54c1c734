#include "passes/memory/AlikeKernels.h"

#include "dialects/interfaces/OpInterfaces.h"
#include "dialects/stablehlo/StablehloOps.h"
#include "dialects/stablehlo/TensorTypes.h"

#include "llvm/ADT/DenseMap.h"

namespace tessera::memory {

using namespace mlir;
using namespace tessera::stablehlo;
using fusion::NodeKind;

// Elements that any access moves whole: of a multiple of them each thread has as many.
static constexpr int64_t kWholeAccesses = 16;

static uintptr_t bitsOf(const void *pointer) { return reinterpret_cast<uintptr_t>(pointer); }

// Whether `op` has a plan that many others' arrays may go by: no scratch, no memory that it updates.
static bool isPlain(Operation &op) {
  switch (fusionKindOf(&op)) {
  case NodeKind::Constant:
  case NodeKind::Pointwise:
  case NodeKind::Convert:
  case NodeKind::Broadcast:
  case NodeKind::Reshape:
  case NodeKind::Reduce:
    return true;
  default:
    return false;
  }
}

// The shape that all arrays of a pointwise kernel have, numbers apart; none: it is no such kernel.
static std::optional<ArrayRef<int64_t>> shapeOfAll(Block &body) {
  std::optional<ArrayRef<int64_t>> shape;
  auto fits = [&](Value value) {
    ArrayRef<int64_t> own = shapeOf(value);
    if (own.empty())
      return true;
    if (!shape)
      shape = own;
    return *shape == own;
  };
  for (Operation &op : body.without_terminator()) {
    bool isNumber = isa<BroadcastInDimOp>(op) && shapeOf(op.getOperand(0)).empty();
    NodeKind kind = fusionKindOf(&op);
    bool isSplat = isa<stablehlo::ConstantOp>(op) && kind == NodeKind::Constant;
    if (!isNumber && !isSplat && kind != NodeKind::Pointwise && kind != NodeKind::Convert)
      return std::nullopt;
    if (op.getNumRegions() || !llvm::all_of(op.getResults(), fits))
      return std::nullopt;
  }
  bool isOfOne = llvm::all_of(body.getArguments(), fits) &&
                 llvm::all_of(body.getTerminator()->getOperands(), [&](Value output) {
                   return !shapeOf(output).empty() && fits(output);
                 });
  return isOfOne ? shape : std::nullopt;
}

// The ops of a pointwise kernel, whatever its shape is.
static codegen::KernelKey keyOfOps(Block &body) {
  codegen::KernelKey key{body.getNumArguments()};
  DenseMap<Value, uintptr_t> numbers;
  auto add = [&](Value value) {
    numbers.try_emplace(value, numbers.size());
    key.push_back(bitsOf(typeOf(value).getElementType().getAsOpaquePointer()));
    key.push_back(shapeOf(value).empty());
  };
  for (BlockArgument argument : body.getArguments())
    add(argument);
  for (Operation &op : body) {
    key.push_back(bitsOf(op.getName().getAsOpaquePointer()));
    if (auto constant = dyn_cast<stablehlo::ConstantOp>(op))
      key.push_back(bitsOf(cast<DenseElementsAttr>(constant.getValue())
                               .getSplatValue<Attribute>()
                               .getAsOpaquePointer()));
    else
      key.push_back(bitsOf(op.getPropertiesAsAttribute().getAsOpaquePointer()));
    for (Value operand : op.getOperands())
      key.push_back(numbers.lookup(operand));
    for (Value result : op.getResults())
      add(result);
  }
  return key;
}

std::optional<AlikeKernel> alikeKernel(exec::KernelOp kernel) {
  Block &body = *kernel.getBlock();
  if (kernel.getLibrary() || kernel.getOutside() || kernel.getMostScratch() ||
      !llvm::all_of(body.without_terminator(), isPlain))
    return std::nullopt;
  AlikeKernel alike;
  auto count = [&](Value value) {
    alike.elements = std::max(alike.elements, typeOf(value).getNumElements());
  };
  llvm::for_each(body.getArguments(), count);
  llvm::for_each(body.getTerminator()->getOperands(), count);
  if (shapeOfAll(body) && alike.elements % kWholeAccesses == 0)
    alike.key = keyOfOps(body);
  else
    alike.key = {bitsOf(kernel.getSymNameAttr().getAsOpaquePointer())};
  for (unsigned i = 0; i < kernel.getOutputTypes().size(); ++i)
    alike.key.push_back(static_cast<uintptr_t>(kernel.inplaceOperand(i)));
  return alike;
}

} // namespace tessera::memory
