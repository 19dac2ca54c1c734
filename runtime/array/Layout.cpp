#include "runtime/array/Layout.h"
#include "include/tessera/container.h"
#include "runtime/array/ElementType.h"
#include <algorithm>
#include <cstring>
#include <set>

namespace tessera::runtime {

Result<MeshGrid> MeshGrid::make(const program::Mesh &mesh) {
  MeshGrid grid;
  int64_t count = 1;
  for (const auto &axis : mesh.axes()) {
    if (axis.size() < 1 || count > container::kMostDevices / axis.size())
      return invalidProgram("mesh axis '" + axis.name() + "' has a bad size " +
                            std::to_string(axis.size()));
    grid.sizes_.push_back(axis.size());
    count *= axis.size();
  }
  grid.strides_ = rowMajorStrides(grid.sizes_);
  grid.size_ = count;
  grid.first_ = mesh.first_device();
  if (grid.first_ < 0 || grid.first_ > container::kMostDevices - count)
    return invalidProgram("a mesh's first device is " + std::to_string(grid.first_));
  if (mesh.device_ids_size() == 0)
    return grid;
  if (mesh.device_ids_size() != count)
    return invalidProgram("the mesh has " + std::to_string(count) + " places and " +
                          std::to_string(mesh.device_ids_size()) + " device ids");
  grid.first_ = 0;
  grid.devices_.assign(mesh.device_ids().begin(), mesh.device_ids().end());
  bool consecutive = true;
  for (int64_t p = 0; p < count; ++p) {
    int64_t device = grid.devices_[p];
    if (device < 0 || device >= container::kMostDevices)
      return invalidProgram("a mesh's device ids name device " + std::to_string(device));
    consecutive &= device == grid.devices_[0] + p;
    grid.positions_.emplace_back(device, p);
  }
  std::sort(grid.positions_.begin(), grid.positions_.end());
  for (int64_t i = 1; i < count; ++i)
    if (grid.positions_[i].first == grid.positions_[i - 1].first)
      return invalidProgram("a mesh's device ids name device " +
                            std::to_string(grid.positions_[i].first) + " twice");
  if (consecutive) {
    grid.first_ = grid.devices_[0];
    grid.devices_.clear();
    grid.positions_.clear();
  }
  return grid;
}

int64_t MeshGrid::positionOf(int64_t device) const {
  if (devices_.empty())
    return device >= first_ && device - first_ < size_ ? device - first_ : -1;
  auto found =
      std::lower_bound(positions_.begin(), positions_.end(), std::pair(device, int64_t{0}));
  return found == positions_.end() || found->first != device ? -1 : found->second;
}

std::vector<std::pair<int64_t, int64_t>> MeshGrid::ranges() const {
  std::vector<std::pair<int64_t, int64_t>> ranges;
  if (devices_.empty())
    ranges.emplace_back(first_, first_ + size_);
  for (int64_t device : devices_)
    ranges.emplace_back(device, device + 1);
  return ranges;
}

MeshGrid::Part MeshGrid::part(const program::AxisRef &ref) const {
  return {strides_[ref.axis()] * (sizes_[ref.axis()] / (ref.pre_size() * ref.size())), ref.size()};
}

int64_t MeshGrid::indexAlong(int64_t position, const AxisRefs &axes) const {
  int64_t index = 0;
  for (const auto &ref : axes) {
    Part digit = part(ref);
    index = index * digit.size + position / digit.stride % digit.size;
  }
  return index;
}

int64_t MeshGrid::sizeOf(const AxisRefs &axes) {
  int64_t size = 1;
  for (const auto &ref : axes)
    size *= ref.size();
  return size;
}

std::vector<MeshGrid::Part> MeshGrid::partsBeside(const AxisRefs &axes) const {
  std::vector<Part> used, left;
  for (const auto &ref : axes)
    used.push_back(part(ref));
  std::sort(used.begin(), used.end(), [](auto &a, auto &b) { return a.stride > b.stride; });
  // Below `above` nothing is said for yet.
  int64_t above = size_;
  for (const Part &digit : used) {
    if (above > digit.stride * digit.size)
      left.push_back({digit.stride * digit.size, above / (digit.stride * digit.size)});
    above = digit.stride;
  }
  if (above > 1)
    left.push_back({1, above});
  return left;
}

Status MeshGrid::check(const AxisRefs &axes) const {
  std::vector<const program::AxisRef *> used;
  for (const auto &ref : axes) {
    if (ref.axis() >= sizes_.size())
      return invalidProgram("mesh axis " + std::to_string(ref.axis()) + " does not exist");
    int64_t size = sizes_[ref.axis()];
    if (ref.size() < 1 || ref.pre_size() < 1 || ref.pre_size() > size || ref.size() > size ||
        size % (ref.pre_size() * ref.size()))
      return invalidProgram("a part (" + std::to_string(ref.pre_size()) + ")" +
                            std::to_string(ref.size()) + " of a mesh axis of size " +
                            std::to_string(size) + " does not exist");
    if (ref.size() > 1)
      used.push_back(&ref);
  }
  std::sort(used.begin(), used.end(), [](auto *a, auto *b) {
    return std::pair(a->axis(), a->pre_size()) < std::pair(b->axis(), b->pre_size());
  });
  for (size_t i = 1; i < used.size(); ++i) {
    const auto &above = *used[i - 1], &below = *used[i];
    if (above.axis() == below.axis() && (below.pre_size() < above.pre_size() * above.size() ||
                                         below.pre_size() % (above.pre_size() * above.size())))
      return invalidProgram("a list of mesh axes uses axis " + std::to_string(below.axis()) +
                            " twice");
  }
  return {};
}

void dropTrivial(AxisRefs &axes) {
  auto end = std::remove_if(axes.begin(), axes.end(), [](auto &ref) { return ref.size() == 1; });
  axes.erase(end, axes.end());
}

int64_t elementCount(const std::vector<int64_t> &shape) {
  int64_t count = 1;
  for (int64_t n : shape)
    count *= n;
  return count;
}

std::vector<int64_t> rowMajorStrides(const std::vector<int64_t> &shape) {
  std::vector<int64_t> strides(shape.size());
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0; stride *= shape[i])
    strides[i] = stride;
  return strides;
}

