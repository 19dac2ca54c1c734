#include "lib/mends/Split.h"

#include <algorithm>
#include <numeric>

namespace tessera::mends {

std::optional<Split> splitOf(llvm::ArrayRef<int64_t> from, llvm::ArrayRef<int64_t> to) {
  bool inverse = from.size() > to.size();
  llvm::ArrayRef<int64_t> few = inverse ? to : from, many = inverse ? from : to;
  if (few.size() >= many.size())
    return std::nullopt;
  size_t dim = 0, parts = many.size() - few.size() + 1;
  while (dim < few.size() && few[dim] == many[dim])
    ++dim;
  if (dim == few.size() || few.drop_front(dim + 1) != many.drop_front(dim + parts))
    return std::nullopt;
  return Split{dim, llvm::SmallVector<int64_t>(many.slice(dim, parts)), inverse};
}

llvm::SmallVector<int64_t> orderWithFirst(const Split &split, size_t rank, int64_t factor) {
  llvm::SmallVector<int64_t> order(rank);
  std::iota(order.begin(), order.end(), 0);
  auto first = order.begin() + int64_t(split.dim);
  std::rotate(first, first + factor, first + factor + 1);
  return order;
}

} // namespace tessera::mends
