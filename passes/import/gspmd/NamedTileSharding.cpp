// GSPMD's strings on a mesh: {mesh['a'=2,'b'=4], [{'a'}, {'b':(1)2, ?}], unreduced={'b':(2)2}}, as
// the tiles that they make: {devices=[2,2,2]<=[8] last_tile_dims={unreduced}}.
#include "passes/import/gspmd/GspmdSharding.h"

#include "lib/sharding/AxisAtoms.h"
#include "llvm/ADT/STLExtras.h"

namespace tessera::import {

using llvm::SmallVector;
using llvm::SmallVectorImpl;
using llvm::StringRef;
using sharding::AxisRef;
using sharding::AxisRefs;

namespace {

class Reader {
public:
  explicit Reader(StringRef text) : text(text) {}

  // Empty, or what is wrong.
  std::string read(TileAssignment &result) {
    if (!readMesh() || !readOrder())
      return "a mesh is written as mesh['a'=2,'b'=4], device_ids=(..), with each device once";
    take(",");
    if (!take("replicated") && !readDims(result))
      return "after the mesh must come the axes of each dimension, as [{'a'}, {'b':(1)2, ?}]";
    AxisRefs manual, unreduced, replicated;
    while (take(","))
      if (!(take("manual=")       ? readAxes(manual, nullptr)
            : take("unreduced=")  ? readAxes(unreduced, nullptr)
            : take("replicated=") ? readAxes(replicated, nullptr)
                                  : text.empty()))
        return "after the dimensions can come manual={..}, unreduced={..} and replicated={..}";
    if (!text.empty())
      return ("'" + text + "' has no meaning here").str();
    return assign(manual, unreduced, replicated, result);
  }

private:
  bool take(StringRef what) {
    text = text.ltrim();
    bool taken = text.consume_front(what);
    text = text.ltrim();
    return taken;
  }

  bool readNumbers(StringRef end, SmallVectorImpl<int64_t> &numbers) {
    do {
      text = text.ltrim();
      if (text.consumeInteger(10, numbers.emplace_back()))
        return false;
    } while (take(","));
    return take(end);
  }

  bool readName(StringRef &name) {
    if (!take("'"))
      return false;
    std::tie(name, text) = text.split('\'');
    return !name.empty();
  }

  bool readMesh() {
    if (!take("["))
      return false;
    int64_t devices = 1;
    while (!take("]")) {
      StringRef name;
      int64_t size;
      if (!readName(name) || !take("=") || text.consumeInteger(10, size) || size < 1 ||
          size > (1 << 20) / devices || mesh.axisIndex(name) >= 0)
        return false;
      mesh.axes.push_back({name.str(), size});
      devices *= size;
      take(",");
    }
    return true;
  }

  // `, device_ids=(3,2,1,0)` or `, device_ids=([2,2]T(1,0))`, if it is there.
  bool readOrder() {
    StringRef before = text;
    if (!take(",") || !take("device_ids=(")) {
      text = before;
      return true;
    }
    SmallVector<int64_t> ids;
    if (take("[")) {
      SmallVector<int64_t> shape, permutation;
      if (!readNumbers("]", shape) || !take("T(") || !readNumbers(")", permutation) || !take(")"))
        return false;
      std::optional<std::vector<int64_t>> order = transposedIota(shape, permutation);
      if (!order)
        return false;
      mesh.deviceIds = *order;
    } else {
      if (!readNumbers(")", ids))
        return false;
      mesh.deviceIds.assign(ids.begin(), ids.end());
    }
    std::vector<bool> seen(mesh.numDevices());
    for (int64_t id : mesh.deviceIds) {
      if (id < 0 || id >= mesh.numDevices() || seen[id])
        return false;
      seen[id] = true;
    }
    return int64_t(mesh.deviceIds.size()) == mesh.numDevices();
  }

  // `{'a', 'b':(1)2, ?}`
  bool readAxes(AxisRefs &axes, bool *open) {
    if (!take("{"))
      return false;
    while (!take("}")) {
      StringRef name;
      if (open && take("?")) {
        *open = true;
        continue;
      }
      if (!readName(name) || mesh.axisIndex(name) < 0)
        return false;
      AxisRef axis = sharding::wholeAxis(mesh, mesh.axisIndex(name));
      int64_t whole = axis.size;
      if (take(":(") && (text.consumeInteger(10, axis.preSize) || !take(")") ||
                         text.consumeInteger(10, axis.size) || axis.preSize < 1 || axis.size < 1 ||
                         whole % axis.preSize || whole / axis.preSize % axis.size))
        return false;
      axes.push_back(axis);
      take(",");
    }
    return true;
  }

  bool readDims(TileAssignment &result) {
    if (!take("["))
      return false;
    while (!take("]")) {
      bool open = false;
      if (!readAxes(dims.emplace_back(), &open))
        return false;
      result.open.push_back(open);
      take(",");
    }
    return true;
  }

  std::string assign(const AxisRefs &manual, const AxisRefs &unreduced, const AxisRefs &replicated,
                     TileAssignment &result) {
    AxisRefs all;
    for (const AxisRefs *axes : {&manual, &unreduced, &replicated})
      all.append(*axes);
    for (const AxisRefs &axes : dims)
      all.append(axes);
    for (auto [i, axis] : llvm::enumerate(all))
      if (sharding::overlap(AxisRefs{axis}, llvm::ArrayRef(all).take_front(i)))
        return "axis '" + mesh.axes[axis.axis].name + "' is used twice";
    SmallVector<AxisRef> cuts(all);
    for (size_t axis = 0; axis < mesh.axes.size(); ++axis)
      cuts.push_back(sharding::wholeAxis(mesh, axis));
    sharding::AxisAtoms atoms(mesh, cuts, /*primes=*/false);
    AxisRefs order, rest;
    auto append = [&](const AxisRefs &axes, std::optional<TileKind> kind) {
      order.append(axes);
      result.tiles.push_back(sharding::shardCount(axes));
      if (kind)
        result.last.push_back(*kind);
    };
    for (const AxisRefs &axes : dims)
      append(axes, std::nullopt);
    append(manual, TileKind::Manual);
    append(unreduced, TileKind::Unreduced);
    AxisRefs taken = order;
    for (size_t atom = 0; atom < atoms.count(); ++atom)
      if (AxisRefs part = atoms.refs({uint8_t(atom)}); !sharding::overlap(part, taken))
        rest.append(part);
    append(rest, TileKind::Replicated);
    result.devices.resize(mesh.numDevices());
    for (int64_t device = 0; device < mesh.numDevices(); ++device)
      result.devices[sharding::indexAlong(mesh, device, order)] = device;
    return "";
  }

  StringRef text;
  sharding::Mesh mesh;
  SmallVector<AxisRefs> dims;
};

} // namespace

std::string readNamedTiles(StringRef text, TileAssignment &result) {
  return Reader(text).read(result);
}

} // namespace tessera::import
