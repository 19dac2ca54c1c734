// A product of matrices of complex numbers is four of real ones, which are contractions by tiles; what
// is left of complex ones is added up by vectors of pairs. Passes.td shows an example.
#include "dialects/stablehlo/StablehloOps.h"
#include "dialects/stablehlo/TensorTypes.h"
#include "passes/fuse/Passes.h"
#include "passes/fuse/Rewriting.h"

#include "mlir/IR/PatternMatch.h"

namespace tessera {
#define GEN_PASS_DEF_SPLITCOMPLEXPRODUCTS
#include "passes/fuse/Passes.h.inc"

using namespace mlir;
using namespace tessera::stablehlo;

namespace {

struct Parts {
  Value re, im; // null: zero
};

} // namespace

// Whether the elements of both matrices are used often enough to be read once more, and taken apart.
static bool isWorthSplitting(DotGeneralOp op) {
  constexpr double leastTerms = 8192, leastUses = 4;
  auto dims = op.getDotDimensionNumbers();
  auto sizes = [](Value value, ArrayRef<int64_t> contracted, ArrayRef<int64_t> batching) {
    double free = 1, k = 1;
    for (auto [dim, size] : llvm::enumerate(shapeOf(value))) {
      if (llvm::is_contained(contracted, int64_t(dim)))
        k *= double(size);
      else if (!llvm::is_contained(batching, int64_t(dim)))
        free *= double(size);
    }
    return std::pair(free, k);
  };
  auto [m, k] =
      sizes(op.getLhs(), dims.getLhsContractingDimensions(), dims.getLhsBatchingDimensions());
  double n =
      sizes(op.getRhs(), dims.getRhsContractingDimensions(), dims.getRhsBatchingDimensions()).first;
  return m * n * k >= leastTerms && m * n * k >= leastUses * (m * k + k * n + m * n);
}

static Parts partsOf(OpBuilder &b, Location loc, Value value) {
  if (auto convert = value.getDefiningOp<ConvertOp>()) {
    Type from = typeOf(convert.getOperand()).getElementType();
    if (from == cast<ComplexType>(typeOf(value).getElementType()).getElementType())
      return {convert.getOperand(), nullptr};
  }
  return {RealOp::create(b, loc, value), ImagOp::create(b, loc, value)};
}

static LogicalResult splitProduct(DotGeneralOp op, PatternRewriter &rewriter) {
  auto complex = dyn_cast<ComplexType>(typeOf(op.getResult()).getElementType());
  if (!complex || op.getAlgorithmAttr() || typeOf(op.getLhs()).getElementType() != complex ||
      typeOf(op.getRhs()).getElementType() != complex || !isWorthSplitting(op))
    return failure();
  Location loc = op.getLoc();
  auto type = typeOf(op.getResult()).clone(complex.getElementType());
  Parts x = partsOf(rewriter, loc, op.getLhs()), y = partsOf(rewriter, loc, op.getRhs());
  auto product = [&](Value left, Value right) -> Value {
    if (!left || !right)
      return nullptr;
    return DotGeneralOp::create(rewriter, loc, type, left, right, op.getDotDimensionNumbers(),
                                op.getPrecisionConfigAttr(), DotAlgorithmAttr());
  };
  Value re = product(x.re, y.re), im = product(x.re, y.im);
  if (Value less = product(x.im, y.im))
    re = SubtractOp::create(rewriter, loc, re, less);
  if (Value more = product(x.im, y.re))
    im = im ? AddOp::create(rewriter, loc, im, more).getResult() : more;
  if (!im)
    im = ConstantOp::create(rewriter, loc, cast<ElementsAttr>(rewriter.getZeroAttr(type)));
  rewriter.replaceOpWithNewOp<ComplexOp>(op, re, im);
  return success();
}

namespace {
struct SplitComplexProducts : impl::SplitComplexProductsBase<SplitComplexProducts> {
  void runOnOperation() override {
    if (failed(fuse::rewriteBy(splitProduct, getOperation())))
      signalPassFailure();
  }
};
} // namespace
} // namespace tessera
