#include "lib/plan/ReshardPrices.h"

#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <cmath>
#include <numeric>

namespace tessera::plan {

using sharding::TensorSharding;

namespace {

constexpr int32_t kSame = -1, kNever = -2; // patterns without a curve

bool becomesPartial(const TensorSharding &from, const TensorSharding &to) {
  return llvm::any_of(to.unreduced, [&](const sharding::AxisRef &axis) {
    return !llvm::is_contained(from.unreduced, axis);
  });
}

} // namespace

int32_t ReshardPrices::patternOf(const TensorSharding &from, const TensorSharding &to) {
  if (sameAxes(from, to))
    return kSame;
  if (becomesPartial(from, to))
    return kNever;
  // The dimensions that take part, in an order of their own: which is which doesn't matter.
  std::vector<std::pair<std::string, size_t>> dims;
  for (size_t d = 0; d < from.dims.size(); ++d) {
    if (from.dims[d].axes.empty() && to.dims[d].axes.empty())
      continue;
    TensorSharding one;
    one.dims = {from.dims[d], to.dims[d]};
    std::string key;
    appendKey(key, one);
    dims.push_back({std::move(key), d});
  }
  llvm::sort(dims);
  std::string key;
  for (const auto &dim : dims)
    key += dim.first;
  TensorSharding partial;
  partial.unreduced = from.unreduced;
  llvm::sort(partial.unreduced);
  appendKey(key, partial);
  partial.unreduced = to.unreduced;
  llvm::sort(partial.unreduced);
  appendKey(key, partial);
  auto [it, isNew] = numbers.try_emplace(std::move(key), int32_t(curves.size()));
  if (isNew) {
    Curve &curve = curves.emplace_back();
    for (const auto &[text, d] : dims) {
      curve.from.dims.push_back(from.dims[d]);
      curve.to.dims.push_back(to.dims[d]);
      curve.sizes.push_back(std::lcm(shardCount(from.dims[d].axes), shardCount(to.dims[d].axes)));
    }
    curve.from.unreduced = from.unreduced;
    curve.to.unreduced = to.unreduced;
    curve.from.dims.emplace_back();
    curve.to.dims.emplace_back();
  }
  return it->second;
}

const std::vector<int32_t> &ReshardPrices::patterns(int32_t from, int32_t to) {
  auto [it, isNew] = patternTables.try_emplace({from, to});
  if (isNew)
    for (const TensorSharding &a : lists[from])
      for (const TensorSharding &b : lists[to])
        it->second.push_back(patternOf(a, b));
  return it->second;
}

bool ReshardPrices::isEven(int32_t list, llvm::ArrayRef<int64_t> shape) const {
  return llvm::all_of(lists[list], [&](const TensorSharding &sharding) {
    return llvm::all_of(llvm::zip_equal(sharding.dims, shape), [](auto pair) {
      return std::get<1>(pair) % sharding::shardCount(std::get<0>(pair).axes) == 0;
    });
  });
}

// A tensor whose last dimension, which nothing shards, has as many rows as it takes.
std::pair<double, double> ReshardPrices::point(Curve &curve, int exponent) {
  auto [it, isNew] = curve.points.try_emplace(exponent);
  if (!isNew)
    return it->second;
  sharding::Shape shape(curve.sizes.begin(), curve.sizes.end());
  double rest = std::pow(4.0, exponent);
  for (int64_t size : shape)
    rest /= double(size);
  shape.push_back(std::max<int64_t>(1, std::llround(rest)));
  double bytes = 1;
  for (int64_t size : shape)
    bytes *= double(size);
  double seconds =
      planner.plan(shape, 1, canonicalLayout(shape, curve.from), canonicalLayout(shape, curve.to))
          .seconds;
  return it->second = {bytes, seconds};
}

double ReshardPrices::price(int32_t pattern, double bytes) {
  if (pattern == kSame || bytes <= 0)
    return 0;
  if (pattern == kNever)
    return kImpossible;
  Curve &curve = curves[pattern];
  int exponent = std::max(0, std::ilogb(bytes) / 2);
  auto [lowBytes, low] = point(curve, exponent);
  auto [highBytes, high] = point(curve, exponent + 1);
  if (bytes <= lowBytes || highBytes <= lowBytes)
    return low;
  return low + (high - low) * (bytes - lowBytes) / (highBytes - lowBytes);
}

const Matrix &ReshardPrices::between(int32_t from, int32_t to, llvm::ArrayRef<int64_t> shape,
                                     int64_t elementBytes) {
  bool even = isEven(from, shape) && isEven(to, shape);
  double bytes = double(elementBytes);
  std::string key;
  appendKey(key, from);
  appendKey(key, to);
  appendKey(key, elementBytes);
  appendKey(key, int64_t(even));
  for (int64_t size : shape) {
    bytes *= double(size);
    if (!even)
      appendKey(key, size);
  }
  appendKey(key, int64_t(bytes));
  auto [it, isNew] = matrices.try_emplace(std::move(key));
  Matrix &matrix = it->second;
  if (!isNew)
    return matrix;
  matrix.rows = lists[from].size();
  matrix.columns = lists[to].size();
  matrix.at.reserve(matrix.rows * matrix.columns);
  if (even)
    for (int32_t pattern : patterns(from, to))
      matrix.at.push_back(price(pattern, bytes));
  else
    for (const TensorSharding &a : lists[from])
      for (const TensorSharding &b : lists[to])
        matrix.at.push_back(seconds(shape, elementBytes, a, b));
  return matrix;
}

double ReshardPrices::seconds(llvm::ArrayRef<int64_t> shape, int64_t elementBytes,
                              const TensorSharding &from, const TensorSharding &to) {
  if (becomesPartial(from, to))
    return kImpossible;
  return planner.plan(shape, elementBytes, canonicalLayout(shape, from), canonicalLayout(shape, to))
      .seconds;
}

} // namespace tessera::plan
