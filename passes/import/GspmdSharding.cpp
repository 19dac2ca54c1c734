#include "passes/import/GspmdSharding.h"

#include "lib/sharding/DeviceGroups.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <numeric>
#include <set>

namespace tessera::import {

using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;

static llvm::Error unsupported(StringRef what) {
  return llvm::createStringError("the sharding string holds '" + what +
                                 "', which is not supported");
}

// `1,2,3` up to the first character that is neither digit nor comma.
static SmallVector<int64_t> takeNumbers(StringRef &text) {
  SmallVector<int64_t> numbers;
  int64_t number;
  while (!text.consumeInteger(10, number)) {
    numbers.push_back(number);
    text.consume_front(",");
  }
  return numbers;
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

// Devices 0 .. n-1 as an array of `shape`, transposed: the short form `<=[2,4]T(1,0)`.
static std::vector<int64_t> transposedIota(ArrayRef<int64_t> shape, ArrayRef<int64_t> permutation) {
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

llvm::Expected<TileAssignment> parseTileAssignment(StringRef text) {
  TileAssignment result;
  StringRef all = text;
  text = text.trim();
  if (!text.consume_front("{") || !text.consume_back("}"))
    return unsupported(all);
  text = text.split("metadata=").first.trim();
  if (text == "replicated")
    return result;
  if (text == "manual") {
    result.manual = true;
    return result;
  }
  if (text.consume_front("maximal device=")) {
    if (text.getAsInteger(10, result.only) || result.only < 0)
      return unsupported(all);
    return result;
  }
  if (!text.consume_front("devices=["))
    return unsupported(text);
  result.tiles = takeNumbers(text);
  int64_t tiles = deviceCount(result.tiles);
  if (!text.consume_front("]") || result.tiles.empty() || tiles == 0)
    return unsupported(all);
  if (text.consume_front("<=[")) {
    SmallVector<int64_t> shape = takeNumbers(text), permutation;
    if (!text.consume_front("]"))
      return unsupported(all);
    if (text.consume_front("T(")) {
      permutation = takeNumbers(text);
      text.consume_front(")");
    } else {
      permutation.resize(shape.size());
      std::iota(permutation.begin(), permutation.end(), 0);
    }
    if (deviceCount(shape) != tiles || permutation.size() != shape.size() ||
        llvm::any_of(permutation, [&](int64_t d) { return d < 0 || d >= int64_t(shape.size()); }))
      return unsupported(all);
    result.devices = transposedIota(shape, permutation);
  } else {
    SmallVector<int64_t> devices = takeNumbers(text);
    result.devices.assign(devices.begin(), devices.end());
  }
  text = text.trim();
  if (text.consume_front("last_tile_dim_replicate"))
    result.last = {TileKind::Replicated};
  StringRef kinds = text;
  if (kinds.consume_front("last_tile_dims={") && kinds.consume_back("}")) {
    SmallVector<StringRef> names;
    kinds.split(names, ',');
    for (StringRef name : names) {
      if (name.trim() != "replicated" && name.trim() != "manual")
        return unsupported(text);
      result.last.push_back(name.trim() == "manual" ? TileKind::Manual : TileKind::Replicated);
    }
    if (result.last.size() > result.tiles.size())
      return unsupported(text);
    text = "";
  }
  if (!text.trim().empty())
    return unsupported(text.trim());
  std::set<int64_t> distinct(result.devices.begin(), result.devices.end());
  if (tiles != int64_t(result.devices.size()) || distinct.size() != result.devices.size() ||
      *distinct.begin() != 0 || *distinct.rbegin() != tiles - 1)
    return unsupported(all);
  return result;
}

llvm::Expected<SmallVector<TileAssignment>> parseTileAssignments(StringRef text, size_t count) {
  SmallVector<TileAssignment> all;
  StringRef inner = text.trim();
  if (!inner.starts_with("{{")) { // one for all
    llvm::Expected<TileAssignment> one = parseTileAssignment(text);
    if (!one)
      return one.takeError();
    all.assign(count, *one);
    return all;
  }
  inner = inner.drop_front().drop_back();
  size_t depth = 0, begin = 0;
  for (size_t i = 0; i < inner.size(); ++i) {
    depth += inner[i] == '{';
    depth -= inner[i] == '}' && depth > 0;
    if (inner[i] == '}' && depth == 0) {
      llvm::Expected<TileAssignment> one =
          parseTileAssignment(inner.slice(begin, i + 1).trim(" ,"));
      if (!one)
        return one.takeError();
      all.push_back(*one);
      begin = i + 1;
    }
  }
  if (all.size() != count)
    return llvm::createStringError("the sharding string has " + llvm::Twine(all.size()) +
                                   " parts for " + llvm::Twine(count) + " values");
  return all;
}

// The digits of each tile dimension, minor first; none when the table has no such structure.
static std::optional<SmallVector<SmallVector<sharding::Digit>>>
digitsOfTiles(const TileAssignment &assignment) {
  SmallVector<SmallVector<sharding::Digit>> result;
  int64_t inner = assignment.devices.size();
  for (int64_t tiles : assignment.tiles) {
    inner /= tiles;
    SmallVector<int64_t> offsets;
    for (int64_t i = 0; i < tiles; ++i)
      offsets.push_back(assignment.devices[i * inner]);
    auto digits = assignment.devices[0] == 0 ? sharding::digitsOf(offsets) : std::nullopt;
    if (!digits)
      return std::nullopt;
    result.push_back(*digits);
  }
  // All other entries must follow from these.
  for (size_t place = 0; place < assignment.devices.size(); ++place) {
    int64_t rest = place, expected = 0, stride = assignment.devices.size();
    for (auto [d, tiles] : llvm::enumerate(assignment.tiles)) {
      stride /= tiles;
      int64_t i = rest / stride;
      rest %= stride;
      expected += assignment.devices[i * stride];
    }
    if (expected != assignment.devices[place])
      return std::nullopt;
  }
  return result;
}

std::optional<sharding::Mesh> commonMesh(ArrayRef<TileAssignment> assignments) {
  std::set<int64_t> borders = {1};
  int64_t devices = 1;
  for (const TileAssignment &assignment : assignments) {
    if (assignment.isReplicated())
      continue;
    auto digits = digitsOfTiles(assignment);
    if (!digits || (devices != 1 && devices != int64_t(assignment.devices.size())))
      return std::nullopt;
    devices = assignment.devices.size();
    for (const auto &dim : *digits)
      for (sharding::Digit digit : dim) {
        borders.insert(digit.stride);
        borders.insert(digit.stride * digit.count);
      }
  }
  borders.insert(devices);
  sharding::Mesh mesh;
  mesh.name = "mesh";
  SmallVector<int64_t> ordered(borders.begin(), borders.end());
  for (size_t i = ordered.size() - 1; i > 0; --i) {
    if (ordered[i] % ordered[i - 1])
      return std::nullopt;
    mesh.axes.push_back({"axis_" + std::to_string(mesh.axes.size()), ordered[i] / ordered[i - 1]});
  }
  return mesh;
}

std::optional<sharding::TensorSharding> onMesh(const sharding::Mesh &mesh,
                                               const TileAssignment &assignment, int64_t rank) {
  sharding::TensorSharding result = sharding::TensorSharding::replicatedOver(rank);
  if (assignment.isReplicated())
    return result;
  auto digits = digitsOfTiles(assignment);
  if (!digits || int64_t(digits->size()) != rank + int64_t(assignment.last.size()))
    return std::nullopt;
  for (int64_t d = 0; d < rank; ++d)
    for (sharding::Digit digit : llvm::reverse((*digits)[d])) {
      auto axes = sharding::axesOfDigit(mesh, digit);
      if (!axes)
        return std::nullopt;
      result.dims[d].axes.append(*axes);
    }
  return result;
}

std::optional<sharding::AxisRefs> manualAxes(const sharding::Mesh &mesh,
                                             const TileAssignment &assignment) {
  sharding::AxisRefs axes;
  if (assignment.manual) {
    for (size_t axis = 0; axis < mesh.axes.size(); ++axis)
      axes.push_back(sharding::wholeAxis(mesh, axis));
    return axes;
  }
  if (assignment.isReplicated())
    return axes;
  auto digits = digitsOfTiles(assignment);
  if (!digits)
    return std::nullopt;
  for (auto [kind, of] :
       llvm::zip(assignment.last, llvm::ArrayRef(*digits).take_back(assignment.last.size())))
    if (kind == TileKind::Manual)
      for (sharding::Digit digit : llvm::reverse(of)) {
        auto part = sharding::axesOfDigit(mesh, digit);
        if (!part)
          return std::nullopt;
        axes.append(*part);
      }
  llvm::sort(axes);
  return axes;
}

} // namespace tessera::import
