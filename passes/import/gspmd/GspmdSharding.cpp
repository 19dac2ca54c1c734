#include "passes/import/gspmd/GspmdSharding.h"

#include "lib/sharding/DeviceGroups.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <numeric>

namespace tessera::import {

using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;
using llvm::Twine;

static llvm::Error wrong(StringRef text, const Twine &what) {
  return llvm::createStringError("mhlo.sharding = \"" + text + "\": " + what);
}

// `1,2,3]` with its end; false where that is not what stands there.
static bool takeNumbers(StringRef &text, StringRef end, llvm::SmallVectorImpl<int64_t> &numbers) {
  do {
    text = text.ltrim();
    if (text.consumeInteger(10, numbers.emplace_back()))
      return false;
  } while (text.consume_front(","));
  return text.consume_front(end);
}

// The product of positive numbers; 0 when one is not positive or there are more than a million
// devices.
static int64_t deviceCount(ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t size : shape) {
    if (size <= 0 || size > (1 << 20) / count)
      return 0;
    count *= size;
  }
  return count;
}

static bool isPermutation(ArrayRef<int64_t> numbers) {
  std::vector<bool> seen(numbers.size());
  for (int64_t number : numbers) {
    if (number < 0 || number >= int64_t(numbers.size()) || seen[number])
      return false;
    seen[number] = true;
  }
  return true;
}

std::optional<std::vector<int64_t>> transposedIota(ArrayRef<int64_t> shape,
                                                   ArrayRef<int64_t> permutation) {
  if (permutation.size() != shape.size() || !isPermutation(permutation) || !deviceCount(shape))
    return std::nullopt;
  SmallVector<int64_t> strides(shape.size(), 1);
  for (int64_t i = int64_t(shape.size()) - 2; i >= 0; --i)
    strides[i] = strides[i + 1] * shape[i + 1];
  std::vector<int64_t> devices = {0};
  for (int64_t d : permutation) {
    std::vector<int64_t> longer;
    for (int64_t base : devices)
      for (int64_t i = 0; i < shape[d]; ++i)
        longer.push_back(base + i * strides[d]);
    devices = std::move(longer);
  }
  return devices;
}

// `[2,4]<=[8]` or `[2,4]0,1,2,3,4,5,6,7`: tiles and their devices. Empty, or what is wrong.
static std::string takeTiles(StringRef &text, TileAssignment &result) {
  if (!text.consume_front("[") || !takeNumbers(text, "]", result.tiles))
    return "after 'devices=' must come the number of tiles of each dimension, as in [2,4]";
  int64_t tiles = deviceCount(result.tiles);
  if (tiles == 0)
    return "numbers of tiles must be positive, and make a million devices at most";
  if (!text.consume_front("<=[")) {
    SmallVector<int64_t> devices;
    if (!takeNumbers(text, "", devices))
      return "after the tiles must come their devices: 0,1,2,.. or <=[..]";
    result.devices.assign(devices.begin(), devices.end());
    if (tiles != int64_t(devices.size()))
      return (Twine(devices.size()) + " devices for " + Twine(tiles) + " tiles").str();
    if (!isPermutation(devices))
      return ("the devices of " + Twine(tiles) + " tiles must be 0 to " + Twine(tiles - 1) +
              ", each once")
          .str();
    return "";
  }
  SmallVector<int64_t> shape, permutation;
  if (!takeNumbers(text, "]", shape))
    return "after '<=' must come the shape of all devices, as in <=[8] or <=[2,4]T(1,0)";
  if (text.consume_front("T(")) {
    if (!takeNumbers(text, ")", permutation) || permutation.size() != shape.size() ||
        !isPermutation(permutation))
      return ("after 'T' must come a permutation of the " + Twine(shape.size()) +
              " dimensions before it")
          .str();
  } else {
    permutation.resize(shape.size());
    std::iota(permutation.begin(), permutation.end(), 0);
  }
  if (deviceCount(shape) != tiles)
    return (Twine(deviceCount(shape)) + " devices for " + Twine(tiles) + " tiles").str();
  result.devices = *transposedIota(shape, permutation);
  return "";
}

