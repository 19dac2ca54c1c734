#include "dialects/stablehlo/Constraints.h"

#include "dialects/stablehlo/ShapeInference.h"
#include "mlir/Dialect/Quant/IR/QuantTypes.h"
#include "mlir/IR/TypeUtilities.h"
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

int64_t sizeOrBound(RankedTensorType type, int64_t dim) {
  auto bounds = dyn_cast_or_null<TypeExtensionsAttr>(type.getEncoding());
  bool isBounded =
      bounds &&
      type.isDynamicDim(dim) && // of a type that nothing has checked yet there may be fewer
      dim < static_cast<int64_t>(bounds.getBounds().size());
  return isBounded ? bounds.getBounds()[dim] : type.getDimSize(dim);
}

bool withinBounds(ArrayRef<int64_t> sizes, RankedTensorType type) {
  return llvm::all_of(llvm::enumerate(sizes), [&](auto size) {
    int64_t most = sizeOrBound(type, size.index());
    return ShapedType::isDynamic(most) || size.value() <= most; // no size is the least number
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
  if (type && !withinBounds(expected, type))
    return violates(op, constraint)
           << "the result " << type << " is bounded by less than " << shapeText(expected);
  return success();
}

LogicalResult verifySized(Operation *op, Type result) {
  auto type = dyn_cast<RankedTensorType>(result);
  if (!type || type.hasStaticShape())
    return success();
  for (int64_t d = 0; d < type.getRank(); ++d)
    if (ShapedType::isDynamic(sizeOrBound(type, d)))
      return op->emitOpError() << "returns " << type << ", whose dimension " << d
                               << " has neither a size nor a bound";
  return success();
}

LogicalResult verifyInferredShapes(Operation *op, int constraint) {
  for (auto [result, shape] : llvm::zip(op->getResultTypes(), inferShapes(op)))
    if (failed(verifyResultShape(op, result, shape, constraint)))
      return failure();
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

LogicalResult verifyCombiner(Operation *op, Region &region, StringRef name, TypeRange inputs,
                             int constraint, SmallVectorImpl<Type> &computed) {
  size_t n = inputs.size();
  if (failed(verifyScalarComputation(op, region, name, 2 * n, n, false, constraint)))
    return failure();
  Block &block = region.front();
  for (size_t i = 0; i < n; ++i) {
    Type element = getElementTypeOrSelf(block.back().getOperand(i).getType());
    for (size_t argument : {i, n + i})
      if (!elementsAgree(getElementTypeOrSelf(block.getArgument(argument).getType()), element))
        return violates(op, constraint)
               << name << " takes " << block.getArgument(argument).getType() << " as argument "
               << argument << " and returns " << block.back().getOperand(i).getType();
    if (!isPromotable(getElementTypeOrSelf(inputs[i]), element))
      return violates(op, constraint) << name << " computes in " << element
                                      << ", to which elements of " << inputs[i] << " don't promote";
    computed.push_back(element);
  }
  return success();
}

LogicalResult verifyComputed(Operation *op, TypeRange results, ArrayRef<Type> computed,
                             int constraint) {
  for (auto [i, result, element] : llvm::enumerate(results, computed))
    if (!elementsAgree(getElementTypeOrSelf(result), element))
      return violates(op, constraint)
             << "result " << i << " has elements " << getElementTypeOrSelf(result)
             << ", the computation returns " << element;
  return success();
}

LogicalResult verifyElements(Operation *op, StringRef what, Type type, StringRef name, Type like,
                             int constraint) {
  Type a = getElementTypeOrSelf(type), b = getElementTypeOrSelf(like);
  if (elementsAgree(a, b))
    return success();
  return violates(op, constraint) << what << " has elements " << a << ", " << name << " " << b;
}

LogicalResult verifyReshape(Operation *op, RankedTensorType from, RankedTensorType to) {
  if (failed(verifyElements(op, "the result", to, "the operand", from, 1)))
    return failure();
  if (from.hasStaticShape() && to.hasStaticShape() && from.getNumElements() != to.getNumElements())
    return violates(op, 2) << "the operand has " << from.getNumElements()
                           << " elements, the result " << to.getNumElements();
  return success();
}

LogicalResult verifySameShape(Operation *op, StringRef what, Type type, StringRef name, Type like,
                              int constraint) {
  auto a = cast<RankedTensorType>(type), b = cast<RankedTensorType>(like);
  if (!sameShape(a.getShape(), b.getShape()))
    return violates(op, constraint) << what << " has shape " << shapeText(a.getShape()) << ", "
                                    << name << " " << shapeText(b.getShape());
  if (!withinBounds(a.getShape(), b) || !withinBounds(b.getShape(), a))
    return violates(op, constraint)
           << what << " has type " << a << ", " << name << " " << b << ", which is beyond a bound";
  return success();
}

LogicalResult verifyQuantizedDim(Operation *op, Type operand, Type result, int64_t expected,
                                 int constraint) {
  auto from = dyn_cast<quant::UniformQuantizedPerAxisType>(getElementTypeOrSelf(operand));
  auto to = dyn_cast<quant::UniformQuantizedPerAxisType>(getElementTypeOrSelf(result));
  if (!from != !to)
    return violates(op, constraint)
           << "operand and result must both be quantized per axis: " << operand << ", " << result;
  if (from && to.getQuantizedDimension() != expected)
    return violates(op, constraint) << "the result is quantized along dimension "
                                    << to.getQuantizedDimension() << ", expected " << expected;
  return success();
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
    if (!typesAgree(std::get<0>(pair), std::get<1>(pair)))
      return violates(op, constraint) << name << " returns " << std::get<0>(pair) << " as value "
                                      << i << ", expected " << std::get<1>(pair);
  return success();
}

int64_t sizeFrom(Wide size) {
  return int64_t(std::clamp<Wide>(size, ShapedType::kDynamic + 1, INT64_MAX));
}

int64_t paddedSize(int64_t size, Wide dilation, int64_t low, int64_t high) {
  if (ShapedType::isDynamic(size))
    return size;
  return sizeFrom(low + spanOf(size, dilation) + high);
}

int64_t windowCount(int64_t padded, int64_t window, int64_t dilation, int64_t stride) {
  if (ShapedType::isDynamic(padded) || ShapedType::isDynamic(window))
    return ShapedType::kDynamic;
  Wide span = spanOf(window, dilation);
  return padded <= 0 || span > padded ? 0 : int64_t((padded - span) / stride) + 1;
}

} // namespace tessera::stablehlo
