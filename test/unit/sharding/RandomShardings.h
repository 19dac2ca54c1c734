// Meshes and shardings drawn at random from a seed.
#pragma once

#include "lib/sharding/Sharding.h"
#include "llvm/ADT/STLExtras.h"
#include <random>

namespace tessera::sharding {

struct Random {
  std::mt19937 engine;
  int64_t operator()(int64_t below) { return int64_t(engine() % uint64_t(below)); }

  // One to three axes; at most 24 devices.
  Mesh mesh() {
    Mesh mesh{"mesh", {}, {}};
    const int64_t sizes[] = {2, 3, 4, 2, 6};
    for (int64_t n = 1 + (*this)(3); n > 0; --n)
      mesh.axes.push_back(
          {std::string(1, char('a' + n)), sizes[(*this)(mesh.axes.size() < 2 ? 5 : 1)]});
    return mesh;
  }

  // Whole axes and halves, each in some dimension, partial, or unused.
  TensorSharding sharding(const Mesh &mesh, size_t rank, bool partial) {
    llvm::SmallVector<AxisRef> parts;
    for (int32_t a = 0; a < int32_t(mesh.axes.size()); ++a) {
      int64_t size = mesh.axes[a].size;
      if (size % 2 == 0 && size > 2 && (*this)(2)) {
        parts.push_back({a, 1, 2});
        parts.push_back({a, 2, size / 2});
      } else {
        parts.push_back({a, 1, size});
      }
    }
    std::shuffle(parts.begin(), parts.end(), engine);
    TensorSharding s = TensorSharding::replicatedOver(rank);
    for (const AxisRef &part : parts) {
      int64_t where = (*this)(rank + 2);
      if (where < int64_t(rank))
        s.dims[where].axes.push_back(part);
      else if (partial && where == int64_t(rank))
        s.unreduced.push_back(part);
    }
    for (DimSharding &dim : s.dims)
      dim.axes = normalized(dim.axes);
    return s;
  }
};

} // namespace tessera::sharding
