#include "lib/plan/ReshardPrices.h"

#include "lib/sharding/ReshardPrice.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
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

// Axes that either side speaks of.
size_t movingAxes(const TensorSharding &from, const TensorSharding &to) {
  llvm::SmallVector<sharding::AxisRef, 8> axes;
  for (const TensorSharding *side : {&from, &to}) {
    for (const sharding::DimSharding &dim : side->dims)
      axes.append(dim.axes);
    axes.append(side->unreduced);
  }
  llvm::sort(axes);
  return size_t(std::unique(axes.begin(), axes.end()) - axes.begin());
}

// With dimensions that are as long as both sides divide evenly.
double paddedBytes(llvm::ArrayRef<int64_t> shape, int64_t elementBytes, const TensorSharding &from,
                   const TensorSharding &to) {
  double bytes = double(elementBytes);
  for (auto [size, a, b] : llvm::zip_equal(shape, from.dims, to.dims)) {
    int64_t shards = std::lcm(shardCount(a.axes), shardCount(b.axes));
    bytes *= double(llvm::divideCeil(size, shards) * shards);
  }
  return bytes;
}

} // namespace

int32_t ReshardPrices::patternOf(const TensorSharding &from, const TensorSharding &to) {
  if (sameAxes(from, to))
    return kSame;
  if (becomesPartial(from, to))
    return kNever;
  // The dimensions that take part, in an order of their own: which is which doesn't matter.
  struct Part {
    llvm::StringRef text;
    size_t dim;
    bool operator<(const Part &other) const {
      return text != other.text ? text < other.text : dim < other.dim;
    }
  };
  llvm::SmallVector<std::pair<size_t, size_t>, 4> ends; // of text, by dimension
  text.clear();
  for (size_t d = 0; d < from.dims.size(); ++d) {
    if (from.dims[d].axes.empty() && to.dims[d].axes.empty())
      continue;
    appendKey(text, from.dims[d].axes);
    appendKey(text, to.dims[d].axes);
    ends.push_back({text.size(), d});
  }
  llvm::SmallVector<Part, 4> dims;
  size_t begin = 0;
  for (auto [end, d] : ends) {
    dims.push_back({llvm::StringRef(text).slice(begin, end), d});
    begin = end;
  }
  llvm::sort(dims);
  std::string &key = patternKey;
  key.clear();
  for (const Part &dim : dims)
    key += dim.text;
  for (const TensorSharding *side : {&from, &to}) {
    sharding::AxisRefs partial = side->unreduced;
    llvm::sort(partial);
    appendKey(key, partial);
  }
  auto [it, isNew] = numbers.try_emplace(key, int32_t(curves.size()));
  if (isNew) {
    Curve &curve = curves.emplace_back();
    for (const auto &[_, d] : dims) {
      curve.from.dims.push_back(from.dims[d]);
      curve.to.dims.push_back(to.dims[d]);
      curve.sizes.push_back(std::lcm(shardCount(from.dims[d].axes), shardCount(to.dims[d].axes)));
    }
    curve.from.unreduced = from.unreduced;
    curve.to.unreduced = to.unreduced;
    curve.direct = movingAxes(curve.from, curve.to) > 2;
    curve.from.dims.emplace_back();
    curve.to.dims.emplace_back();
  }
  return it->second;
}

const std::vector<int32_t> &ReshardPrices::patterns(int32_t from, int32_t to) {
  auto [it, isNew] = patternTables.try_emplace({from, to});
  if (!isNew)
    return it->second;
  llvm::ArrayRef<int32_t> rows = lists.numbersOf(from), columns = lists.numbersOf(to);
  it->second.reserve(rows.size() * columns.size());
  for (int32_t row : rows)
    for (int32_t column : columns) {
      auto [pair, isUnseen] = patternByPair.try_emplace(uint64_t(row) << 32 | uint32_t(column));
      if (isUnseen)
        pair->second = patternOf(lists.numbered(row), lists.numbered(column));
      it->second.push_back(pair->second);
    }
  return it->second;
}

