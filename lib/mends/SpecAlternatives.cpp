#include "lib/mends/SpecAlternatives.h"

#include "lib/sharding/FactorAxes.h"
#include "llvm/ADT/STLExtras.h"

namespace tessera::mends {

using namespace sharding;

namespace {

class Alternatives {
public:
  Alternatives(const Mesh &mesh, llvm::ArrayRef<int64_t> shape, const TensorSharding &lies)
      : mesh(mesh), shape(shape), lies(lies) {}

  void exchangeDims() {
    for (size_t a = 0; a < shape.size(); ++a)
      for (size_t b = a + 1; b < shape.size(); ++b)
        propose([&](TensorSharding &to) { std::swap(to.dims[a].axes, to.dims[b].axes); });
  }

  void exchangeAxes() {
    for (size_t a = 0; a < shape.size(); ++a)
      for (size_t b = a + 1; b < shape.size(); ++b)
        for (size_t i = 0; i < lies.dims[a].axes.size(); ++i)
          for (size_t j = 0; j < lies.dims[b].axes.size(); ++j)
            propose([&](TensorSharding &to) { std::swap(to.dims[a].axes[i], to.dims[b].axes[j]); });
  }

  void addAxes() {
    for (size_t axis = 0; axis < mesh.axes.size(); ++axis) {
      AxisRef whole = wholeAxis(mesh, int32_t(axis));
      bool used =
          llvm::any_of(lies.dims, [&](const auto &dim) { return overlap(dim.axes, {whole}); });
      if (!used && whole.size > 1)
        for (size_t d = 0; d < shape.size(); ++d)
          propose([&](TensorSharding &to) { to.dims[d].axes.push_back(whole); });
    }
  }

  void moveAxes() {
    for (size_t a = 0; a < shape.size(); ++a)
      for (const AxisRef &axis : lies.dims[a].axes)
        for (size_t b = 0; b < shape.size(); ++b)
          if (a != b)
            propose([&](TensorSharding &to) {
              llvm::erase(to.dims[a].axes, axis);
              to.dims[b].axes.push_back(axis);
            });
  }

  void dropAxes() {
    for (size_t a = 0; a < shape.size(); ++a)
      for (const AxisRef &axis : lies.dims[a].axes)
        propose([&](TensorSharding &to) { llvm::erase(to.dims[a].axes, axis); });
  }

  // Those that divide their dimensions first.
  std::vector<TensorSharding> take() {
    std::vector<TensorSharding> all = std::move(even);
    all.insert(all.end(), uneven.begin(), uneven.end());
    return all;
  }

private:
  void propose(llvm::function_ref<void(TensorSharding &)> change) {
    TensorSharding to = lies;
    change(to);
    auto isSame = [&](const TensorSharding &other) { return sameAxes(to, other); };
    if (isSame(lies) || llvm::any_of(even, isSame) || llvm::any_of(uneven, isSame))
      return;
    bool divides = true;
    for (auto [size, dim] : llvm::zip_equal(shape, to.dims)) {
      int64_t shards = shardCount(dim.axes);
      if (shards > size)
        return;
      divides &= size % shards == 0;
    }
    (divides ? even : uneven).push_back(std::move(to));
  }

  const Mesh &mesh;
  llvm::ArrayRef<int64_t> shape;
  const TensorSharding &lies;
  std::vector<TensorSharding> even, uneven;
};

} // namespace

std::vector<TensorSharding> alternatives(const Mesh &mesh, llvm::ArrayRef<int64_t> shape,
                                         const TensorSharding &lies) {
  for (const DimSharding &dim : lies.dims)
    if (!llvm::all_of(dim.axes, [&](const AxisRef &axis) { return isWhole(mesh, axis); }))
      return {};
  Alternatives all(mesh, shape, lies);
  all.exchangeDims();
  all.exchangeAxes();
  all.addAxes();
  all.moveAxes();
  all.dropAxes();
  return all.take();
}

} // namespace tessera::mends