// `last_tile_dims={manual, replicated}`. Empty, or what is wrong.
static std::string takeKinds(StringRef &text, TileAssignment &result) {
  if (text.consume_front("last_tile_dim_replicate")) {
    result.last = {TileKind::Replicated};
  } else if (text.consume_front("last_tile_dims={")) {
    auto [list, rest] = text.split('}');
    SmallVector<StringRef> names;
    list.split(names, ',');
    for (StringRef name : names) {
      name = name.trim();
      if (list.trim().empty())
        break;
      if (name == "manual")
        result.last.push_back(TileKind::Manual);
      else if (name == "unreduced")
        result.last.push_back(TileKind::Unreduced);
      else if (name == "replicated" || name == "maximal") // one device's value will do for all
        result.last.push_back(TileKind::Replicated);
      else
        return ("'" + name + "' is none of replicated, manual and unreduced").str();
    }
    text = rest;
  }
  if (result.last.size() > result.tiles.size())
    return (Twine(result.last.size()) + " kinds of last tile dimensions, but " +
            Twine(result.tiles.size()) + " tile dimensions")
        .str();
  return "";
}

// Where all devices have the whole, their order says nothing.
static TileAssignment inOrderIfWhole(TileAssignment assignment) {
  bool whole = true;
  for (auto [i, tiles] : llvm::enumerate(assignment.tiles)) {
    size_t dims = assignment.tiles.size() - assignment.last.size();
    whole &= tiles == 1 || (i >= dims && assignment.last[i - dims] == TileKind::Replicated);
  }
  if (whole)
    std::iota(assignment.devices.begin(), assignment.devices.end(), 0);
  return assignment;
}

llvm::Expected<TileAssignment> parseTileAssignment(StringRef all) {
  TileAssignment result;
  StringRef text = all.trim();
  if (!text.consume_front("{") || !text.consume_back("}"))
    return wrong(all, "a sharding stands in braces, as {replicated} or {devices=[2,4]<=[8]}");
  text = text.split("metadata=").first.trim().rtrim(",");
  if (text.consume_front("manual")) {
    result.all = TileKind::Manual;
  } else if (text.consume_front("unreduced")) {
    result.all = TileKind::Unreduced;
  } else if (text.consume_front("unknown")) {
    result.unknown = true;
  } else if (text.consume_front("maximal")) {
    text = text.ltrim();
    if (!text.consume_front("device=") || text.consumeInteger(10, result.only) || result.only < 0)
      return wrong(all, "maximal names one device, as {maximal device=0}");
  } else if (text.consume_front("mesh")) {
    if (std::string what = readNamedTiles(text, result); !what.empty())
      return wrong(all, what);
    return inOrderIfWhole(result);
  } else if (text.consume_front("devices=")) {
    if (std::string what = takeTiles(text, result); !what.empty())
      return wrong(all, what);
    text = text.ltrim();
    if (std::string what = takeKinds(text, result); !what.empty())
      return wrong(all, what);
  } else if (!text.consume_front("replicated")) {
    return wrong(all, "it is none of replicated, manual, unreduced, unknown, maximal device=N, "
                      "devices=[..].. and mesh[..]..");
  }
  text = text.ltrim();
  if ((text.consume_front("shard_as ") || text.consume_front("shard_like ")) &&
      (text.consumeInteger(10, result.group) || result.group < 0))
    return wrong(all, "shard_as and shard_like take the number of a group");
  if (!text.trim().empty())
    return wrong(all, "'" + text.trim() + "' has no meaning here");
  return inOrderIfWhole(result);
}