bool ReshardPrices::isEven(int32_t list, llvm::ArrayRef<int64_t> shape) const {
  return llvm::all_of(lists[list], [&](const TensorSharding &sharding) {
    return llvm::all_of(llvm::zip_equal(sharding.dims, shape), [](auto pair) {
      return std::get<1>(pair) % sharding::shardCount(std::get<0>(pair).axes) == 0;
    });
  });
}

// Of a tensor whose last dimension, which nothing shards, has as many rows as it takes.
const ReshardPrices::Anchor &ReshardPrices::anchor(Curve &curve, int exponent) {
  auto [it, isNew] = curve.anchors.try_emplace(exponent);
  Anchor &anchor = it->second;
  if (!isNew)
    return anchor;
  if (curve.direct) {
    anchor.steps = directSteps(curve.from, curve.to);
    return anchor;
  }
  sharding::Shape shape(curve.sizes.begin(), curve.sizes.end());
  double rest = std::pow(4.0, exponent);
  for (int64_t size : shape)
    rest /= double(size);
  // On the way any of these dimensions may be sharded by more axes, as it may in most tensors.
  int64_t devices = planner.getMesh().numDevices();
  for (int64_t &size : shape)
    if (rest >= double(devices)) {
      size *= devices;
      rest /= double(devices);
    }
  shape.push_back(std::max<int64_t>(1, std::llround(rest)));
  anchor.bytes = 1;
  for (int64_t size : shape)
    anchor.bytes *= double(size);
  auto from = canonicalLayout(shape, curve.from);
  sharding::ReshardPlan plan = planReshard(planner.getMesh(), shape, 1, from,
                                           canonicalLayout(shape, curve.to), planner.getTopology());
  anchor.seconds = plan.seconds;
  auto share = [&](const sharding::LocalLayout &layout) {
    double part = 1 / anchor.bytes;
    for (int64_t tile : localShape(layout))
      part *= double(tile);
    return part;
  };
  double before = share(from);
  for (const sharding::ReshardStep &step : plan.steps) {
    double after = share(step.after);
    anchor.scales &=
        step.kind != sharding::ReshardKind::Retile && step.kind != sharding::ReshardKind::Exchange;
    if (step.kind != sharding::ReshardKind::View)
      anchor.steps.push_back({step.kind, before, after, step.axes});
    before = after;
  }
  return anchor;
}

ReshardPrices::Price ReshardPrices::priced(const Anchor &anchor, double bytes) const {
  Price all;
  for (const RelativeStep &step : anchor.steps) {
    sharding::StepPrice price = priceOf(step.kind, step.before * bytes, step.after * bytes,
                                        step.axes, planner.getMesh(), planner.getTopology());
    all.seconds += price.seconds;
    all.cores += price.cores;
  }
  return all;
}

std::pair<double, ReshardPrices::Price> ReshardPrices::point(Curve &curve, int exponent) {
  constexpr int kApart = 5; // exponents for which steps are searched: a kilobyte, a megabyte, ..
  if (size_t(exponent) >= curve.points.size())
    curve.points.resize(size_t(exponent) + 1);
  std::pair<double, Price> &made = curve.points[exponent];
  if (made.first > 0)
    return made;
  double bytes = std::pow(4.0, exponent);
  int low = curve.direct ? 0 : exponent / kApart * kApart;
  if (curve.direct)
    return made = {bytes, priced(anchor(curve, low), bytes)};
  const Anchor &below = anchor(curve, low), &above = anchor(curve, low + kApart);
  if (below.scales && above.scales)
    return made = {bytes, std::min(priced(below, bytes), priced(above, bytes),
                                   [](const Price &one, const Price &other) {
                                     return one.seconds < other.seconds;
                                   })};
  const Anchor &here = anchor(curve, exponent);
  return made = {here.bytes, {here.seconds, 0}};
}

