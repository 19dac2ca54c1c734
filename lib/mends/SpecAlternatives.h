// What a person might have meant instead of a sharding: others of the same tensor, one change away.
#pragma once

#include "lib/sharding/Sharding.h"

namespace tessera::mends {

// By whole axes of the mesh, the likeliest slips first; never one that leaves a device without
// elements. For [{"model"}, {}] of 8 x 16 on a mesh of data=2, model=4:
//   two dimensions exchanged            [{}, {"model"}]
//   two axes exchanged                  (none: one axis is used)
//   an unused axis on a dimension       [{"model", "data"}, {}]  [{"model"}, {"data"}]
//   one axis on another dimension       [{}, {"model"}]          (known from above)
//   one axis less                       [{}, {}]
std::vector<sharding::TensorSharding> alternatives(const sharding::Mesh &mesh,
                                                   llvm::ArrayRef<int64_t> shape,
                                                   const sharding::TensorSharding &lies);

} // namespace tessera::mends
