#include "lib/sharding/ContentKey.h"

namespace tessera::sharding {

void appendKey(std::string &key, llvm::ArrayRef<AxisRef> axes) {
  appendKey(key, axes.size());
  for (const AxisRef &axis : axes) {
    appendKey(key, axis.axis);
    appendKey(key, axis.preSize);
    appendKey(key, axis.size);
  }
}

void appendKey(std::string &key, const TensorSharding &sharding) {
  appendKey(key, sharding.dims.size()); // two of one dimension are not one of three
  for (const DimSharding &dim : sharding.dims)
    appendKey(key, dim.axes);
  appendKey(key, sharding.unreduced);
}

} // namespace tessera::sharding
