#include "lib/sharding/DeviceGroups.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include <map>

namespace tessera::sharding {

AxisRefs allAxes(const Mesh &mesh) {
  AxisRefs all;
  for (size_t axis = 0; axis < mesh.axes.size(); ++axis)
    all.push_back(wholeAxis(mesh, axis));
  return all;
}

std::optional<llvm::SmallVector<Digit>> digitsOf(llvm::ArrayRef<int64_t> offsets) {
  llvm::SmallVector<Digit> digits;
  size_t covered = 1; // offsets[0, covered) is what the digits so far make
  while (covered < offsets.size()) {
    int64_t stride = offsets[covered];
    size_t count = 1;
    auto repeats = [&](size_t k) {
      if ((k + 1) * covered > offsets.size())
        return false;
      for (size_t i = 0; i < covered; ++i)
        if (offsets[k * covered + i] != offsets[i] + int64_t(k) * stride)
          return false;
      return true;
    };
    while (repeats(count))
      ++count;
    if (count == 1 || stride <= 0)
      return std::nullopt;
    digits.push_back({stride, int64_t(count)});
    covered *= count;
  }
  return digits;
}

std::optional<AxisRefs> axesOfDigit(const Mesh &mesh, Digit digit) {
  AxisRefs axes; // minor to major while it grows
  int64_t axisStride = 1, stride = digit.stride, count = digit.count;
  for (int32_t a = mesh.axes.size() - 1; a >= 0 && count > 1; --a) {
    int64_t size = mesh.axes[a].size;
    if (stride < axisStride * size) {
      if (stride % axisStride)
        return std::nullopt;
      int64_t minor = stride / axisStride;
      if (size % minor)
        return std::nullopt;
      int64_t available = size / minor, taken = std::min(count, available);
      if (available % taken || count % taken)
        return std::nullopt;
      axes.push_back({a, available / taken, taken});
      count /= taken;
      stride = axisStride * size;
    }
    axisStride *= size;
  }
  if (count > 1)
    return std::nullopt;
  std::reverse(axes.begin(), axes.end());
  return axes;
}

// positions[device]: the row-major place of a device.
static std::vector<int64_t> positionsOf(const Mesh &mesh) {
  std::vector<int64_t> positions(mesh.numDevices());
  for (size_t i = 0; i < positions.size(); ++i)
    positions[mesh.deviceIds.empty() ? i : mesh.deviceIds[i]] = i;
  return positions;
}

std::optional<AxisRefs> axesOfGroups(const Mesh &mesh,
                                     llvm::ArrayRef<llvm::SmallVector<int64_t>> groups) {
  int64_t devices = mesh.numDevices(), total = 0;
  for (const auto &group : groups) {
    total += group.size();
    if (group.size() != groups[0].size() ||
        llvm::any_of(group, [&](int64_t d) { return d < 0 || d >= devices; }))
      return std::nullopt;
  }
  if (groups.empty() || total != devices)
    return std::nullopt;
  std::vector<int64_t> positions = positionsOf(mesh);
  llvm::SmallVector<int64_t> offsets;
  for (int64_t device : groups[0])
    offsets.push_back(positions[device] - positions[groups[0][0]]);
  std::optional<llvm::SmallVector<Digit>> digits = digitsOf(offsets);
  if (!digits)
    return std::nullopt;
  AxisRefs axes;
  for (Digit digit : llvm::reverse(*digits)) {
    std::optional<AxisRefs> part = axesOfDigit(mesh, digit);
    if (!part)
      return std::nullopt;
    axes.append(*part);
  }
  axes = normalized(axes);
  // The other groups must be translations of the first along the axes that are left, each device in
  // one.
  std::vector<bool> seen(devices);
  for (const auto &group : groups)
    for (auto [rank, device] : llvm::enumerate(group)) {
      if (seen[device] || indexAlong(mesh, device, axes) != int64_t(rank) ||
          positions[device] - positions[group[0]] != offsets[rank])
        return std::nullopt;
      seen[device] = true;
    }
  return axes;
}

static AxisRefs axesThatDiffer(const Mesh &mesh, llvm::ArrayRef<int64_t> pairs) {
  AxisRefs axes;
  for (int32_t a = 0; a < int32_t(mesh.axes.size()); ++a) {
    AxisRef axis = wholeAxis(mesh, a);
    for (size_t i = 0; i + 1 < pairs.size(); i += 2)
      if (indexAlong(mesh, pairs[i], axis) != indexAlong(mesh, pairs[i + 1], axis)) {
        axes.push_back(axis);
        break;
      }
  }
  return axes;
}

GroupTable tableOfGroups(const Mesh &mesh, llvm::ArrayRef<llvm::SmallVector<int64_t>> groups) {
  GroupTable table;
  llvm::SmallVector<int64_t> pairs;
  for (const auto &group : groups)
    for (int64_t device : group)
      pairs.append({group.front(), device});
  table.axes = axesThatDiffer(mesh, pairs);
  table.members.resize(mesh.numDevices());
  table.rank.resize(mesh.numDevices());
  AxisRefs all = allAxes(mesh);
  for (const auto &group : groups) {
    llvm::SmallVector<int64_t> ranks;
    for (int64_t device : group)
      ranks.push_back(indexAlong(mesh, device, table.axes));
    for (auto [rank, device] : llvm::enumerate(group)) {
      int64_t position = indexAlong(mesh, device, all);
      table.members[position] = ranks;
      table.rank[position] = rank;
    }
    table.largest = std::max<int64_t>(table.largest, group.size());
  }
  return table;
}

// The axes along which the table of pairs is not the same everywhere, each pair within one position
// of them.
static AxisRefs axesThatMatter(const Mesh &mesh, llvm::ArrayRef<int64_t> pairs) {
  AxisRefs all = allAxes(mesh), matter;
  llvm::SmallVector<std::pair<int64_t, int64_t>> positions;
  for (size_t i = 0; i + 1 < pairs.size(); i += 2)
    positions.push_back({indexAlong(mesh, pairs[i], all), indexAlong(mesh, pairs[i + 1], all)});
  llvm::DenseSet<std::pair<int64_t, int64_t>> table(positions.begin(), positions.end());
  int64_t stride = mesh.numDevices();
  for (const AxisRef &axis : all) {
    stride /= axis.size;
    auto isSameBeside = [&, size = axis.size](std::pair<int64_t, int64_t> pair) {
      auto [source, target] = pair;
      int64_t index = source / stride % size, step = ((index + 1) % size - index) * stride;
      return target / stride % size == index && table.contains({source + step, target + step});
    };
    if (!llvm::all_of(positions, isSameBeside))
      matter.push_back(axis);
  }
  return matter;
}

RankPairs ranksOfPairs(const Mesh &mesh, llvm::ArrayRef<int64_t> pairs) {
  RankPairs result;
  result.axes = axesThatMatter(mesh, pairs);
  std::map<int64_t, int64_t> targets;
  for (size_t i = 0; i + 1 < pairs.size(); i += 2)
    targets[indexAlong(mesh, pairs[i], result.axes)] = indexAlong(mesh, pairs[i + 1], result.axes);
  for (auto [source, target] : targets)
    result.pairs.append({source, target});

  int64_t size = shardCount(result.axes), sent = result.pairs.size() / 2;
  if (sent == 0)
    return result;
  int64_t shift = result.pairs[1] - result.pairs[0];
  bool modulo = true, plain = true;
  for (size_t i = 0; i < result.pairs.size(); i += 2) {
    int64_t distance = result.pairs[i + 1] - result.pairs[i];
    modulo &= (distance - shift) % size == 0;
    plain &= distance == shift;
  }
  if (modulo && sent == size) {
    result.shift = ((shift % size) + size) % size;
    if (*result.shift > size / 2)
      *result.shift -= size;
    result.wrap = true;
  } else if (plain && sent == size - std::abs(shift)) {
    result.shift = shift;
  }
  return result;
}

} // namespace tessera::sharding