SmallVector<StringRef> tupleParts(StringRef text) {
  StringRef inner = text.trim();
  if (!inner.consume_front("{") || !inner.ltrim().starts_with("{") || !inner.consume_back("}"))
    return {text.trim()};
  SmallVector<StringRef> parts;
  size_t depth = 0, begin = 0;
  for (size_t i = 0; i < inner.size(); ++i) {
    depth += inner[i] == '{';
    depth -= inner[i] == '}' && depth > 0;
    if (inner[i] == '}' && depth == 0) {
      parts.append(tupleParts(inner.slice(begin, i + 1).trim(" ,")));
      begin = i + 1;
    }
  }
  if (StringRef rest = inner.drop_front(begin).trim(); !rest.empty())
    parts.push_back(rest);
  return parts;
}

llvm::Expected<SmallVector<TileAssignment>> parseTileAssignments(StringRef text, size_t count) {
  SmallVector<TileAssignment> all;
  SmallVector<StringRef> parts = tupleParts(text);
  for (StringRef part : parts) {
    llvm::Expected<TileAssignment> one = parseTileAssignment(part);
    if (!one)
      return one.takeError();
    all.push_back(*one);
  }
  if (parts.size() == 1 && parts[0] == text.trim()) // one for all
    all.assign(count, TileAssignment(all[0]));
  if (all.size() != count)
    return wrong(text, Twine(all.size()) + " shardings for " + Twine(count) + " values");
  return all;
}

// Of each tile dimension, the digits of the positions in `order` (as Mesh::deviceIds), minor first;
// none when the table has no such structure.
static std::optional<SmallVector<SmallVector<sharding::Digit>>>
digitsOfTiles(const TileAssignment &assignment, ArrayRef<int64_t> order) {
  std::vector<int64_t> positions = assignment.devices;
  if (!order.empty()) {
    if (order.size() != positions.size())
      return std::nullopt;
    std::vector<int64_t> positionOf(order.size());
    for (auto [i, device] : llvm::enumerate(order))
      positionOf[device] = i;
    for (int64_t &each : positions)
      each = positionOf[each];
  }
  SmallVector<SmallVector<sharding::Digit>> result;
  int64_t inner = positions.size();
  for (int64_t tiles : assignment.tiles) {
    inner /= tiles;
    SmallVector<int64_t> offsets;
    for (int64_t i = 0; i < tiles; ++i)
      offsets.push_back(positions[i * inner]);
    auto digits = positions[0] == 0 ? sharding::digitsOf(offsets) : std::nullopt;
    if (!digits)
      return std::nullopt;
    result.push_back(*digits);
  }
  // All other entries must follow from these.
  for (size_t place = 0; place < positions.size(); ++place) {
    int64_t rest = place, expected = 0, stride = positions.size();
    for (auto [d, tiles] : llvm::enumerate(assignment.tiles)) {
      stride /= tiles;
      int64_t i = rest / stride;
      rest %= stride;
      expected += positions[i * stride];
    }
    if (expected != positions[place])
      return std::nullopt;
  }
  return result;
}

TileMeshes::TileMeshes(ArrayRef<sharding::Mesh> given) {
  for (const sharding::Mesh &mesh : given) {
    Candidate &candidate = candidates.emplace_back();
    candidate.order = mesh.deviceIds;
    candidate.given = mesh;
    devices = mesh.numDevices();
  }
}

bool TileMeshes::Candidate::take(ArrayRef<TileAssignment> assignments) {
  if (given)
    return llvm::all_of(assignments, [&](const TileAssignment &each) {
      return !each.hasTiles() || onMesh(*given, each, each.tiles.size() - each.last.size());
    });
  SmallVector<int64_t> wanted = boundaries;
  for (const TileAssignment &each : assignments) {
    if (!each.hasTiles())
      continue;
    auto digits = digitsOfTiles(each, order);
    if (!digits)
      return false;
    for (const auto &dim : *digits)
      for (sharding::Digit digit : dim)
        wanted.append({digit.stride, digit.stride * digit.count});
    wanted.push_back(each.devices.size());
  }
  llvm::sort(wanted);
  wanted.erase(llvm::unique(wanted), wanted.end());
  for (size_t i = 1; i < wanted.size(); ++i)
    if (wanted[i] % wanted[i - 1])
      return false;
  boundaries = std::move(wanted);
  return true;
}

