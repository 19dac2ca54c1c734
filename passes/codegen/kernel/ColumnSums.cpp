#include "passes/codegen/kernel/ColumnSums.h"

#include "dialects/stablehlo/TensorTypes.h"
#include "dialects/tessera/SumMarks.h"

namespace tessera::codegen {

using namespace tessera::stablehlo;

int64_t ColumnSums::columns() const {
  int64_t columns = 1;
  for (int64_t size : llvm::ArrayRef(shape).drop_front(outer))
    columns *= size;
  return columns;
}

std::optional<unsigned> ColumnSums::divided() const {
  for (unsigned dim = 0; dim < outer; ++dim)
    if (window[dim] > 1 && window[dim] < shape[dim])
      return dim;
  return std::nullopt;
}

ReduceWindowOp partsOp(mlir::Value output) {
  auto window = output.getDefiningOp<ReduceWindowOp>();
  return window && getSummed(window) ? window : ReduceWindowOp();
}

// Dimensions that are summed come first: of those that a part has one of, the outermost.
unsigned columnsFrom(ReduceWindowOp window) {
  auto extents = window.getWindowDimensions();
  unsigned outer = 0;
  for (auto [dim, extent] : llvm::enumerate(extents))
    if (extent > 1)
      outer = dim + 1;
  return outer;
}

bool isPartOf(const ColumnSums &sums, mlir::Value output) {
  ReduceWindowOp window = partsOp(output);
  return window && shapeOf(window->getOperand(0)) == llvm::ArrayRef(sums.shape) &&
         window.getWindowDimensions() == llvm::ArrayRef(sums.window);
}

std::optional<ColumnSums> columnSumsOf(const KernelSource &kernel) {
  for (mlir::Value output : kernel.outputs())
    if (ReduceWindowOp window = partsOp(output)) {
      ColumnSums sums;
      auto shape = shapeOf(window->getOperand(0));
      sums.shape.assign(shape.begin(), shape.end());
      auto extents = window.getWindowDimensions();
      sums.window.assign(extents.begin(), extents.end());
      sums.outer = columnsFrom(window);
      return sums;
    }
  return std::nullopt;
}

} // namespace tessera::codegen
