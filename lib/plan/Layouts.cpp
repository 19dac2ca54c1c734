#include "lib/plan/Layouts.h"

#include "llvm/ADT/STLExtras.h"
#include <numeric>

namespace tessera::plan {

using sharding::AxisRef;
using sharding::AxisRefs;
using sharding::TensorSharding;

namespace {

// More than this many are too many to weigh against each other: rarer ones go.
constexpr size_t kMostLayouts = 72;

class Enumeration {
public:
  Enumeration(const LayoutQuery &query, const sharding::Mesh &mesh, bool orders, bool parts)
      : query(query), mesh(mesh), orders(orders), parts(parts && !query.wholeAxes),
        dims(query.shape.size()), left(query.shape.begin(), query.shape.end()) {
    annotated = query.annotation.dims.size() == dims.size();
    if (annotated)
      for (auto [d, dim] : llvm::enumerate(query.annotation.dims)) {
        dims[d] = dim.axes;
        left[d] = std::max<int64_t>(left[d] / sharding::shardCount(dim.axes), 1);
      }
  }

  std::vector<TensorSharding> run() {
    place(0);
    return std::move(list);
  }

private:
  bool isUsable(int32_t axis) const {
    if (mesh.axes[axis].size == 1 || query.unusable >> axis & 1)
      return false;
    AxisRefs whole{wholeAxis(mesh, axis)};
    return !annotated ||
           (!overlap(whole, query.annotation.replicated) &&
            !overlap(whole, query.annotation.unreduced) &&
            llvm::none_of(query.annotation.dims, [&](const sharding::DimSharding &dim) {
              return overlap(whole, dim.axes);
            }));
  }

  void place(int32_t axis) {
    if (axis == int32_t(mesh.axes.size()))
      return finish();
    place(axis + 1); // unused
    if (!isUsable(axis))
      return;
    int64_t size = mesh.axes[axis].size;
    for (size_t d = 0; d < dims.size(); ++d) {
      if (annotated && query.annotation.dims[d].closed)
        continue;
      int64_t share = std::gcd(left[d], size);
      if (share == 1 || (share < size && !parts))
        continue;
      with(d, {axis, 1, share}, axis);
    }
  }

  void with(size_t d, AxisRef ref, int32_t axis) {
    size_t first = annotated ? query.annotation.dims[d].axes.size() : 0;
    // Behind what is there, and before it.
    for (size_t at = dims[d].size(); at + 1 > first; --at) {
      AxisRefs before = dims[d];
      dims[d].insert(dims[d].begin() + at, ref);
      left[d] /= ref.size;
      place(axis + 1);
      left[d] *= ref.size;
      dims[d] = before;
      if (!orders || at == 0)
        break;
    }
  }

  void finish() {
    TensorSharding sharding = TensorSharding::replicatedOver(dims.size());
    for (auto [into, axes] : llvm::zip_equal(sharding.dims, dims))
      into.axes = sharding::normalized(axes);
    list.push_back(std::move(sharding));
  }

  const LayoutQuery &query;
  const sharding::Mesh &mesh;
  bool orders, parts, annotated;
  llvm::SmallVector<AxisRefs, 4> dims;
  llvm::SmallVector<int64_t, 4> left;
  std::vector<TensorSharding> list;
};

std::vector<TensorSharding> enumerate(const LayoutQuery &query, const sharding::Mesh &mesh) {
  if (llvm::is_contained(query.shape, 0))
    return {TensorSharding::replicatedOver(query.shape.size())};
  std::vector<TensorSharding> list;
  for (auto [orders, parts] : {std::pair(true, true), {true, false}, {false, false}}) {
    list = Enumeration(query, mesh, orders, parts).run();
    if (list.size() <= kMostLayouts)
      break;
  }
  return list;
}

} // namespace

int32_t LayoutLists::intern(std::vector<TensorSharding> list) {
  std::string key;
  for (const TensorSharding &sharding : list)
    appendKey(key, sharding);
  auto [it, isNew] = numbers.try_emplace(std::move(key), int32_t(lists.size()));
  if (isNew) {
    std::vector<int32_t> &all = members.emplace_back();
    for (const TensorSharding &sharding : list)
      all.push_back(numberOf(sharding));
    lists.push_back(&(storage[it->second] = std::move(list)));
  }
  return it->second;
}

int32_t LayoutLists::numberOf(const TensorSharding &sharding) {
  TensorSharding alike = sharding;
  llvm::sort(alike.unreduced);
  std::string key;
  appendKey(key, alike);
  auto [it, isNew] = numberByKey.try_emplace(std::move(key), int32_t(distinct.size()));
  if (isNew)
    distinct.push_back(sharding);
  return it->second;
}

int32_t LayoutLists::candidates(const LayoutQuery &query) {
  std::string key;
  appendKey(key, int64_t(query.shape.size()));
  bool annotated = llvm::any_of(query.annotation.dims,
                                [](const sharding::DimSharding &dim) { return !dim.axes.empty(); });
  for (int64_t size : query.shape) {
    // What of a size matters is which axes divide it.
    int64_t part = 1;
    for (const sharding::MeshAxis &axis : mesh.axes)
      part *= axis.size;
    appendKey(key, size == 0 || annotated ? size : std::gcd(size, part));
  }
  appendKey(key, query.annotation);
  for (const sharding::DimSharding &dim : query.annotation.dims)
    appendKey(key, int64_t(dim.closed));
  appendKey(key, query.annotation.replicated);
  appendKey(key, int64_t(query.wholeAxes));
  appendKey(key, int64_t(query.unusable));
  auto [it, isNew] = asked.try_emplace(std::move(key), -1);
  if (isNew)
    it->second = intern(enumerate(query, mesh));
  return it->second;
}

} // namespace tessera::plan
