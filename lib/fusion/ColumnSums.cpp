#include "lib/fusion/ColumnSums.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

namespace tessera::fusion {

namespace {

// Some of dimension `dim`, and all of those that are summed inside it.
struct Option {
  size_t dim;
  int64_t extent;
  int64_t rows, parts;
};

} // namespace

static int64_t product(llvm::ArrayRef<int64_t> sizes) {
  int64_t points = 1;
  for (int64_t size : sizes)
    points *= size;
  return points;
}

std::optional<ColumnParts> columnParts(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<bool> isSummed,
                                       int64_t bytes, const ColumnSumLimits &limits) {
  // Dimensions that are summed, and columns behind them; those of one element are either.
  size_t columnsFrom = 0;
  for (size_t dim = 0; dim < shape.size(); ++dim)
    if (isSummed[dim] && shape[dim] != 1)
      columnsFrom = dim + 1;
  for (size_t dim = 0; dim < columnsFrom; ++dim)
    if (!isSummed[dim] && shape[dim] != 1)
      return std::nullopt;
  int64_t rows = product(shape.take_front(columnsFrom)),
          columns = product(shape.drop_front(columnsFrom));
  if (columns < limits.columns || columns * bytes > limits.columnBytes ||
      rows * columns * bytes < limits.bytes)
    return std::nullopt;

  // Ever larger parts, all of which are nodes of the tree: 4, 64, 1024, .. of a dimension, or all.
  std::optional<Option> best;
  int64_t inside = 1;
  for (size_t dim = columnsFrom; dim-- > 0; inside *= shape[dim]) {
    int64_t outside = product(shape.take_front(dim));
    for (int64_t extent = 4;; extent *= 16) {
      Option option{dim, std::min(extent, shape[dim]), 0, 0};
      option.rows = option.extent * inside;
      option.parts = outside * llvm::divideCeil(shape[dim], option.extent);
      bool isFirst = !best && option.rows >= limits.rows;
      if (option.parts > 1 && (isFirst || (best && option.parts >= limits.parts)))
        best = option;
      if (extent >= shape[dim])
        break;
    }
  }
  if (!best)
    return std::nullopt;

  ColumnParts parts;
  for (auto [dim, size] : llvm::enumerate(shape))
    parts.window.push_back(dim > best->dim && dim < columnsFrom ? size : 1);
  parts.window[best->dim] = best->extent;
  if (best->extent < shape[best->dim])
    parts.summed = best->extent;
  return parts;
}

} // namespace tessera::fusion
