#include "lib/sharding/Sharding.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

namespace tessera::sharding {

LocalLayout canonicalLayout(llvm::ArrayRef<int64_t> shape, const TensorSharding &sharding) {
  LocalLayout layout;
  for (auto [size, dim] : llvm::zip_equal(shape, sharding.dims))
    layout.dims.push_back({dim.axes, int64_t(llvm::divideCeil(size, shardCount(dim.axes)))});
  layout.partial = sharding.unreduced;
  return layout;
}

llvm::SmallVector<int64_t> localShape(const LocalLayout &layout) {
  llvm::SmallVector<int64_t> shape;
  for (const DimLayout &dim : layout.dims)
    shape.push_back(dim.tile);
  return shape;
}

} // namespace tessera::sharding