std::vector<int64_t> localShape(const program::Parameter &parameter) {
  std::vector<int64_t> shape;
  for (const auto &dim : parameter.layout())
    shape.push_back(dim.tile());
  return shape;
}

std::vector<int64_t> globalShape(const program::Parameter &parameter) {
  return {parameter.global_shape().begin(), parameter.global_shape().end()};
}

int64_t localBytes(const program::Parameter &parameter) {
  return elementCount(localShape(parameter)) * byteSize(parameter.type());
}

Status checkParameter(const program::Parameter &parameter, const MeshGrid &mesh) {
  std::string who = "parameter '" + parameter.name() + "': ";
  if (!byteSize(parameter.type()))
    return invalidProgram(who + "unknown element type");
  if (parameter.memory() != program::DEVICE_MEMORY && parameter.memory() != program::HOST_MEMORY)
    return invalidProgram(who + "lies in no memory that a caller's arrays can have");
  if (parameter.layout_size() != parameter.global_shape_size())
    return invalidProgram(who + "layout and shape differ in rank");
  AxisRefs all;
  int64_t bytes = byteSize(parameter.type()),
          whole = bytes; // of a device's array, of the global one
  for (int i = 0; i < parameter.layout_size(); ++i) {
    const auto &dim = parameter.layout(i);
    if (Status s = mesh.check(dim.axes()); !s.ok())
      return invalidProgram(who + s.message());
    all.MergeFrom(dim.axes());
    int64_t n = parameter.global_shape(i), shards = MeshGrid::sizeOf(dim.axes());
    if (n < 0 || n > (int64_t{1} << 40) || dim.tile() < 0 || dim.tile() > (int64_t{1} << 40) ||
        dim.tile() < (n + shards - 1) / shards)
      return invalidProgram(who + std::to_string(shards) + " tiles of " +
                            std::to_string(dim.tile()) + " do not cover dimension " +
                            std::to_string(i) + " of size " + std::to_string(n));
    if ((dim.tile() && bytes > (int64_t{1} << 46) / dim.tile()) ||
        (n && whole > (int64_t{1} << 46) / n))
      return invalidProgram(who + "too large");
    bytes *= std::max<int64_t>(dim.tile(), 1);
    whole *= std::max<int64_t>(n, 1);
  }
  if (Status s = mesh.check(all); !s.ok())
    return invalidProgram(who + s.message());
  return {};
}

