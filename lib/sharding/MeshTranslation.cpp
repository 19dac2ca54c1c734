#include "lib/sharding/MeshTranslation.h"

#include "lib/sharding/DeviceGroups.h"
#include "llvm/ADT/STLExtras.h"
#include <set>

namespace tessera::sharding {

using llvm::ArrayRef;

// Where in `to` the device at each position of `from` is; empty when they hold other devices.
static std::vector<int64_t> positionsIn(const Mesh &to, const Mesh &from) {
  int64_t n = from.numDevices();
  std::vector<int64_t> of(n, -1), positions;
  if (to.numDevices() != n)
    return {};
  for (int64_t i = 0; i < n; ++i)
    if (int64_t device = to.deviceIds.empty() ? i : to.deviceIds[i]; device >= 0 && device < n)
      of[device] = i;
  for (int64_t i = 0; i < n; ++i) {
    int64_t device = from.deviceIds.empty() ? i : from.deviceIds[i];
    if (device < 0 || device >= n || of[device] < 0)
      return {};
    positions.push_back(of[device]);
  }
  return positions;
}

// Distances between neighbours along each axis.
static std::vector<int64_t> stridesOf(const Mesh &mesh) {
  std::vector<int64_t> strides;
  int64_t stride = mesh.numDevices();
  for (const MeshAxis &axis : mesh.axes)
    strides.push_back(stride /= axis.size);
  return strides;
}

// The boundaries at which parts of an axis begin and end, major to minor: 1, .., its size. Those that
// don't nest with the ones before are left out.
static std::set<int64_t> boundariesOf(const Mesh &mesh, int32_t axis, ArrayRef<AxisRef> used) {
  std::set<int64_t> boundaries = {1, mesh.axes[axis].size};
  auto nests = [&](int64_t boundary) {
    return llvm::all_of(boundaries, [&](int64_t other) {
      return std::max(boundary, other) % std::min(boundary, other) == 0;
    });
  };
  for (const AxisRef &ref : used)
    if (ref.axis == axis)
      for (int64_t boundary : {ref.preSize, ref.preSize * ref.size})
        if (nests(boundary))
          boundaries.insert(boundary);
  return boundaries;
}

// The mesh's axes, major to minor, cut at boundaries; with `primes`, into primes in between.
static std::vector<AxisRef> cut(const Mesh &mesh, ArrayRef<AxisRef> used, bool primes) {
  std::vector<AxisRef> parts;
  for (int32_t axis = 0; axis < int32_t(mesh.axes.size()); ++axis) {
    int64_t at = 1;
    for (int64_t boundary : boundariesOf(mesh, axis, used)) {
      for (int64_t prime = 2; primes && at < boundary; ++prime) {
        if (prime * prime > boundary / at)
          prime = boundary / at;
        for (; boundary / at % prime == 0 && prime > 1; at *= prime)
          parts.push_back({axis, at, prime});
      }
      if (at < boundary)
        parts.push_back({axis, at, boundary / at});
      at = boundary;
    }
  }
  return parts;
}

static int64_t strideOf(const Mesh &mesh, ArrayRef<int64_t> strides, const AxisRef &part) {
  return strides[part.axis] * (mesh.axes[part.axis].size / (part.preSize * part.size));
}

MeshTranslation::MeshTranslation(const Mesh &to, const Mesh &from, ArrayRef<AxisRef> usedOfTo,
                                 ArrayRef<AxisRef> usedOfFrom) {
  possible = from.numDevices() <= to.numDevices();
  if (!possible)
    return;
  std::vector<int64_t> positions = positionsIn(to, from), strides = stridesOf(from);
  // Devices stay where the position in `to` is the sum of what each part adds, in digits of `to`.
  const std::vector<AxisRef> segments = cut(from, usedOfFrom, /*primes=*/false);
  keeps = !positions.empty() && positions[0] == 0;
  for (size_t at = 0; keeps && at < positions.size(); ++at) {
    int64_t sum = 0;
    for (const AxisRef &part : segments) {
      int64_t stride = strideOf(from, strides, part);
      sum += positions[at / stride % part.size * stride];
    }
    keeps = sum == positions[at];
  }
  for (const AxisRef &part : segments) {
    if (!keeps)
      break;
    llvm::SmallVector<int64_t> offsets;
    for (int64_t i = 0; i < part.size; ++i)
      offsets.push_back(positions[i * strideOf(from, strides, part)]);
    auto digits = digitsOf(offsets);
    keeps = digits.has_value();
    AxisRef rest = part;
    for (size_t d = keeps ? digits->size() : 0; d-- > 0 && keeps;) {
      auto here = axesOfDigit(to, (*digits)[d]);
      keeps = here.has_value();
      for (const AxisRef &image : here.value_or(AxisRefs())) {
        parts.push_back({{rest.axis, rest.preSize, image.size}, image});
        rest.preSize *= image.size;
      }
    }
  }
  if (keeps)
    return;
  parts.clear();
  std::vector<AxisRef> theirs = cut(from, usedOfFrom, /*primes=*/true);
  std::vector<AxisRef> ours = cut(to, usedOfTo, /*primes=*/true);
  std::vector<int64_t> toStrides = stridesOf(to);
  bool sameOrder = to.deviceIds == from.deviceIds;
  // First those that are the same distance apart in both.
  std::vector<std::optional<AxisRef>> taken(theirs.size());
  for (bool exact : {true, false})
    for (auto [part, image] : llvm::zip_equal(theirs, taken)) {
      if (image || (exact && !sameOrder))
        continue;
      auto found = llvm::find_if(ours, [&](const AxisRef &each) {
        return each.size == part.size &&
               (!exact || strideOf(to, toStrides, each) == strideOf(from, strides, part));
      });
      if (found == ours.end())
        continue;
      image = *found;
      ours.erase(found);
    }
  keeps = from.numDevices() < to.numDevices() && sameOrder;
  for (auto [part, image] : llvm::zip_equal(theirs, taken)) {
    parts.push_back({part, image});
    keeps = keeps && image && strideOf(to, toStrides, *image) == strideOf(from, strides, part);
  }
}

bool MeshTranslation::holds(const AxisRef &axis) const {
  return llvm::all_of(parts,
                      [&](const Part &part) { return part.to || !overlap(part.from, axis); });
}

std::optional<AxisRefs> MeshTranslation::axesOf(const AxisRef &axis) const {
  AxisRefs axes;
  int64_t at = axis.preSize, end = axis.preSize * axis.size;
  for (const auto &[from, to] : parts) {
    if (from.axis != axis.axis || at >= end || from.preSize * from.size <= at)
      continue;
    int64_t last = std::min(end, from.preSize * from.size), before = at / from.preSize;
    if (at % from.preSize || last % at || from.size % (before * (last / at)))
      return std::nullopt;
    if (to)
      axes.push_back({to->axis, to->preSize * before, last / at});
    at = last;
  }
  if (at != end)
    return std::nullopt;
  return axes;
}

std::optional<AxisRefs> MeshTranslation::axesOf(ArrayRef<AxisRef> axes) const {
  AxisRefs all;
  for (const AxisRef &axis : axes) {
    std::optional<AxisRefs> part = axesOf(axis);
    if (!part)
      return std::nullopt;
    all.append(*part);
  }
  return normalized(all);
}

Mesh refined(const Mesh &mesh, ArrayRef<AxisRef> needed) {
  Mesh result{mesh.name, {}, mesh.deviceIds};
  for (const AxisRef &part : cut(mesh, needed, /*primes=*/false)) {
    const MeshAxis &axis = mesh.axes[part.axis];
    std::string name = axis.name;
    int64_t number = 0;
    if (!isWhole(mesh, part))
      do
        name = axis.name + "_" + std::to_string(number++);
      while (mesh.axisIndex(name) >= 0 || result.axisIndex(name) >= 0);
    result.axes.push_back({name, part.size});
  }
  for (const MeshAxis &axis : mesh.axes) // `cut` leaves them out
    if (axis.size == 1)
      result.axes.push_back(axis);
  return result;
}

} // namespace tessera::sharding
