#include "lib/cost/KernelWork.h"

#include "llvm/ADT/ArrayRef.h"

#include <algorithm>

namespace tessera::cost {

KernelWork &KernelWork::operator+=(const KernelWork &other) {
  auto add = [](auto &to, const auto &from) {
    for (size_t i = 0; i < to.size(); ++i)
      to[i] += from[i];
  };
  add(elements, other.elements);
  add(folded, other.folded);
  add(accessed, other.accessed);
  products.append(other.products.begin(), other.products.end());
  libraryFlops += other.libraryFlops;
  moved += other.moved;
  runs += other.runs;
  if (flops + other.flops > 0)
    inMean = (inMean * flops + other.inMean * other.flops) / (flops + other.flops);
  flops += other.flops;
  if (other.grid >= grid)
    wholeCell = other.wholeCell;
  grid = std::max(grid, other.grid);
  return *this;
}

KernelWork KernelWork::scaled(double part, double partOfArrays) const {
  KernelWork scaled = *this;
  for (auto each : {llvm::MutableArrayRef<double>(scaled.elements),
                    llvm::MutableArrayRef<double>(scaled.folded),
                    llvm::MutableArrayRef<double>(scaled.accessed)})
    for (double &amount : each)
      amount *= part;
  for (Product &product : scaled.products)
    product.batch *= part;
  for (double *amount : {&scaled.libraryFlops, &scaled.moved, &scaled.runs, &scaled.flops})
    *amount *= part;
  for (Touched &array : scaled.arrays)
    array.bytes *= partOfArrays;
  return scaled;
}

double KernelWork::bytes() const {
  double sum = 0;
  for (const Touched &array : arrays)
    sum += array.bytes;
  return sum;
}

} // namespace tessera::cost