Tile tileOf(const program::Parameter &parameter, const MeshGrid &mesh, int64_t position) {
  Tile tile;
  for (int i = 0; i < parameter.layout_size(); ++i) {
    const auto &dim = parameter.layout(i);
    int64_t n = parameter.global_shape(i);
    int64_t start = std::min(n, mesh.indexAlong(position, dim.axes()) * dim.tile());
    tile.start.push_back(start);
    tile.extent.push_back(std::min(dim.tile(), n - start));
    tile.full &= tile.extent.back() == dim.tile();
  }
  return tile;
}

namespace {

// Calls f(global byte offset, local byte offset, bytes) for each contiguous run of the tile.
template <class F> void forEachRun(const program::Parameter &parameter, const Tile &tile, F f) {
  int64_t element = byteSize(parameter.type());
  std::vector<int64_t> global = rowMajorStrides(globalShape(parameter));
  std::vector<int64_t> local = rowMajorStrides(localShape(parameter));
  size_t rank = tile.extent.size();
  if (elementCount(tile.extent) == 0)
    return;
  // Dimensions from `inner` on are one run: whole in both arrays, but for the outermost of them.
  size_t inner = rank;
  int64_t run = 1;
  while (inner > 0 && global[inner - 1] == run && local[inner - 1] == run)
    run *= tile.extent[--inner];
  std::vector<int64_t> index(inner, 0);
  while (true) {
    int64_t from = 0, to = 0;
    for (size_t i = 0; i < rank; ++i) {
      int64_t at = i < inner ? index[i] : 0;
      from += (tile.start[i] + at) * global[i];
      to += at * local[i];
    }
    f(from * element, to * element, run * element);
    size_t i = inner;
    while (i > 0 && ++index[i - 1] == tile.extent[i - 1])
      index[--i] = 0;
    if (i == 0)
      return;
  }
}

} // namespace

void scatterTile(const program::Parameter &parameter, const MeshGrid &mesh, int64_t position,
                 const void *global, void *local) {
  Tile tile = tileOf(parameter, mesh, position);
  if (!tile.full)
    std::memset(local, 0, localBytes(parameter));
  forEachRun(parameter, tile, [&](int64_t from, int64_t to, int64_t bytes) {
    std::memcpy(static_cast<char *>(local) + to, static_cast<const char *>(global) + from, bytes);
  });
}

void gatherTile(const program::Parameter &parameter, const MeshGrid &mesh, int64_t position,
                const void *local, void *global) {
  forEachRun(parameter, tileOf(parameter, mesh, position),
             [&](int64_t to, int64_t from, int64_t bytes) {
               std::memcpy(static_cast<char *>(global) + to,
                           static_cast<const char *>(local) + from, bytes);
             });
}

std::vector<int64_t> firstReplicas(const program::Parameter &parameter, const MeshGrid &mesh) {
  std::set<std::vector<int64_t>> seen;
  std::vector<int64_t> positions;
  for (int64_t p = 0; p < mesh.size(); ++p) {
    std::vector<int64_t> index;
    for (const auto &dim : parameter.layout())
      index.push_back(mesh.indexAlong(p, dim.axes()));
    if (seen.insert(index).second)
      positions.push_back(p);
  }
  return positions;
}

} // namespace tessera::runtime