std::optional<size_t> TileMeshes::add(ArrayRef<TileAssignment> assignments) {
  for (const TileAssignment &each : assignments) {
    if (each.hasTiles() && devices && devices != int64_t(each.devices.size()))
      return std::nullopt;
    if (each.hasTiles())
      devices = each.devices.size();
  }
  for (auto [i, candidate] : llvm::enumerate(candidates))
    if (candidate.take(assignments))
      return i;
  Candidate fresh;
  if (!fresh.take(assignments)) { // the devices are in no order that numbers follow
    for (const TileAssignment &each : assignments)
      if (fresh.order.empty())
        fresh.order = each.devices;
    if (!fresh.take(assignments))
      return std::nullopt;
  }
  candidates.push_back(std::move(fresh));
  return candidates.size() - 1;
}

std::vector<sharding::Mesh> TileMeshes::meshes() const {
  std::vector<sharding::Mesh> all;
  for (const Candidate &candidate : candidates) {
    if (candidate.given) {
      all.push_back(*candidate.given);
      continue;
    }
    sharding::Mesh &mesh = all.emplace_back();
    mesh.deviceIds = candidate.order;
    SmallVector<int64_t> boundaries = candidate.boundaries;
    if (boundaries.back() < devices)
      boundaries.push_back(devices);
    for (size_t i = boundaries.size() - 1; i > 0; --i)
      mesh.axes.push_back(
          {"axis_" + std::to_string(mesh.axes.size()), boundaries[i] / boundaries[i - 1]});
  }
  return all;
}

// The axes of one tile dimension, major to minor.
static bool appendAxes(const sharding::Mesh &mesh, ArrayRef<sharding::Digit> digits,
                       sharding::AxisRefs &axes) {
  for (sharding::Digit digit : llvm::reverse(digits)) {
    auto part = sharding::axesOfDigit(mesh, digit);
    if (!part)
      return false;
    axes.append(*part);
  }
  return true;
}

// The axes of the last tile dimensions of a kind.
static std::optional<sharding::AxisRefs>
axesOfKind(const sharding::Mesh &mesh, const TileAssignment &assignment, TileKind kind) {
  if (!assignment.hasTiles())
    return assignment.all == kind ? sharding::allAxes(mesh) : sharding::AxisRefs{};
  sharding::AxisRefs axes;
  auto digits = digitsOfTiles(assignment, mesh.deviceIds);
  if (!digits)
    return std::nullopt;
  for (auto [each, of] :
       llvm::zip(assignment.last, ArrayRef(*digits).take_back(assignment.last.size())))
    if (each == kind && !appendAxes(mesh, of, axes))
      return std::nullopt;
  llvm::sort(axes);
  return axes;
}

std::optional<sharding::TensorSharding> onMesh(const sharding::Mesh &mesh,
                                               const TileAssignment &assignment, int64_t rank) {
  sharding::TensorSharding result = sharding::TensorSharding::replicatedOver(rank);
  std::optional<sharding::AxisRefs> unreduced = axesOfKind(mesh, assignment, TileKind::Unreduced);
  if (!unreduced)
    return std::nullopt;
  result.unreduced = *unreduced;
  if (!assignment.hasTiles())
    return result;
  auto digits = digitsOfTiles(assignment, mesh.deviceIds);
  if (int64_t(digits->size()) != rank + int64_t(assignment.last.size()))
    return std::nullopt;
  for (int64_t d = 0; d < rank; ++d)
    if (!appendAxes(mesh, (*digits)[d], result.dims[d].axes))
      return std::nullopt;
  return result;
}

std::optional<sharding::AxisRefs> manualAxes(const sharding::Mesh &mesh,
                                             const TileAssignment &assignment) {
  return axesOfKind(mesh, assignment, TileKind::Manual);
}

} // namespace tessera::import
