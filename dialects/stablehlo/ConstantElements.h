// What the folders share: constants with few elements, read and made.
#pragma once

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"

namespace mlir {
class RewritePatternSet;
}

namespace tessera::stablehlo {

/// Larger constants are data: folding them would grow the program. Splats have one element.
inline constexpr int64_t maxFoldedElements = 64;

/// Whether the program says how a result is sharded: then the operation stays, whatever it
/// computes.
inline bool isAnnotated(mlir::Operation *op) {
  return op->hasAttr("sdy.sharding") || op->hasAttr("mhlo.sharding");
}

/// Patterns of comparisons and selections of booleans, which convert's bring along.
void addChoicePatterns(mlir::RewritePatternSet &patterns);

inline bool isUnsigned(mlir::Type element) {
  return element.isUnsignedInteger() || element.isInteger(1);
}

/// Whether APFloat rounds to the type as a kernel does. In types that lack infinity and NaN, or a
/// sign, it gives -0 or the magnitude where kernels give the largest number or NaN.
inline bool isRoundedTo(mlir::Type element) {
  auto type = llvm::dyn_cast<mlir::FloatType>(element);
  return type && llvm::APFloat::semanticsHasNaN(type.getFloatSemantics()) &&
         llvm::APFloat::semanticsHasSignedRepr(type.getFloatSemantics());
}

/// The constants, or failure where one is none, has no elements, or stands for quantized values.
inline llvm::LogicalResult constantsOf(llvm::ArrayRef<mlir::Attribute> attrs,
                                       llvm::SmallVectorImpl<mlir::DenseElementsAttr> &constants) {
  for (mlir::Attribute attr : attrs) {
    auto elements = llvm::dyn_cast_or_null<mlir::DenseElementsAttr>(attr);
    if (!elements || elements.getNumElements() == 0)
      return llvm::failure();
    constants.push_back(elements);
  }
  return llvm::success();
}

/// f at each index of the constants, which are of one shape; null where it returns nothing or the
/// result would be larger than maxFoldedElements.
template <typename In, typename Out, typename F>
mlir::DenseElementsAttr mapElements(llvm::ArrayRef<mlir::DenseElementsAttr> operands,
                                    mlir::ShapedType type, F f) {
  llvm::SmallVector<Out> values;
  auto at = [&](size_t operand, int64_t i) {
    mlir::DenseElementsAttr e = operands[operand];
    return e.isSplat() ? e.getSplatValue<In>() : e.getValues<In>()[i];
  };
  bool splat = llvm::all_of(operands, [](mlir::DenseElementsAttr e) { return e.isSplat(); });
  if (!splat && type.getNumElements() > maxFoldedElements)
    return {};
  for (int64_t i = 0, n = splat ? 1 : type.getNumElements(); i < n; ++i) {
    std::optional<Out> value = f([&](size_t operand) { return at(operand, i); });
    if (!value)
      return {};
    values.push_back(*value);
  }
  return values.empty() ? mlir::DenseElementsAttr() : mlir::DenseElementsAttr::get(type, values);
}

} // namespace tessera::stablehlo