ReshardPrices::Price ReshardPrices::price(int32_t pattern, double bytes) {
  if (pattern == kSame || bytes <= 0)
    return {};
  if (pattern == kNever)
    return {kImpossible, 0};
  Curve &curve = curves[pattern];
  int exponent = std::max(0, std::ilogb(bytes) / 2);
  auto [lowBytes, low] = point(curve, exponent);
  auto [highBytes, high] = point(curve, exponent + 1);
  if (bytes <= lowBytes || highBytes <= lowBytes)
    return low;
  double between = (bytes - lowBytes) / (highBytes - lowBytes);
  return {low.seconds + (high.seconds - low.seconds) * between,
          low.cores + (high.cores - low.cores) * between};
}

const Matrix &ReshardPrices::between(int32_t from, int32_t to, llvm::ArrayRef<int64_t> shape,
                                     int64_t elementBytes, const Moving &moving) {
  bool hides = weights.hidden < 1 && moving.secondsBeside > 0;
  bool even = isEven(from, shape) && isEven(to, shape);
  double bytes = double(elementBytes);
  std::string key;
  appendKey(key, from);
  appendKey(key, to);
  appendKey(key, elementBytes);
  appendKey(key, int64_t(even) + 2 * int64_t(moving.inKernel));
  if (hides)
    appendKey(key, moving.secondsBeside);
  if (moving.together > 1)
    appendKey(key, moving.together);
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
  const std::vector<int32_t> &table = patterns(from, to);
  for (size_t i = 0; i < table.size(); ++i) {
    const TensorSharding &before = lists[from][i / matrix.columns],
                         &after = lists[to][i % matrix.columns];
    Price once = price(table[i], even ? bytes : paddedBytes(shape, elementBytes, before, after));
    once = shared(once, moving);
    double seconds = hides ? weighted(divided(once, moving)) : once.seconds;
    if (moving.inKernel && once.seconds > 0)
      seconds += dividing(bytes, before, after);
    matrix.at.push_back(seconds);
  }
  return matrix;
}

double ReshardPrices::dividing(double bytes, const TensorSharding &from,
                               const TensorSharding &to) const {
  double moved = 0;
  for (const TensorSharding *side : {&from, &to}) {
    double part = bytes;
    for (const sharding::DimSharding &dim : side->dims)
      part /= double(shardCount(dim.axes));
    moved += part;
  }
  const cost::Topology &topology = planner.getTopology();
  return cost::turnsOf(topology, planner.getMesh()) * moved / topology.device.bytesPerSecond;
}

double ReshardPrices::estimate(llvm::ArrayRef<int64_t> shape, int64_t elementBytes,
                               const TensorSharding &from, const TensorSharding &to) {
  return price(patternOf(from, to), paddedBytes(shape, elementBytes, from, to)).seconds;
}

double ReshardPrices::seconds(llvm::ArrayRef<int64_t> shape, int64_t elementBytes,
                              const TensorSharding &from, const TensorSharding &to,
                              const Moving &moving) {
  return weighted(timeOf(shape, elementBytes, from, to, moving));
}

MovingTime ReshardPrices::timeOf(llvm::ArrayRef<int64_t> shape, int64_t elementBytes,
                                 const TensorSharding &from, const TensorSharding &to,
                                 const Moving &moving) {
  int32_t pattern = patternOf(from, to);
  Price once = price(pattern, paddedBytes(shape, elementBytes, from, to));
  if (pattern >= 0 && !curves[pattern].direct)
    once.seconds = std::max(
        once.seconds,
        planner.plan(shape, elementBytes, canonicalLayout(shape, from), canonicalLayout(shape, to))
            .seconds);
  once = shared(once, moving);
  MovingTime time = divided(once, moving);
  if (!moving.inKernel || once.seconds <= 0)
    return time;
  double bytes = double(elementBytes);
  for (int64_t size : shape)
    bytes *= double(size);
  time.exposed += dividing(bytes, from, to);
  return time;
}

} // namespace tessera::plan
