#include "lib/plan/Meshes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>

namespace tessera::plan {

using sharding::Mesh;

namespace {

using Sizes = llvm::SmallVector<int64_t, kMostAxes>;

// Products of `axes` sizes above 1, in all orders.
void factorize(int64_t devices, size_t axes, Sizes &sizes, std::vector<Sizes> &all) {
  if (axes == 1) {
    if (devices == 1 && !sizes.empty())
      return;
    all.push_back(sizes);
    all.back().push_back(devices);
    return;
  }
  for (int64_t size = 2; size <= devices / 2; ++size)
    if (devices % size == 0) {
      sizes.push_back(size);
      factorize(devices / size, axes - 1, sizes, all);
      sizes.pop_back();
    }
}

// Devices of the units that a level makes of `devices`, the smallest first.
std::vector<int64_t> unitsOf(const links::Network &network, int64_t devices) {
  std::vector<int64_t> units;
  for (const links::Level &level : network.levels)
    if (level.devices > 1 && level.devices < devices && devices % level.devices == 0)
      units.push_back(level.devices);
  return units;
}

// How many devices the axes from each on span together.
Sizes spansOf(const Sizes &sizes) {
  Sizes spans(sizes.size());
  int64_t span = 1;
  for (size_t i = sizes.size(); i-- > 0;)
    spans[i] = span *= sizes[i];
  return spans;
}

int64_t unitsThatEnd(const Sizes &sizes, llvm::ArrayRef<int64_t> units) {
  Sizes spans = spansOf(sizes);
  return llvm::count_if(units, [&](int64_t unit) { return llvm::is_contained(spans, unit); });
}

// Whether two neighbours over the same links stand with the larger first: the same mesh in another
// order.
bool isMirrored(const Sizes &sizes, llvm::ArrayRef<int64_t> units) {
  Sizes spans = spansOf(sizes);
  for (size_t i = 0; i + 1 < sizes.size(); ++i)
    if (sizes[i] > sizes[i + 1] && !llvm::is_contained(units, spans[i + 1]))
      return true;
  return false;
}

Mesh named(const Sizes &sizes, llvm::ArrayRef<std::string> names) {
  Mesh mesh{"mesh", {}, {}};
  for (auto [size, name] : llvm::zip(sizes, names))
    mesh.axes.push_back({name, size});
  return mesh;
}

// Choices of `count` of the names, in their order.
void choose(llvm::ArrayRef<std::string> names, size_t count, std::vector<std::string> &chosen,
            std::vector<std::vector<std::string>> &all) {
  if (chosen.size() == count) {
    all.push_back(chosen);
    return;
  }
  for (size_t i = 0; i < names.size(); ++i) {
    chosen.push_back(names[i]);
    choose(names.drop_front(i + 1), count, chosen, all);
    chosen.pop_back();
  }
}

} // namespace

std::vector<Mesh> meshesOf(int64_t devices, const links::Network &network) {
  std::vector<std::string> names{"x", "y", "z"};
  if (!network.axes.empty()) {
    names.clear();
    for (const auto &[name, link] : network.axes)
      names.push_back(name);
  }
  bool allAlike = network.axes.empty();
  std::vector<int64_t> units = unitsOf(network, devices);
  std::vector<Mesh> meshes;
  for (size_t axes = 1; axes <= std::min(kMostAxes, names.size()); ++axes) {
    std::vector<Sizes> all;
    Sizes begun;
    factorize(devices, axes, begun, all);
    int64_t most = 0;
    for (const Sizes &sizes : all)
      most = std::max(most, unitsThatEnd(sizes, units));
    std::vector<std::vector<std::string>> namings;
    std::vector<std::string> chosen;
    choose(names, axes, chosen, namings);
    if (allAlike)
      namings.resize(1);
    for (const Sizes &sizes : all)
      if (!allAlike || (unitsThatEnd(sizes, units) == most && !isMirrored(sizes, units)))
        for (const std::vector<std::string> &naming : namings)
          meshes.push_back(named(sizes, naming));
  }
  return meshes;
}

std::optional<Mesh> readMesh(llvm::StringRef text, std::string &wrong) {
  Mesh mesh{"mesh", {}, {}};
  llvm::SmallVector<llvm::StringRef> parts;
  text.split(parts, ',');
  int64_t devices = 1;
  for (llvm::StringRef part : parts) {
    auto [name, number] = part.trim().split('=');
    int64_t size = 0;
    bool isName = !name.empty() &&
                  llvm::all_of(name, [](char c) { return llvm::isAlnum(c) || c == '_'; }) &&
                  !llvm::isDigit(name.front());
    if (!isName || number.getAsInteger(10, size) || size < 1) {
      wrong = ("'" + part + "' is no axis and its size; write axes as data=2,model=4").str();
      return std::nullopt;
    }
    if (mesh.axisIndex(name) >= 0) {
      wrong = ("the axis '" + name + "' is there twice").str();
      return std::nullopt;
    }
    if (size > kMostDevices / devices) {
      wrong = "more than " + std::to_string(kMostDevices) + " devices";
      return std::nullopt;
    }
    devices *= size;
    mesh.axes.push_back({name.str(), size});
  }
  return mesh;
}

std::string meshText(const Mesh &mesh) {
  std::string text;
  for (const sharding::MeshAxis &axis : mesh.axes)
    text += (text.empty() ? "" : ",") + axis.name + "=" + std::to_string(axis.size);
  return text;
}

} // namespace tessera::plan
