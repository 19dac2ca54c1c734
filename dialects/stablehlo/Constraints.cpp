#include "dialects/stablehlo/Constraints.h"

#include "llvm/ADT/SmallSet.h"

using namespace mlir;

namespace tessera::stablehlo {

bool sameSize(int64_t a, int64_t b) {
  return a == b || ShapedType::isDynamic(a) || ShapedType::isDynamic(b);
}

bool sameShape(ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  return a.size() == b.size() && llvm::all_of(llvm::zip(a, b), [](auto p) {
           return sameSize(std::get<0>(p), std::get<1>(p));
         });
}

std::string shapeText(ArrayRef<int64_t> shape) {
  std::string text = "[";
  for (int64_t size : shape)
    text +=
        (text.size() > 1 ? ", " : "") + (ShapedType::isDynamic(size) ? "?" : std::to_string(size));
  return text + "]";
}

int64_t firstOutside(ArrayRef<int64_t> dims, int64_t rank) {
  for (auto [i, d] : llvm::enumerate(dims))
    if (d < 0 || d >= rank)
      return i;
  return -1;
}

bool isUnique(ArrayRef<int64_t> dims) {
  llvm::SmallSet<int64_t, 8> seen;
  return llvm::all_of(dims, [&](int64_t d) { return seen.insert(d).second; });
}

bool isSorted(ArrayRef<int64_t> dims) { return llvm::is_sorted(dims); }

LogicalResult verifyDims(Operation *op, StringRef name, ArrayRef<int64_t> dims, int64_t rank,
                         int inRange, int unique) {
  if (int64_t i = firstOutside(dims, rank); i >= 0)
    return violates(op, inRange) << name << "[" << i << "] is " << dims[i]
                                 << ", not a dimension of a tensor of rank " << rank;
  if (unique && !isUnique(dims))
    return violates(op, unique) << name << " " << shapeText(dims) << " names a dimension twice";
  return success();
}

LogicalResult verifyResultShape(Operation *op, Type result, ArrayRef<int64_t> expected,
                                int constraint) {
  auto type = dyn_cast<RankedTensorType>(result);
  if (type && !sameShape(type.getShape(), expected))
    return violates(op, constraint) << "the result has shape " << shapeText(type.getShape())
                                    << ", expected " << shapeText(expected);
  return success();
}

static bool isScalar(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getRank() == 0;
}

LogicalResult verifyScalarComputation(Operation *op, Region &region, StringRef name,
                                      size_t arguments, size_t results, bool predicate,
                                      int constraint) {
  if (region.empty())
    return violates(op, constraint) << name << " is empty";
  Block &block = region.front();
  if (block.getNumArguments() != arguments)
    return violates(op, constraint)
           << name << " takes " << block.getNumArguments() << " arguments, expected " << arguments;
  Operation *last = block.empty() ? nullptr : &block.back();
  if (!last || !isa<ReturnOp>(last) || last->getNumOperands() != results)
    return violates(op, constraint)
           << name << " must return " << results << " values by stablehlo.return";
  if (!llvm::all_of(block.getArgumentTypes(), isScalar) ||
      !llvm::all_of(last->getOperandTypes(), isScalar))
    return violates(op, constraint) << name << " must take and return tensors of rank 0";
  if (predicate && !isTensorOf(last->getOperand(0).getType(), ElementKind::Pred))
    return violates(op, constraint)
           << name << " must return tensor<i1>, not " << last->getOperand(0).getType();
  return success();
}

// Types that differ at most in what is not known.
static bool agree(Type a, Type b) {
  auto x = dyn_cast<RankedTensorType>(a), y = dyn_cast<RankedTensorType>(b);
  return a == b || (x && y && x.getElementType() == y.getElementType() &&
                    sameShape(x.getShape(), y.getShape()));
}

LogicalResult verifyReturned(Operation *op, Region &region, StringRef name, TypeRange expected,
                             int constraint) {
  if (region.empty() || region.front().empty() || !isa<ReturnOp>(region.front().back()))
    return violates(op, constraint) << name << " must end in stablehlo.return";
  TypeRange types = region.front().back().getOperandTypes();
  if (types.size() != expected.size())
    return violates(op, constraint)
           << name << " returns " << types.size() << " values, expected " << expected.size();
  for (auto [i, pair] : llvm::enumerate(llvm::zip(types, expected)))
    if (!agree(std::get<0>(pair), std::get<1>(pair)))
      return violates(op, constraint) << name << " returns " << std::get<0>(pair) << " as value "
                                      << i << ", expected " << std::get<1>(pair);
  return success();
}

int64_t paddedSize(int64_t size, int64_t dilation, int64_t low, int64_t high) {
  if (ShapedType::isDynamic(size))
    return size;
  return low + (size == 0 ? 0 : (size - 1) * dilation + 1) + high;
}

int64_t windowCount(int64_t padded, int64_t window, int64_t dilation, int64_t stride) {
  if (ShapedType::isDynamic(padded) || ShapedType::isDynamic(window))
    return ShapedType::kDynamic;
  int64_t span = window == 0 ? 0 : (window - 1) * dilation + 1;
  return padded <= 0 || span > padded ? 0 : (padded - span) / stride + 1;
}

} // namespace tessera::stablehlo
